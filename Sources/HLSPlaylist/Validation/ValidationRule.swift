/// A set of rules for validating playlists.
public enum RuleSet: String, Sendable, Hashable, CaseIterable {
    /// The requirements and recommendations of RFC 8216bis that can be checked in the text of playlists alone.
    case rfc
    /// The requirements and recommendations of Apple's HLS Authoring Specification that can be checked in the text
    /// alone.
    case apple
}

/// A rule for playlists, with its source.
public struct ValidationRule: Sendable, Hashable, Identifiable {
    /// A stable identifier, which is the ``Diagnostic/code`` of violations.
    public let id: String
    /// The set to which the rule belongs.
    public let ruleSet: RuleSet
    /// The severity of violations: an error for a MUST, a warning for a SHOULD.
    public let severity: Diagnostic.Severity
    /// The section of RFC 8216bis, or the number in Apple's HLS Authoring Specification.
    public let section: String
    /// The requirement or recommendation as a sentence, for display.
    public let statement: String

    /// The rules of all sets.
    public static let all = Rule.allCases.map(\.definition)
}
