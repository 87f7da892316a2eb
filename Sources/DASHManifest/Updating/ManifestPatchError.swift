import ResourceAddressing

/// An error that occurs when a patch cannot be applied; the complete manifest has to be loaded instead.
package enum ManifestPatchError: MillstreamError, Sendable, Hashable {
    /// The patch or the manifest cannot be read.
    case unreadable(ManifestParsingError)
    /// The root element of the patch is not `Patch`.
    case notAPatch(root: String)
    /// The patch is for another manifest or version of it.
    case differentVersion(message: String)
    /// An operation is not one of RFC 5261, or its selector is not supported.
    case unsupported(message: String)
    /// A selector does not select exactly one node.
    case notSelected(selector: String, count: Int)
    /// The operations would take too long.
    case tooLarge(message: String)

    /// The kind of the error; the complete manifest is loaded after each of them, so none reaches an application.
    package enum Code: String, ErrorCode {
        /// The patch or the manifest cannot be read.
        case unreadable
        /// The root element of the patch is not `Patch`.
        case notAPatch = "not-a-patch"
        /// The patch is for another manifest or version of it.
        case differentVersion = "different-version"
        /// An operation is not supported.
        case unsupported
        /// A selector does not select exactly one node.
        case notSelected = "not-selected"
        /// The operations would take too long.
        case tooLarge = "too-large"
    }

    /// The kind of the error.
    package var code: Code {
        switch self {
        case .unreadable: .unreadable
        case .notAPatch: .notAPatch
        case .differentVersion: .differentVersion
        case .unsupported: .unsupported
        case .notSelected: .notSelected
        case .tooLarge: .tooLarge
        }
    }

    /// The error of the reader, if the patch or the manifest cannot be read.
    package var cause: (any Error)? {
        if case .unreadable(let error) = self { error } else { nil }
    }

    /// The description of the error, for people.
    package var message: String {
        switch self {
        case .unreadable(let error): "the patch cannot be applied: \(error)"
        case .notAPatch(let root): "the root element is \(root), not Patch, so this is not a patch of a manifest"
        case .differentVersion(let message): "the patch is for another version of the manifest: \(message)"
        case .unsupported(let message): "the patch cannot be applied: \(message)"
        case .notSelected(let selector, let count):
            "the patch cannot be applied: \(selector) selects \(count) nodes instead of one"
        case .tooLarge(let message): "the patch is too large: \(message)"
        }
    }
}
