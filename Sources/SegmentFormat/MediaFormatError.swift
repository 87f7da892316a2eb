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
        case .truncated(let name): "\(name) is truncated"
        case .malformed(let name): "\(name) is invalid"
        case .tooLarge(let name): "\(name) exceeds the supported number of entries"
        case .missing(let name): "\(name) is missing"
        }
    }
}
