/// Why bytes could not be read as the format they were taken for.
public enum MediaFormatError: Error, Sendable, Hashable {
    /// The bytes end inside of the structure named.
    case truncated(String)
    /// The structure named, or a field of it, has a value it cannot have.
    case malformed(String)
    /// The structure named has more entries than is read of any input.
    case tooLarge(String)
    /// What was looked for is not there.
    case missing(String)
}

extension MediaFormatError: CustomStringConvertible {
    /// What happened, for people.
    public var description: String {
        switch self {
        case .truncated(let name): "\(name) ends too early"
        case .malformed(let name): "\(name) cannot be read"
        case .tooLarge(let name): "\(name) has more entries than is read of any input"
        case .missing(let name): "there is no \(name)"
        }
    }
}
