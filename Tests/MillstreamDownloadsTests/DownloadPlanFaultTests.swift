import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the boundaries of choices, limits and estimates before and while files are fetched.
@Suite(.timeLimit(.minutes(5))) struct DownloadPlanFaultTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "main.m3u8")
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func loader(_ transport: any Transport) -> ResourceLoader {
        ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
    }

    // MARK: Choices

    private static func choices(
        _ variants: DownloadSelection.Variants,
        _ lines: String
    ) throws -> [DownloadResolver.Choice] {
        let playlist = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n\(lines)".utf8),
            context: PlaylistContext(address: source)
        )
        return try DownloadResolver(
            loader: loader(ScriptedTransport()),
            selection: DownloadSelection(variants: variants)
        ).choose(from: playlist)
    }

    /// A variant without a bit rate has none, and one without a resolution has no height.
    @Test(
        arguments: [
            (.best, ["FRAME-RATE=25", "BANDWIDTH=0"], 1), (.lowest, ["BANDWIDTH=0", "FRAME-RATE=25"], 0),
            (.maximumHeight(0), ["BANDWIDTH=1,RESOLUTION=1x1", "BANDWIDTH=2"], 1),
        ] as [(DownloadSelection.Variants, [String], Int)]
    )
    func variantWithoutAnAttributeHasTheLowestValue(
        variants: DownloadSelection.Variants,
        attributes: [String],
        position: Int
    ) throws {
        let lines = attributes.enumerated().map { "#EXT-X-STREAM-INF:\($1)\n\($0).m3u8\n" }.joined()
        let choices = try Self.choices(variants, lines)
        #expect(choices.map(\.position) == [position])
    }

    /// I-frames with a small height are better than I-frames without a height, regardless of their bit rates.
    @Test func iFramesWithoutAResolutionAreTheLowest() throws {
        let lines = """
            #EXT-X-STREAM-INF:BANDWIDTH=3000000
            v.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9,URI="0.m3u8"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5,RESOLUTION=1x1,URI="1.m3u8"

            """
        let choices = try Self.choices(.best, lines)
        #expect(choices.filter { $0.role == .iFrames }.map(\.position) == [1])
    }

    /// The media playlists of a time range, or of edits of segments, are parts of the media playlists of the source.
    @Test func rangesAndEditsChangeTheMedia() throws {
        var part = DownloadSelection()
        part.timeRange = PartialRange<MediaTime>("1...2")
        #expect(part.timeRange != nil && part.changesMedia)
        let edited = try #require(DownloadSelection("edit=exclude=cues"))
        #expect(edited.timeRange == nil && edited.changesMedia)
        let filtered = try #require(DownloadSelection("variants=lowest&audio=en&qualifier=height<=5"))
        #expect(!filtered.changesMedia)
    }

    /// A preference without a value is not set.
    @Test func emptyPreferenceIsFalse() {
        #expect(DownloadSelection("prefer-multichannel=&prefer-lossless=") == DownloadSelection())
    }

    // MARK: Limits

    @Test(
        arguments: [
            (0, 999, "the next file has 1.00 kB"), (1, 1_000, "1 bytes must stay free"),
        ] as [(Int64, Int64, String)]
    )
    func errorOfAFullDiskNamesTheLimitOrTheFile(limit: Int64, free: Int64, end: String) throws {
        let resource = try #require(try temporary.plannedFiles(1).first)
        let files = RecordingFiles(temporary.directory)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        let budget = DownloadBudget(
            try library.asset(resource.assetID),
            in: library,
            DownloadLimits(freeSpace: ByteCount(limit))
        )
        files.setFreeSpace(free + 1)
        try budget.checkBeforeWriting(resource, announced: 1_000, at: resource.address)
        files.setFreeSpace(free)
        let error = #expect(throws: StorageError.self) {
            try budget.checkBeforeWriting(resource, announced: 1_000, at: resource.address)
        }
        #expect(error?.code == .full && error?.message.hasSuffix(", and \(end)") == true, "\(error?.message ?? "")")
    }

    /// Media that is stored already needs no space, although the library has none.
    @Test func storedMediaNeedsNoSpace() async throws {
        let transport = ScriptedTransport(texts: [
            Self.source.text: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1600\nv.m3u8\n",
            Self.base + "v.m3u8": Self.media, Self.base + "0.ts": "zero",
        ])
        let asset = try await AssetDownload(Self.source, into: library, loader: Self.loader(transport)).run()
        #expect(asset.state == .complete)
        let found = try await DownloadResolver(loader: Self.loader(transport), selection: DownloadSelection())
            .resolve(Self.source)
        try library.setStorageLimits(StorageLimits(quota: ByteCount(1)))
        try library.checkSpace(for: found.renditions, of: asset, besides: [:])
    }

    /// The size that the server announces is enough to refuse a playlist.
    @Test(arguments: [(150_000, DownloadError.Code.transport), (150_001, .tooLarge)] as [(Int64, DownloadError.Code)])
    func announcedSizeOfAPlaylistIsLimited(playlistSize: Int64, code: DownloadError.Code) async throws {
        let bytes = Array("#EXTM3U\n".utf8) + [UInt8](repeating: UInt8(ascii: "\n"), count: 100_000)
        let transport = ScriptedTransport([Self.source.text: [.truncated(bytes, announced: 200_000)]])
        let loader = DownloadPlaylistLoader(
            loader: Self.loader(transport),
            playlistSize: ByteCount(playlistSize),
            bypassesCache: false,
            acceptsLive: false
        )
        let error = await #expect(throws: DownloadError.self) {
            _ = try await loader.fetch(Self.source, limit: ByteCount(150_000))
        }
        // The limit of one playlist, or the part of the limit that other playlists have not used.
        #expect(error?.code == code && error?.detail == "too-large", "\(String(describing: error))")
        #expect(error?.hint == (code == .tooLarge ? "choose fewer variants and languages" : nil))
    }

    /// A playlist that an edit inserts is within the limits of the download and of the edits.
    @Test(arguments: [(0, 0, true), (1, 0, false), (0, 1, false)] as [(Int64, Int64, Bool)])
    func insertedPlaylistIsLimited(playlistExcess: Int64, editExcess: Int64, isLoaded: Bool) async throws {
        let size = Int64(Self.media.utf8.count)
        let resolver = DownloadResolver(
            loader: Self.loader(ScriptedTransport(texts: [Self.source.text: Self.media])),
            selection: DownloadSelection(),
            playlistSize: ByteCount(size - playlistExcess)
        )
        let budget = EditBudget(EditLimits(loadedBytes: ByteCount(size - editExcess)))
        do {
            let playlist = try await resolver.loadPlaylist(at: Self.source.text, variables: [:], budget: budget)
            #expect(isLoaded && Int64(playlist.bytes.count) == size)
        } catch let error as DownloadError {
            #expect(!isLoaded && error.detail == "too-large", "\(error)")
        }
    }

    /// All playlists that edits insert count together.
    @Test func insertedPlaylistsAreLimitedTogether() async throws {
        let resolver = DownloadResolver(
            loader: Self.loader(ScriptedTransport(texts: [Self.source.text: Self.media])),
            selection: DownloadSelection()
        )
        let size = Int64(Self.media.utf8.count)
        let budget = EditBudget(EditLimits(loadedBytes: ByteCount(2 * size - 1)))
        _ = try await resolver.loadPlaylist(at: Self.source.text, variables: [:], budget: budget)
        await #expect(throws: PlaylistEditError.self) {
            _ = try await resolver.loadPlaylist(at: Self.source.text, variables: [:], budget: budget)
        }
    }

    /// A live stream can become protected while it is recorded; a version without segments does not show whether it is
    /// protected.
    @Test(
        arguments: [
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"a\"\n#EXTINF:4,\n0.ts\n", .contentProtected),
            ("#EXTINF:4,\n0.ts\n", nil), ("", nil),
        ] as [(String, DownloadError.Code?)]
    )
    func reloadedPlaylistMustNotBeProtected(lines: String, expected: DownloadError.Code?) async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)"
        let loader = DownloadPlaylistLoader(
            loader: Self.loader(ScriptedTransport(texts: [Self.source.text: text])),
            playlistSize: ByteCount(10_000),
            bypassesCache: true,
            acceptsLive: true
        )
        let former = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n".utf8),
            context: PlaylistContext(address: Self.source)
        )
        do {
            let playlist = try await loader.reload(Self.source, after: former)
            #expect(expected == nil && playlist.segments.count == (lines.isEmpty ? 0 : 1))
        } catch let error as DownloadError {
            #expect(error.code == expected && error.address == Self.source)
        }
    }

    // MARK: Progress

    /// The rate of short segments counts as well, and a file without a time is not estimated.
    @Test func estimateFollowsFromSegmentsOfASecond() throws {
        let files = try temporary.plannedFiles(3, seconds: 1)
        var counter = ProgressCounter(try library.asset(files[0].assetID), missing: 4)
        counter.addStoredFile(files[0], bytes: ByteCount(100))
        #expect(counter.progress.expectedBytes == ByteCount(300))
        for file in files.dropFirst() { counter.addStoredFile(file, bytes: ByteCount(100)) }
        #expect(counter.progress.bytes == ByteCount(300) && counter.progress.expectedBytes == ByteCount(300))
        #expect(counter.progress.percent == 99.9)
    }

    /// An asset is at 100 percent when its state is complete, not when its last file is stored.
    @Test func unfinishedAssetIsBelowOneHundredPercent() throws {
        let files = try temporary.plannedFiles(2)
        let id = files[0].assetID
        func percentages() throws -> [Double] {
            let unfinished = UnfinishedAssets(in: library)
            let (asset, summary) = (try library.asset(id), try library.summary(id))
            return [unfinished.percent(of: asset), unfinished.percent(of: summary)]
        }
        #expect(try percentages() == [0, 0])
        try temporary.store(Array("media".utf8), as: files[0], of: id)
        #expect(try percentages() == [50, 50])
        try temporary.store(Array("media".utf8), as: files[1], of: id)
        #expect(try percentages() == [99.9, 99.9])
        try library.finish(id)
        #expect(try percentages() == [100, 100])
    }

    /// Of several downloads of an asset, the first one counts.
    @Test func progressIsThatOfTheFirstDownload() throws {
        let id = try #require(try temporary.plannedFiles(1).first).assetID
        let otherID = try library.addAsset(source: Self.source, title: "B", selection: "")
        var several = DownloadConfiguration()
        several.furtherSelections = [DownloadSelection(variants: .lowest)]
        try temporary.addRecord("first", of: id, source: Self.source)
        try temporary.addRecord("second", of: id, source: Self.source, several)
        try temporary.addRecord("other", of: otherID, source: Self.source, several)
        let all = try library.progressOfDownloads()
        #expect(all.mapValues { $0.selection?.count } == [id: nil, otherID: 2])
        let one = try library.progressOfDownloads(of: otherID)
        #expect(Array(one.keys) == [otherID])
    }

    /// Further selections have no effect on a recording.
    @Test func progressOfARecordingHasNoSelection() throws {
        let id = try #require(try temporary.plannedFiles(1).first).assetID
        var configuration = DownloadConfiguration()
        configuration.furtherSelections = [DownloadSelection(variants: .lowest)]
        configuration.recording = RecordingOptions(duration: MediaTime(seconds: 16))
        try temporary.addRecord("one", of: id, source: Self.source, configuration)
        let progress = try #require(try library.progressOfDownloads()[id])
        #expect(progress.selection == nil && progress.duration == MediaTime(seconds: 16))
    }
}
