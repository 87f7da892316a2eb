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
    /// The reason for which the document could not be validated; `nil` if it was.
    private(set) var failure: Failure?

    init(_ name: String, _ playlist: Playlist, _ diagnostics: [Diagnostic]) {
        self.init(name, kind: playlist.kind.rawValue, diagnostics.map { ReportedDiagnostic($0) })
    }

    init(_ name: String, _ presentation: MediaPresentation) {
        self.init(name, kind: "dash", presentation.validated().map { ReportedDiagnostic($0) })
    }

    /// Creates the record of a media playlist that could not be loaded.
    init(missing name: String, _ failure: Failure) {
        self.init(name, kind: Playlist.Kind.media.rawValue, [])
        self.failure = failure
    }

    private init(_ name: String, kind: String, _ diagnostics: [ReportedDiagnostic]) {
        self.name = PlaylistSource.reportedName(name)
        self.kind = kind
        self.diagnostics = diagnostics
    }

    /// Returns the document with the diagnostics that satisfy a condition.
    func filtered(_ isIncluded: (ReportedDiagnostic) -> Bool) -> ValidatedDocument {
        var result = ValidatedDocument(name, kind: kind, diagnostics.filter(isIncluded))
        result.failure = failure
        return result
    }

    /// The document as an object of a report.
    var report: ReportValue {
        .fields([
            "source": .string(name),
            "kind": .string(kind),
            "diagnostics": .array(diagnostics.map(\.report)),
            "error": failure?.report,
        ])
    }
}

/// Equal diagnostics of several places.
private struct DiagnosticGroup {
    let diagnostic: ReportedDiagnostic
    var places: [String]

    /// The maximum number of places after the first that are named.
    private static let maximumPlaceCount = 3

    /// Groups the diagnostics of documents by everything except their places, in the order of the first ones.
    static func groups(of documents: [ValidatedDocument]) -> [DiagnosticGroup] {
        var groups: [DiagnosticGroup] = []
        var positions: [ReportedDiagnostic: Int] = [:]
        for document in documents {
            let name = PlaylistSource.name(document.name)
            for diagnostic in document.diagnostics {
                let place = diagnostic.line.map { "\(name):\($0)" } ?? name
                if let position = positions[diagnostic.withoutLine] {
                    groups[position].places.append(place)
                } else {
                    positions[diagnostic.withoutLine] = groups.count
                    groups.append(DiagnosticGroup(diagnostic: diagnostic, places: [place]))
                }
            }
        }
        return groups
    }

    /// The lines `PLACE: error: MESSAGE [CODE, SECTION]`, as compilers write them, and `also at …` for further places.
    var lines: [TerminalText] {
        let section = diagnostic.section.first?.isNumber == true ? "section \(diagnostic.section)" : diagnostic.section
        let first: TerminalText =
            "\(places[0]): \(diagnostic.severity): \(diagnostic.message) [\(diagnostic.code), \(section)]"
        guard places.count > 1 else { return [first] }
        let named = places.dropFirst().prefix(Self.maximumPlaceCount).joined(separator: ", ")
        let rest = places.count - 1 - Self.maximumPlaceCount
        return [first, "    also at \(named)\(rest > 0 ? " and \(QuantityText.count(rest, "other place"))" : "")"]
    }
}

/// The results of a validation, as text, JSON or SARIF.
struct ValidationReport {
    let sets: [ValidationRules]
    let playlists: [ValidatedDocument]
    /// The number of diagnostics that are not part of the report because of options.
    private var hiddenCount = 0
    /// The number of warnings among them that are not part of the report because of their severity.
    private var hiddenWarningCount = 0

    init(_ sets: Set<ValidationRules>, _ playlists: [ValidatedDocument]) {
        self.sets = sets.sorted { $0.rawValue < $1.rawValue }
        self.playlists = playlists
    }

    private var all: [ReportedDiagnostic] { playlists.flatMap(\.diagnostics) }
    var errorCount: Int { all.count { $0.severity == Diagnostic.Severity.error.rawValue } }
    private var warningCount: Int { all.count(where: Self.isWarning) + hiddenWarningCount }
    private var rules: [ReportedRule] { ValidationRules.allCases.filter(sets.contains).flatMap(\.rules) }

    /// Returns the report without the diagnostics of some rules, and of lower severity.
    func filtered(ignoring rules: Set<String>, severity: DiagnosticSeverity) -> ValidationReport {
        let severities = severity.orHigher
        var result = ValidationReport(
            Set(sets),
            playlists.map { $0.filtered { !rules.contains($0.code) && severities.contains($0.severity) } }
        )
        result.hiddenCount = hiddenCount + max(0, all.count - result.all.count)
        let warnings = all.count { Self.isWarning($0) && !rules.contains($0.code) }
        result.hiddenWarningCount = hiddenWarningCount + max(0, warnings - result.all.count(where: Self.isWarning))
        return result
    }

    private static func isWarning(_ diagnostic: ReportedDiagnostic) -> Bool {
        diagnostic.severity == Diagnostic.Severity.warning.rawValue
    }

    /// The report as lines for people and editors, with equal diagnostics grouped, and a summary.
    var text: TerminalText {
        var lines = DiagnosticGroup.groups(of: playlists).flatMap(\.lines)
        let missing = playlists.filter { $0.failure != nil }
        lines += missing.compactMap { playlist in
            playlist.failure.map { "\(PlaylistSource.name(playlist.name)): not validated: \($0.message) [\($0.code)]" }
        }
        let names = sets.map(\.rawValue).joined(separator: " and ")
        let isManifest = playlists.first?.kind == "dash"
        let subject = isManifest ? "1 manifest" : QuantityText.count(playlists.count - missing.count, "playlist")
        let count = "\(QuantityText.count(errorCount, "error")), \(QuantityText.count(warningCount, "warning"))"
        let hidden = hiddenCount > 0 ? ", \(QuantityText.count(hiddenCount, "diagnostic")) not shown" : ""
        lines.append("\(subject) validated against \(rules.count) rules of \(names): \(count)\(hidden)")
        if playlists.count == 1, playlists[0].kind == Playlist.Kind.multivariant.rawValue {
            lines.append("use --follow to validate its media playlists too")
        }
        return lines.joined(separator: "\n")
    }

    /// The report as `{"rules", "errors", "warnings", "playlists": [{"source", "kind", "diagnostics", "error"}]}`.
    var json: ReportValue {
        .fields([
            "rules": .strings(sets.map(\.rawValue)),
            "errors": .integer(errorCount),
            "warnings": .integer(warningCount),
            "hidden": hiddenCount > 0 ? .integer(hiddenCount) : nil,
            "playlists": .array(playlists.map(\.report)),
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

    private static func sarifResult(
        _ diagnostic: ReportedDiagnostic,
        in name: String,
        _ position: Int?
    ) -> ReportValue {
        let location = ReportValue.fields([
            "artifactLocation": .fields(["uri": .string(sarifAddress(name))]),
            "region": diagnostic.line.map { .fields(["startLine": .integer($0)]) },
        ])
        return .fields([
            "ruleId": .string(diagnostic.code),
            "ruleIndex": position.map { .integer($0) },
            "level": .string(diagnostic.severity),
            "message": .fields(["text": .string(diagnostic.message)]),
            "locations": .array([.fields(["physicalLocation": location])]),
        ])
    }

    /// Returns the URI of a playlist: addresses are unchanged, a path becomes a percent-encoded relative reference.
    private static func sarifAddress(_ name: String) -> String {
        name == "-"
            ? "stdin" : name.contains("://") ? name : PercentEncoding.encode(name, allowing: PercentEncoding.pathBytes)
    }
}
