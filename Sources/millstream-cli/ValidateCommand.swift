import ArgumentParser
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
        abstract: "Validate a playlist against RFC 8216bis or Apple's HLS Authoring Specification.",
        discussion: """
            Each diagnostic names its rule and section. The exit status is 2 if a requirement (MUST) is violated, otherwise 0.

            Example: millstream validate https://example.com/multivariant.m3u8 --follow --rules rfc,apple
            """
    )

    @Argument(help: "The URL or file of a playlist, or - for standard input.")
    var source: String

    @Option(
        name: .long,
        help: "The rule sets, comma-separated: rfc (RFC 8216bis), apple (Apple's HLS Authoring Specification)."
    )
    var rules: String = "rfc"

    @Option(name: .long, help: "The output format.")
    var format: Format = .text

    @Flag(name: .long, help: "Load the media playlists too, and validate all playlists together.")
    var follow = false

    @Option(name: .long, help: "The base URL of relative URLs in the playlist.")
    var baseURL: String?

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    func validate() throws { _ = try ruleSets() }

    mutating func run() async throws {
        let sets = try ruleSets()
        let report = try await http.withLoading(source: source, base: baseURL) { loading in
            let playlist = try await PlaylistSource(text: source, baseURL: baseURL).load(loading)
            guard follow, case .multivariant(let multivariant) = playlist else {
                return ValidationReport(sets, [ValidatedPlaylist(source, playlist, playlist.validated(against: sets))])
            }
            return try await validated(multivariant, sets, loading)
        }
        switch format {
        case .text: try StandardOutput.writeLine(report.text)
        case .json: try StandardOutput.writeLine(report.json)
        case .sarif: try StandardOutput.writeLine(report.sarif)
        }
        guard report.errorCount == 0 else { throw ExitCode(Failure.Status.badInput.rawValue) }
    }

    private func validated(
        _ multivariant: MultivariantPlaylist,
        _ sets: Set<RuleSet>,
        _ loader: ResourceLoader
    ) async throws -> ValidationReport {
        var children: [ResourceAddress: Playlist] = [:]
        let addresses =
            multivariant.variants.map(\.address) + multivariant.iFrameVariants.map(\.address)
            + multivariant.renditions.compactMap(\.address)
        for address in addresses where children[address] == nil {
            children[address] = try await PlaylistSource(text: address.text, baseURL: nil)
                .load(loader, variables: multivariant.variables)
        }
        let results = PresentationValidation(multivariant, playlists: children).diagnostics(of: sets)
        return ValidationReport(
            sets,
            results.map { result in
                let child = result.address.flatMap { children[$0] }
                let name = child == nil ? source : result.address?.filePath ?? result.address?.text ?? source
                return ValidatedPlaylist(name, child ?? .multivariant(multivariant), result.diagnostics)
            }
        )
    }

    private func ruleSets() throws -> Set<RuleSet> {
        let names = rules.split(separator: ",").map { String($0) }
        let sets = names.compactMap { RuleSet(rawValue: $0) }
        guard !sets.isEmpty, sets.count == names.count else {
            throw ValidationError("--rules must be rfc, apple or rfc,apple, not \"\(rules)\"")
        }
        return Set(sets)
    }
}
