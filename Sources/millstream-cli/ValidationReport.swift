import ArgumentParser
import DASHManifest
import HLSPlaylist
import ReportFormat
import ResourceAddressing

/// A playlist or manifest with the diagnostics of its validation.
struct ValidatedDocument {
    let name: String
    /// `multivariant`, `media` or `dash`.
    let kind: String
    let diagnostics: [ReportedDiagnostic]

    init(_ name: String, _ playlist: Playlist, _ diagnostics: [Diagnostic]) {
        self.name = name
        kind = playlist.kind.rawValue
        self.diagnostics = diagnostics.map { ReportedDiagnostic($0) }
    }

    init(_ name: String, _ presentation: MediaPresentation) {
        self.name = name
        kind = "dash"
        diagnostics = presentation.validated().map { ReportedDiagnostic($0) }
    }
}

/// The results of a validation, as text, JSON or SARIF.
struct ValidationReport {
    let sets: [ValidationRules]
    let playlists: [ValidatedDocument]

    init(_ sets: Set<ValidationRules>, _ playlists: [ValidatedDocument]) {
        self.sets = sets.sorted { $0.rawValue < $1.rawValue }
        self.playlists = playlists
    }

    private var all: [ReportedDiagnostic] { playlists.flatMap(\.diagnostics) }
    var errorCount: Int { all.count { $0.severity == Diagnostic.Severity.error.rawValue } }
    private var warningCount: Int { all.count { $0.severity == Diagnostic.Severity.warning.rawValue } }
    private var rules: [ReportedRule] { ValidationRules.allCases.filter(sets.contains).flatMap(\.rules) }

    /// The report as lines `NAME:LINE: error: MESSAGE [CODE, SECTION]`, as compilers write them, and a summary.
    var text: TerminalText {
        var lines: [TerminalText] = playlists.flatMap { playlist in
            playlist.diagnostics.map { finding in
                let name = PlaylistSource.name(playlist.name)
                let position = finding.line.map { "\(name):\($0)" } ?? name
                let section = finding.section.first?.isNumber == true ? "section \(finding.section)" : finding.section
                return "\(position): \(finding.severity): \(finding.message) [\(finding.code), \(section)]"
            }
        }
        let names = sets.map(\.rawValue).joined(separator: " and ")
        let isManifest = playlists.first?.kind == "dash"
        let subject = isManifest ? "1 manifest" : Self.counted(playlists.count, "playlist")
        let count = "\(Self.counted(errorCount, "error")), \(Self.counted(warningCount, "warning"))"
        lines.append("\(subject) validated against \(rules.count) rules of \(names): \(count)")
        if playlists.count == 1, playlists[0].kind == Playlist.Kind.multivariant.rawValue {
            lines.append("use --follow to validate its media playlists too")
        }
        return lines.joined(separator: "\n")
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    /// The report as `{"rules", "errors", "warnings", "playlists": [{"source", "kind", "diagnostics"}]}`.
    var json: ReportValue {
        .fields([
            "rules": .strings(sets.map(\.rawValue)),
            "errors": .integer(errorCount),
            "warnings": .integer(warningCount),
            "playlists": .array(
                playlists.map { playlist in
                    .fields([
                        "source": .string(playlist.name),
                        "kind": .string(playlist.kind),
                        "diagnostics": .array(playlist.diagnostics.map(\.report)),
                    ])
                }
            ),
        ])
    }

    /// The report as a log in the Static Analysis Results Interchange Format (SARIF 2.1.0, OASIS).
    var sarif: ReportValue {
        let positions = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($0.element.id, $0.offset) })
        let driver = ReportValue.fields([
            "name": .string("millstream"),
            "version": .string(MillstreamCommand.configuration.version),
            "rules": .array(rules.map(Self.sarifRule)),
        ])
        let results = playlists.flatMap { playlist in
            playlist.diagnostics.map { Self.sarifResult($0, in: playlist.name, positions[$0.code]) }
        }
        let run = ReportValue.fields([
            "tool": .fields(["driver": driver]), "columnKind": .string("utf16CodeUnits"), "results": .array(results),
        ])
        return .fields([
            "$schema": .string("https://json.schemastore.org/sarif-2.1.0.json"), "version": .string("2.1.0"),
            "runs": .array([run]),
        ])
    }

    private static func sarifRule(_ rule: ReportedRule) -> ReportValue {
        .fields([
            "id": .string(rule.id),
            "shortDescription": .fields(["text": .string(rule.statement)]),
            "defaultConfiguration": .fields(["level": .string(rule.severity)]),
            "properties": .fields(["ruleSet": .string(rule.ruleSet.rawValue), "section": .string(rule.section)]),
        ])
    }

    private static func sarifResult(_ finding: ReportedDiagnostic, in name: String, _ position: Int?) -> ReportValue {
        let location = ReportValue.fields([
            "artifactLocation": .fields(["uri": .string(sarifAddress(name))]),
            "region": finding.line.map { .fields(["startLine": .integer($0)]) },
        ])
        return .fields([
            "ruleId": .string(finding.code),
            "ruleIndex": position.map { .integer($0) },
            "level": .string(finding.severity),
            "message": .fields(["text": .string(finding.message)]),
            "locations": .array([.fields(["physicalLocation": location])]),
        ])
    }

    /// Returns the URI of a playlist: addresses are unchanged, a path becomes a percent-encoded relative reference.
    private static func sarifAddress(_ name: String) -> String {
        name == "-"
            ? "stdin" : name.contains("://") ? name : PercentEncoding.encode(name, allowing: PercentEncoding.pathBytes)
    }
}
