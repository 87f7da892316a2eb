/// An error that occurs when bytes cannot be parsed as the expected format.
///
/// The associated value of each case is the name of the structure concerned.
public enum MediaFormatError: Error, Sendable, Hashable {
    /// The data ends before the end of the named structure.
    case truncated(String)
    /// The named structure, or one of its fields, has an invalid value.
    case malformed(String)
    /// The named structure has more entries than the parser accepts.
    case tooLarge(String)
    /// The named structure is required but missing.
    case missing(String)
}

extension MediaFormatError: CustomStringConvertible {
    /// A human-readable description of the error.
    public var description: String {
        switch self {
        case .truncated(let name): "\(name) ends too early"
        case .malformed(let name): "\(name) cannot be read"
        case .tooLarge(let name): "\(name) has more entries than is read of any input"
        case .missing(let name): "there is no \(name)"
        }
    }
}
