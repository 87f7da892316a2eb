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
    public static let all = rfcRules + appleRules

    static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })

    /// Returns the rules of one section: requirements (MUST) and recommendations (SHOULD), by identifier.
    static func section(
        _ section: String,
        of ruleSet: RuleSet,
        must: KeyValuePairs<String, String> = [:],
        should: KeyValuePairs<String, String> = [:]
    ) -> [ValidationRule] {
        func rules(_ pairs: KeyValuePairs<String, String>, _ severity: Diagnostic.Severity) -> [ValidationRule] {
            pairs.map { id, statement in
                ValidationRule(id: id, ruleSet: ruleSet, severity: severity, section: section, statement: statement)
            }
        }
        return rules(must, .error) + rules(should, .warning)
    }
}
