import ResourceAddressing

/// An error that occurs when an XML document cannot be parsed.
package struct XMLReadingError: MillstreamError, Hashable {
    /// The category of an XML error.
    package enum Code: String, ErrorCode {
        /// The document is not well-formed.
        case malformed
        /// The document exceeds one of ``XMLDocumentParser/Limits``.
        case tooLarge
        /// The document declares entities or attributes, which are rejected because their expansion is not bounded.
        case hasDeclarations
        /// The task that waits for the document was canceled.
        case canceled

        /// The code of the corresponding error of AVFoundation.
        package var number: Int? {
            switch self {
            case .malformed, .tooLarge, .hasDeclarations: -11_829
            case .canceled: -11_878
            }
        }
    }

    /// The category of the error.
    package let code: Code
    /// A human-readable message.
    package let message: String
    /// The line at which the error was detected, counted from 1; 0 if the error concerns the whole document.
    package let line: Int

    /// Creates an error with the given code, message and line.
    package init(_ code: Code, _ message: String, line: Int) {
        self.code = code
        self.message = message
        self.line = line
    }
}

extension XMLReadingError {
    /// Returns the error of a document that is not read to its end because the task was canceled.
    static func canceled(line: Int) -> XMLReadingError {
        XMLReadingError(.canceled, "the document was not read to its end, because the task was canceled", line: line)
    }

    /// The message, preceded by the line number if it is known.
    package var description: String { line > 0 ? "line \(line): \(message)" : message }
}
