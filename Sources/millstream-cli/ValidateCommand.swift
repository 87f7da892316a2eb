import ArgumentParser
import DASHManifest
import HLSPlaylist
import MediaTransport
import ReportFormat
import ResourceAddressing

/// The command `millstream validate`.
struct ValidateCommand: AsyncParsableCommand {
    /// The output formats.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        /// Lines for people and editors.
        case text
        /// A JSON object.
        case json
        /// SARIF 2.1.0, for code scanning.
        case sarif
    }

    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Validate a playlist or a DASH manifest against its standard or Apple's HLS Authoring Specification.",
        discussion: """
            A playlist is validated against RFC 8216bis, a DASH manifest against ISO/IEC 23009-1. Each diagnostic names \
            its rule and section; equal diagnostics of several playlists are grouped. The exit status is 2 if a requirement \
            (MUST) is violated, otherwise 0.

            Example: millstream validate https://example.com/multivariant.m3u8 --follow --rules rfc,apple
            """
    )

    @Argument(help: "The URL or file of a playlist or DASH manifest, or - for standard input.")
    var source: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The sets of rules, comma-separated: rfc (RFC 8216bis), apple (Apple's HLS Authoring Specification), dash (ISO/IEC 23009-1) (default: rfc for a playlist, dash for a manifest).",
            valueName: "rules"
        ),
        completion: .list(ValidationRules.allCases.map(\.rawValue))
    )
    var rules: String?

    @Option(name: .long, help: "The output format.")
    var format: Format = .text

    @Flag(name: .long, help: "Print JSON, like --format json.")
    var json = false

    @Option(
        name: .long,
        help: ArgumentHelp("Ignore the diagnostics of a rule; may be repeated.", valueName: "RULE"),
        completion: .list(ReportedRule.all.map(\.id))
    )
    var ignore: [String] = []

    @Option(name: .long, help: "The lowest severity of the diagnostics to report.")
    var severity = DiagnosticSeverity.note

    @Flag(name: .long, help: "Load the media playlists too, and validate all playlists together.")
    var follow = false

    @Option(name: .long, help: "The base URL of relative URLs in the playlist.")
    var baseURL: String?

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    func validate() throws {
        _ = try ruleSets()
        if json, format == .sarif { throw ValidationError("--json and --format sarif cannot be combined") }
        let known = Set(ReportedRule.all.map(\.id))
        for rule in ignore where !known.contains(rule) {
            throw ValidationError(
                "--ignore must be the identifier of a rule, in brackets in a diagnostic, not \"\(rule)\""
            )
        }
    }

    mutating func run() async throws {
        var followed: FollowedPlaylists?
        let full = try await http.withLoading(source: source, base: baseURL) { loading in
            let (bytes, address) = try await PlaylistSource(text: source, baseURL: baseURL).bytes(loading)
            if let presentation = try PresentationSource.presentation(bytes, address: address, name: source) {
                let sets = try selected([.dash], default: .dash, for: "a DASH manifest")
                return ValidationReport(sets, [ValidatedDocument(source, presentation)])
            }
            let playlist = try PlaylistSource.playlist(bytes, address: address, name: source)
            let sets = try selected([.rfc, .apple], default: .rfc, for: "a playlist")
            if let error = playlist.undeclaredImport {
                StandardError.write(
                    "note: \(PlaylistSource.name(source)): \(error); validate the multivariant playlist with --follow\n"
                )
            }
            guard follow, case .multivariant(let multivariant) = playlist else {
                let diagnostics = playlist.validated(against: Set(sets.compactMap(\.playlistRules)))
                return ValidationReport(sets, [ValidatedDocument(source, playlist, diagnostics)])
            }
            let children = try await FollowedPlaylists(of: multivariant, loading)
            followed = children
            return validated(multivariant, sets, children)
        }
        let report = full.filtered(ignoring: Set(ignore), severity: severity)
        switch json ? .json : format {
        case .text: try StandardOutput.writeLine(report.text)
        case .json: try StandardOutput.writeLine(report.json)
        case .sarif: try StandardOutput.writeLine(report.sarif)
        }
        try followed?.verifyIsComplete()
        guard report.errorCount == 0 else { throw ExitCode(Failure.Status.badInput.rawValue) }
    }

    /// Returns the chosen sets among those that apply to the source.
    ///
    /// - Throws: ``Failure`` if none of the chosen sets applies.
    private func selected(
        _ applicable: Set<ValidationRules>,
        default standard: ValidationRules,
        for kind: String
    ) throws -> Set<ValidationRules> {
        guard let chosen = try ruleSets() else { return [standard] }
        let sets = chosen.intersection(applicable)
        guard !sets.isEmpty else {
            let names = applicable.map(\.rawValue).sorted().joined(separator: " or ")
            throw Failure(
                .wrongUsage,
                "usage",
                "\(PlaylistSource.name(source)) is \(kind), to which none of the chosen rules apply",
                hint: "use --rules \(names)"
            )
        }
        return sets
    }

    private func validated(
        _ multivariant: MultivariantPlaylist,
        _ sets: Set<ValidationRules>,
        _ followed: FollowedPlaylists
    ) -> ValidationReport {
        var children: [ResourceAddress: Playlist] = [:]
        for entry in followed.entries {
            if case .success(let playlist) = entry.result { children[entry.address] = playlist }
        }
        let results = PresentationValidation(multivariant, playlists: children).diagnostics(
            of: Set(sets.compactMap(\.playlistRules))
        )
        let validated = results.map { result in
            let child = result.address.flatMap { children[$0] }
            let name = child == nil ? source : result.address?.filePath ?? result.address?.text ?? source
            return ValidatedDocument(name, child ?? .multivariant(multivariant), result.diagnostics)
        }
        let missing = followed.entries.compactMap { entry -> ValidatedDocument? in
            guard case .failure(let failure) = entry.result else { return nil }
            return ValidatedDocument(missing: entry.address.filePath ?? entry.address.text, failure)
        }
        return ValidationReport(sets, validated + missing)
    }

    /// Returns the chosen sets, or `nil` if none was chosen.
    private func ruleSets() throws -> Set<ValidationRules>? {
        guard let rules else { return nil }
        let names = rules.split(separator: ",").map { String($0) }
        let sets = names.compactMap { ValidationRules(rawValue: $0) }
        guard !sets.isEmpty, sets.count == names.count else {
            throw ValidationError("--rules must be any of rfc, apple and dash, comma-separated, not \"\(rules)\"")
        }
        return Set(sets)
    }
}
