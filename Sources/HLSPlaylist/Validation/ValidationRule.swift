/// A set of rules that a playlist is held against.
public enum RuleSet: String, Sendable, Hashable, CaseIterable {
    /// What RFC 8216bis demands or recommends, as far as text alone can decide it.
    case rfc
    /// What Apple's authoring specification demands or recommends, as far as text alone can decide it.
    case apple
}

/// A rule, with the place where it is written.
public struct ValidationRule: Sendable, Hashable, Identifiable {
    /// A stable short spelling: the ``Diagnostic/code`` of what breaks it.
    public let id: String
    /// The set it belongs to.
    public let ruleSet: RuleSet
    /// An error where it is a MUST, a warning where it is a SHOULD.
    public let severity: Diagnostic.Severity
    /// The section of RFC 8216bis, or the number in Apple's authoring specification.
    public let section: String
    /// What it says.
    public let statement: String

    /// Every rule.
    public static let all = rfcRules + appleRules

    static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })

    /// The rules of one section: what MUST be and what SHOULD be, by their identifiers.
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
