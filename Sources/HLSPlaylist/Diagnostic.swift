/// A problem in a playlist, with its line and the rule that it breaks.
public struct Diagnostic: Sendable, Hashable {
    /// The severity of a problem.
    public enum Severity: String, Sendable, Hashable {
        /// The playlist breaks a MUST; some players reject it.
        case error
        /// The playlist breaks a SHOULD, or players have to guess.
        case warning
        /// The playlist is valid, but the finding is useful to its author.
        case note
    }

    /// The number of the line, from 1, or `nil` if the problem concerns the whole playlist.
    public let line: Int?
    /// The severity of the problem.
    public let severity: Severity
    /// A stable identifier of the rule, for logs and filters.
    public let code: String
    /// A description of the problem, for display.
    public let message: String
    /// The section of RFC 8216bis, or the number in Apple's HLS Authoring Specification, that contains the rule.
    public let section: String
}
