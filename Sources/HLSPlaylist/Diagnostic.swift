/// What is wrong or remarkable in a playlist, and where.
public struct Diagnostic: Sendable, Hashable {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable {
        /// It breaks a MUST; some players refuse it.
        case error
        /// It breaks a SHOULD, or a player has to guess.
        case warning
        /// Worth knowing.
        case note
    }

    /// The line it is about, from 1; `nil` where it is about the whole playlist.
    public let line: Int?
    /// How bad it is.
    public let severity: Severity
    /// A stable short spelling.
    public let code: String
    /// What is wrong, for people.
    public let message: String
    /// The section of RFC 8216bis that says so, or the number in Apple's authoring specification.
    public let section: String
}
