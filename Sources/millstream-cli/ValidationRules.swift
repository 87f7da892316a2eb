import ArgumentParser
import DASHManifest
import HLSPlaylist
import ReportFormat

/// A set of rules that `millstream validate` checks.
enum ValidationRules: String, CaseIterable {
    /// RFC 8216bis.
    case rfc
    /// Apple's HLS Authoring Specification.
    case apple
    /// ISO/IEC 23009-1, for DASH manifests.
    case dash

    /// The set of rules for playlists, or `nil` for the rules for manifests.
    var playlistRules: RuleSet? { RuleSet(rawValue: rawValue) }

    /// The rules of the set.
    var rules: [ReportedRule] {
        guard let set = playlistRules else {
            return ManifestRule.all.map { ReportedRule($0) }
        }
        return ValidationRule.all.filter { $0.ruleSet == set }.map { ReportedRule($0) }
    }
}

/// A severity of diagnostics, in increasing order.
enum DiagnosticSeverity: String, ExpressibleByArgument, CaseIterable {
    /// A remark.
    case note
    /// A violation of a recommendation.
    case warning
    /// A violation of a requirement.
    case error

    /// The severities of at least this one.
    var orHigher: Set<String> { Set(Self.allCases.drop { $0 != self }.map(\.rawValue)) }
}

/// A rule of any set, for reports.
struct ReportedRule {
    /// The rules of all sets.
    static let all = ValidationRules.allCases.flatMap(\.rules)

    let id: String
    let ruleSet: ValidationRules
    let severity: String
    let section: String
    let statement: String

    init(_ rule: ManifestRule) {
        let definition = rule.definition
        id = rule.rawValue
        ruleSet = .dash
        severity = definition.severity.rawValue
        section = definition.section
        statement = definition.statement
    }

    init(_ rule: ValidationRule) {
        id = rule.id
        ruleSet = ValidationRules(rawValue: rule.ruleSet.rawValue) ?? .rfc
        severity = rule.severity.rawValue
        section = rule.section
        statement = rule.statement
    }
}

/// A violation of a rule of any set, for reports.
struct ReportedDiagnostic: Hashable {
    private(set) var line: Int?
    let severity: String
    let code: String
    let message: String
    let section: String

    init(_ diagnostic: Diagnostic) {
        line = diagnostic.line
        severity = diagnostic.severity.rawValue
        code = diagnostic.code
        message = diagnostic.message
        section = diagnostic.section
    }

    init(_ diagnostic: ManifestDiagnostic) {
        line = diagnostic.line
        severity = diagnostic.severity.rawValue
        code = diagnostic.code.rawValue
        message = diagnostic.message
        section = diagnostic.section
    }

    /// The same diagnostic without a line.
    var withoutLine: ReportedDiagnostic {
        var result = self
        result.line = nil
        return result
    }

    /// The diagnostic as a JSON object.
    var report: ReportValue {
        .fields([
            "line": line.map { .integer($0) },
            "severity": .string(severity),
            "code": .string(code),
            "message": .string(message),
            "section": .string(section),
        ])
    }
}
