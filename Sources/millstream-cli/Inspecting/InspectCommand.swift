import ArgumentParser
import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTransport
import PresentationLoading
import ReportFormat
import ResourceAddressing
import StreamingEngine

/// The command `millstream inspect`.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the contents of a playlist, a DASH manifest or a media file.",
        discussion: """
            Parses a playlist as tolerantly as a player does, and lists violations of the standard. With --follow, a \
            media playlist that cannot be loaded is listed with the reason, and the exit status is 1.

            With --media, the command loads, decrypts and reads segments. It lists their measured duration, size and \
            bit rate, and their tracks, timestamps and key frames. For a DASH manifest, it reads the segments of all \
            representations.

            Example: millstream inspect https://example.com/multivariant.m3u8 --follow
            Example: millstream inspect https://example.com/720p/media.m3u8 --media --segments 100
            """
    )

    @Argument(help: "The URL or file of a playlist, DASH manifest or media file, or - for standard input.")
    var source: String

    @OptionGroup var reportFormat: ReportFormatFlags

    @Option(name: .long, help: "The base URL of relative URLs in the playlist.")
    var baseURL: String?

    @Flag(name: .long, help: "Load the media playlists of a multivariant playlist too.")
    var follow = false

    @Flag(
        name: .long,
        help: "Load and read segments; for a multivariant playlist or a DASH manifest, of all media playlists."
    )
    var media = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum number of segments of each playlist that --media reads (default: 10).",
            valueName: "N"
        )
    )
    var segments: Int?

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    private var json: Bool { reportFormat.isJSON }

    func validate() throws {
        guard segments.map((1...1_000_000).contains) ?? true else {
            throw ValidationError("--segments must be between 1 and 1000000")
        }
        guard segments == nil || media else { throw ValidationError("--segments requires --media") }
    }

    /// The maximum number of segments of each playlist that are read.
    private var segmentLimit: Int { segments ?? 10 }

    mutating func run() async throws {
        try await http.withLoading(source: source, base: baseURL) { loading in
            let (bytes, address): ([UInt8], ResourceAddress?)
            let source = PlaylistSource(text: source, baseURL: baseURL)
            if source.text == "-" {
                (bytes, address) = try await source.bytes(loading)
                if !InspectedStandardInput.isDocument(bytes) {
                    let input = try InspectedStandardInput(bytes)
                    defer { input.remove() }
                    do {
                        if case .file(let reader) = try await MediaReader.open(input.address, loader: input.loader) {
                            return try await report(reader)
                        }
                    } catch {
                        throw Failure.namingStandardInput(error, storedAt: input.address)
                    }
                }
            } else {
                switch try await MediaReader.open(try PlaylistSource.address(source.text), loader: loading) {
                case .file(let reader): return try await report(reader)
                case .document(let found, let location): (bytes, address) = (found, try source.base ?? location)
                }
            }
            if let presentation = try PresentationSource.presentation(bytes, address: address, name: source.text) {
                guard media else { return try report(presentation) }
                return try await reportMedia(of: presentation, bytes, at: address, loading)
            }
            let playlist = try PlaylistSource.playlist(
                bytes,
                address: address,
                name: source.text,
                declaresAllImports: true
            )
            try await report(playlist, loading)
        }
    }

    /// Notes that `--follow` has no effect on a source without media playlists.
    private func noteNothingToFollow(_ kind: StaticString) {
        guard follow else { return }
        StandardError.write("note: --follow has no effect, because \(kind.description) has no media playlists\n")
    }

    private func report(_ reader: MediaReader) async throws {
        noteNothingToFollow("a media file")
        let report = try await MediaFileReport(
            PlaylistSource.reportedName(source),
            reader,
            limit: media ? segmentLimit : nil
        )
        if json { try StandardOutput.writeLine(report.json) } else { try StandardOutput.writeLine(report.text) }
        let unread = UnreadSegments()
        unread.failures = report.failures
        guard media || report.failures.isEmpty else {
            let reason = report.failures.first
            throw Failure(
                .failed,
                reason?.code ?? "",
                "\(PlaylistSource.name(source)) could not be read: \(reason?.message ?? "")"
            )
        }
        try unread.verifyIsEmpty()
    }

    private func report(_ presentation: MediaPresentation) throws {
        noteNothingToFollow("a DASH manifest")
        if json {
            try StandardOutput.writeLine(presentation.report)
        } else {
            try StandardOutput.writeLine(PresentationTable(presentation).text)
        }
    }

    /// Reports a DASH manifest and the media playlists of its translation to HLS, whose segments are read.
    private func reportMedia(
        of presentation: MediaPresentation,
        _ bytes: [UInt8],
        at address: ResourceAddress?,
        _ loader: ResourceLoader
    ) async throws {
        let unread = UnreadSegments()
        let playlists = try await translation(of: bytes, at: address, loader).playlists
        if json {
            guard case .object(var fields) = presentation.report else { return }
            var children: [ReportValue] = []
            for entry in playlists {
                let playlist = try PlaylistSource.playlist(entry.bytes, address: address, name: source)
                guard case .object(var child) = try await report(of: playlist, loader, unread) else { continue }
                let name = ReportValue.string(entry.track.representationID)
                child.append(ReportValue.Field(name: "representation", value: name))
                children.append(.object(child))
            }
            fields.append(ReportValue.Field(name: "playlists", value: .array(children)))
            try StandardOutput.writeLine(ReportValue.object(fields))
        } else {
            try StandardOutput.writeLine(PresentationTable(presentation).text)
            for entry in playlists {
                let playlist = try PlaylistSource.playlist(entry.bytes, address: address, name: source)
                let contents = try await text(of: playlist, loader, unread)
                try StandardOutput.writeLine("\nrepresentation \(entry.track.representationID)\n\(contents)")
            }
        }
        try unread.verifyIsEmpty()
    }

    /// Returns the translation of a DASH manifest to HLS playlists.
    private func translation(
        of bytes: [UInt8],
        at address: ResourceAddress?,
        _ loader: ResourceLoader
    ) async throws -> TranslatedPresentation {
        let location = source == "-" ? address ?? ResourceAddress(source) : try PlaylistSource.address(source)
        let session = PresentationSession(location, options: DASHFlags.options)
        let manifest = PresentationSession.LoadedManifest(bytes, address: address)
        do {
            return try await session.adopt(manifest, using: loader).translation
        } catch {
            throw source == "-" ? error : Failure.naming(error, source, at: location)
        }
    }

    /// The segments that could not be read.
    private final class UnreadSegments {
        var failures: [Failure] = []

        /// Verifies that all segments could be read, after they were reported.
        ///
        /// - Throws: ``Failure``.
        func verifyIsEmpty() throws {
            guard let first = failures.first else { return }
            let count = QuantityText.count(failures.count, "segment")
            throw Failure(.failed, first.code, "\(count) could not be read", hint: first.hint)
        }
    }

    private func report(_ playlist: Playlist, _ loader: ResourceLoader) async throws {
        let unread = UnreadSegments()
        var followed: FollowedPlaylists?
        if follow || media, case .multivariant(let multivariant) = playlist {
            followed = try await FollowedPlaylists(of: multivariant, loader)
        }
        if json {
            guard case .object(var fields) = try await report(of: playlist, loader, unread) else { return }
            if follow || followed != nil {
                var children: [ReportValue] = []
                for entry in followed?.entries ?? [] {
                    guard case .success(let child) = entry.result else {
                        children.append(entry.report)
                        continue
                    }
                    children.append(try await report(of: child, loader, unread))
                }
                fields.append(ReportValue.Field(name: "playlists", value: .array(children)))
            }
            try StandardOutput.writeLine(ReportValue.object(fields))
        } else {
            try StandardOutput.writeLine(try await text(of: playlist, loader, unread))
            for entry in followed?.entries ?? [] {
                var text = entry.text
                if case .success(let child) = entry.result { text = try await self.text(of: child, loader, unread) }
                try StandardOutput.writeLine("\n" + text)
            }
        }
        noteUndeclaredImport(of: playlist, source)
        for entry in followed?.entries ?? [] {
            guard case .success(let child) = entry.result else { continue }
            noteUndeclaredImport(of: child, entry.address.filePath ?? entry.address.text)
        }
        try followed?.verifyIsComplete()
        try unread.verifyIsEmpty()
    }

    /// Notes that players and downloads refuse a media playlist that imports a variable which is not defined.
    private func noteUndeclaredImport(of playlist: Playlist, _ name: String) {
        guard let error = playlist.undeclaredImport else { return }
        StandardError.write("note: \(PlaylistSource.name(name)): \(error) (\(error.code.rawValue))\n")
    }

    /// Returns the report of a playlist; with `--media`, that of a media playlist has its media.
    private func report(
        of playlist: Playlist,
        _ loader: ResourceLoader,
        _ unread: UnreadSegments
    ) async throws -> ReportValue {
        guard let inspection = try await inspection(of: playlist, loader, unread),
            case .object(var fields) = playlist.report
        else { return playlist.report }
        fields.append(ReportValue.Field(name: "media", value: inspection.report))
        return .object(fields)
    }

    private func text(
        of playlist: Playlist,
        _ loader: ResourceLoader,
        _ unread: UnreadSegments
    ) async throws -> TerminalText {
        let text = PlaylistTable(playlist).text
        guard let inspection = try await inspection(of: playlist, loader, unread) else { return text }
        return text + "\n\n" + inspection.text
    }

    private func inspection(
        of playlist: Playlist,
        _ loader: ResourceLoader,
        _ unread: UnreadSegments
    ) async throws -> MediaInspection? {
        guard media, case .media(let playlist) = playlist else { return nil }
        if source == "-", let first = playlist.segments.first, !first.address.isAbsolute {
            throw Failure(
                .wrongUsage,
                "usage",
                "the URLs of the segments are relative to that of the playlist, which standard input does not have",
                hint: "give it with --base-url URL"
            )
        }
        let inspection = try await MediaInspection(MediaReader(playlist, loader: loader), limit: segmentLimit)
        unread.failures += inspection.failures
        return inspection
    }
}
