/// An error that occurs when a patch cannot be applied; the complete manifest has to be loaded instead.
package enum ManifestPatchError: Error, Sendable, Hashable {
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
}

extension ManifestPatchError: CustomStringConvertible {
    /// The error as a message for display.
    package var description: String {
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
