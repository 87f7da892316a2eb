import ArgumentParser
import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import ReportFormat
import ResourceAddressing

/// The command `millstream translate`.
struct TranslateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "translate",
        abstract: "Translate a DASH presentation to HLS playlists.",
        discussion: """
            Writes multivariant.m3u8 and a media playlist for each representation. The playlists refer to \
            the original segments. Features of the presentation that HLS cannot describe are listed. A live presentation is \
            written in its current state; with --follow, its playlists are updated until it ends.

            Example: millstream translate https://example.com/manifest.mpd -o playlists
            """
    )

    @Argument(help: "The URL or file of a DASH manifest, or - for standard input.")
    var source: String

    @Option(name: .shortAndLong, help: "The folder for the playlists.")
    var output: String = "."

    @Option(name: .long, help: "The base URL of relative URLs in the manifest.")
    var baseURL: String?

    @Flag(name: .long, help: "Print the names of the playlists and the features that HLS cannot describe as JSON.")
    var json = false

    @Flag(name: .long, help: "Update the playlists of a live presentation until it ends.")
    var follow = false

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    /// The maximum number of consecutive updates that may fail before the command ends.
    private static let maximumFailureCount = 10

    mutating func validate() throws {
        if follow, source == "-" {
            throw ValidationError("--follow needs a manifest that can be loaded again, not standard input")
        }
    }

    mutating func run() async throws {
        try await http.withLoading(source: source, base: baseURL) { loader in
            let presentations = PresentationSource(loader: loader)
            var translator = PresentationTranslator()
            let first = try await load(source, loader)
            let difference = try await presentations.clockDifference(of: first)
            let result = try await translate(first, &translator, presentations, difference)
            try write(result)
            try report(result)
            guard follow, first.kind == .dynamic else { return }
            try await update(first, &translator, presentations, difference)
        }
    }

    private func load(_ text: String, _ loader: ResourceLoader) async throws -> MediaPresentation {
        let (bytes, address) = try await PlaylistSource(text: text, baseURL: baseURL).bytes(loader)
        return try PresentationSource.manifest(bytes, address: address, name: text)
    }

    private func translate(
        _ presentation: MediaPresentation,
        _ translator: inout PresentationTranslator,
        _ source: PresentationSource,
        _ difference: MediaTime
    ) async throws -> TranslatedPresentation {
        let now = PresentationSource.now + difference
        let indexes = try await source.indexes(translator.requiredIndexes(of: presentation, at: now))
        return try translator.translate(presentation, indexes: indexes, at: now)
    }

    /// Loads and writes new versions of a live presentation until it ends.
    private func update(
        _ first: MediaPresentation,
        _ translator: inout PresentationTranslator,
        _ presentations: PresentationSource,
        _ difference: MediaTime
    ) async throws {
        var current = first
        var failureCount = 0
        while true {
            let period = current.minimumUpdatePeriod ?? MediaTime(seconds: translator.state.targetDuration)
            let delay = min(max(period, MediaTime(seconds: 1)), MediaTime(seconds: 60))
            try await Task.sleep(for: delay.duration)
            do {
                current = try await load(address(of: current), presentations.loader)
                let result = try await translate(current, &translator, presentations, difference)
                try write(result)
                failureCount = 0
                if result.playlists.allSatisfy(\.playlist.hasEndMarker) { return }
            } catch let error as TransportError {
                failureCount += 1
                guard failureCount < Self.maximumFailureCount else { throw error }
                StandardError.write("note: the manifest cannot be loaded: \(error)\n")
            }
        }
    }

    /// Returns the address of the next version of a manifest: its first location, or the source.
    private func address(of presentation: MediaPresentation) -> String {
        guard let location = presentation.locations.first, !location.isEmpty, let base = presentation.address else {
            return source
        }
        let address = base.resolving(location)
        // A presentation from the network must not refer to local files.
        return address.isHTTP == base.isHTTP && address.isAbsolute ? address.text : source
    }

    private func write(_ result: TranslatedPresentation) throws {
        let folder = URL(fileURLWithPath: output)
        for entry in result.playlists {
            try OutputFile.write(entry.playlist.bytes, to: folder.appendingPathComponent(entry.fileName))
        }
        // The multivariant playlist is written last, when all playlists to which it refers exist.
        let name = TranslatedPresentation.multivariantFileName
        try OutputFile.write(result.multivariant.bytes, to: folder.appendingPathComponent(name))
    }

    private func report(_ result: TranslatedPresentation) throws {
        StandardError.write("\(result.playlists.count + 1) playlists written to \(output)\n")
        if json {
            try StandardOutput.writeLine(result.report)
        } else {
            for loss in result.losses {
                let position: TerminalText = loss.line.map { "line \($0): " } ?? ""
                StandardError.write("lost: \(position)\(loss.message) [\(loss.code.rawValue)]\n")
            }
        }
    }
}
