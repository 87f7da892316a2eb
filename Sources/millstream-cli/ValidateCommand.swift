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
        abstract: "Hold a playlist against the rules of the standard or of Apple.",
        discussion: """
            Each finding names its rule and the section that says so. The status is 0 where no MUST is broken, 2 where one is.

            Example: millstream validate https://example.com/multivariant.m3u8 --follow --rules rfc,apple
            """
    )

    @Argument(help: "An address, a file, or - for standard input.")
    var source: String

    @Option(
        name: .long,
        help: "Which rules, with commas between: rfc (RFC 8216bis), apple (the authoring specification)."
    )
    var rules: String = "rfc"

    @Option(name: .long, help: "How to print: text, json or sarif.")
    var format: Format = .text

    @Flag(name: .long, help: "Load the media playlists too, and hold all against the rules together.")
    var follow = false

    @Option(name: .long, help: "What relative addresses stand on.")
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
        _ loading: ResourceLoading
    ) async throws -> ValidationReport {
        var children: [ResourceAddress: Playlist] = [:]
        let addresses =
            multivariant.variants.map(\.address) + multivariant.iFrameVariants.map(\.address)
            + multivariant.renditions.compactMap(\.address)
        for address in addresses where children[address] == nil {
            children[address] = try await PlaylistSource(text: address.text, baseURL: nil)
                .load(loading, variables: multivariant.variables)
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
            throw ValidationError("--rules wants rfc, apple or both with a comma between, not \"\(rules)\"")
        }
        return Set(sets)
    }
}
