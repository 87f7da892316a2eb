import ResourceAddressing

/// An error that occurs when the numbers of live presentations cannot be read or stored.
package struct StateFileError: MillstreamError, Hashable {
    /// The kind of the error.
    package enum Code: String, ErrorCode {
        /// The file is damaged, or has another form.
        case damaged = "invalid-state"
        /// The file was written by a newer version of the program.
        case tooNew = "state-too-new"
        /// The file cannot be read.
        case unreadable = "state-unreadable"
        /// The file cannot be written.
        case failed = "state-failed"
    }

    /// The kind of the error.
    package let code: Code
    /// The description of the error and of what to do about it.
    package let message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
