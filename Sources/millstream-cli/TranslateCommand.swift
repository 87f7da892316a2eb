import ArgumentParser
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PresentationLoading
import ReportFormat
import ResourceAddressing
import SegmentFormat

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

    @Option(
        name: .shortAndLong,
        help: "The folder for the playlists (default: the current folder, unless it has a multivariant.m3u8)."
    )
    var output: String?

    @Option(name: .long, help: "The base URL of relative URLs in the manifest.")
    var baseURL: String?

    @OptionGroup var reportFormat: ReportFormatFlags

    @Flag(name: .long, help: "Update the playlists of a live presentation until it ends.")
    var follow = false

    @Option(
        name: .long,
        help: "The file that stores the sequence numbers of a live presentation, which continue in the next run."
    )
    var state: String?

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    /// The maximum number of consecutive updates that may fail before the command ends.
    private static let maximumFailureCount = 10

    private var json: Bool { reportFormat.isJSON }

    mutating func validate() throws {
        if follow, source == "-" {
            throw ValidationError("--follow needs a manifest that can be loaded again, not standard input")
        }
        // A playlist that the user did not name is not overwritten.
        if output == nil, FileManager.default.fileExists(atPath: TranslatedPresentation.multivariantFileName) {
            throw ValidationError(
                "the current folder has a \(TranslatedPresentation.multivariantFileName): choose a folder with --output"
            )
        }
    }

    mutating func run() async throws {
        do {
            try await translate()
        } catch {
            guard source != "-", let address = try? PlaylistSource.address(source) else { throw error }
            throw Failure.naming(error, source, at: address)
        }
    }

    private func translate() async throws {
        try await http.withLoading(source: source, base: baseURL) { loader in
            let (bytes, address) = try await PlaylistSource(text: source, baseURL: baseURL).bytes(loader)
            guard !bytes.starts(with: Array("#EXTM3U".utf8)) else {
                throw Failure(
                    .badInput,
                    "invalid-manifest",
                    "\(PlaylistSource.name(source)) is an HLS playlist, not a DASH manifest",
                    hint: "it needs no translation"
                )
            }
            if let content = UnexpectedContent(bytes), content != .dashManifest {
                throw Failure(
                    .badInput,
                    "invalid-manifest",
                    "\(PlaylistSource.name(source)): \(content.rawValue), not a DASH manifest"
                )
            }
            try verifyFormat(of: bytes)
            let stateFile = try state.map { try StateFile($0) }
            let location = source == "-" ? address ?? ResourceAddress(source) : try PlaylistSource.address(source)
            let key = PresentationSession.stateKey(of: location)
            let session = PresentationSession(
                location,
                baseAddress: baseURL.map { ResourceAddress($0).withoutUserInformation },
                options: DASHFlags.options,
                translationState: try stateFile?.state(of: key) ?? TranslationState()
            )
            let manifest = PresentationSession.LoadedManifest(bytes, address: address)
            let result = try await session.adopt(manifest, using: loader).translation
            try write(result)
            try stateFile?.store(session.translationState, of: key)
            try report(result)
            if follow { try await update(session, loader, stateFile) }
        }
    }

    /// Verifies that bytes can be a manifest: that they are neither a media file nor in an unknown format.
    ///
    /// - Throws: ``Failure``.
    private func verifyFormat(of bytes: [UInt8]) throws {
        let name = PlaylistSource.name(source)
        if let container = MediaContainer(ofMediaFile: bytes) {
            throw Failure(.badInput, "invalid-manifest", "\(name): \(container.nameWithArticle), not a DASH manifest")
        }
        // The XML parser reports a damaged document.
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }) != UInt8(ascii: "<") else { return }
        do {
            _ = try Playlist.parse(bytes)
        } catch {
            guard error == .notAPlaylist(content: nil) else { return }
            throw Failure(.badInput, error.code.rawValue, "\(name): \(error.textForSource)")
        }
    }

    /// Loads and writes new versions of a live presentation until it ends.
    private func update(
        _ session: PresentationSession,
        _ loader: ResourceLoader,
        _ stateFile: StateFile?
    ) async throws {
        var failureCount = 0
        while let interval = session.updateInterval {
            try await SystemTimeSource().sleep(for: interval)
            do {
                try write(try await session.result(using: loader).translation)
                try stateFile?.store(session.translationState, of: PresentationSession.stateKey(of: session.address))
                failureCount = 0
            } catch let error as TransportError {
                failureCount += 1
                guard failureCount < Self.maximumFailureCount else { throw error }
                StandardError.write("note: the manifest cannot be loaded: \(error)\n")
            }
        }
    }

    private func write(_ result: TranslatedPresentation) throws {
        // The multivariant playlist is written last, when all playlists to which it refers exist.
        let top = (name: TranslatedPresentation.multivariantFileName, bytes: result.multivariant.bytes)
        let files = result.playlists.map { (name: $0.fileName, bytes: $0.bytes) } + [top]
        try OutputFolder.write(files, to: URL(fileURLWithPath: output ?? "."))
    }

    private func report(_ result: TranslatedPresentation) throws {
        StandardError.write("\(result.playlists.count + 1) playlists written to \(output ?? ".")\n")
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
