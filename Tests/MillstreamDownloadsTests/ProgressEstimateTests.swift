import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the estimates of the progress in bytes, the progress of recordings, and that of unfinished downloads.
@Suite struct ProgressEstimateTests {
    private static let origin = "https://origin.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static let media = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXTINF:4,
        0.ts
        #EXTINF:4,
        1.ts
        #EXT-X-ENDLIST

        """

    /// A presentation of 8 s with a video, an audio, a subtitles and two I-frame playlists.
    private static func presentation(rate: String) -> [String: String] {
        let frames = media.replacing("#EXTINF:4,", with: "#EXTINF:4,\n#EXT-X-BYTERANGE:5@0")
            .replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-I-FRAMES-ONLY\n")
        return [
            origin + "top.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="audio.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text.m3u8"
            #EXT-X-STREAM-INF:\(rate)RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
            video.m3u8
            #EXT-X-I-FRAME-STREAM-INF:\(rate)RESOLUTION=640x360,URI="frames.m3u8"

            """,
            origin + "video.m3u8": media,
            origin + "audio.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\na.aac\n#EXT-X-ENDLIST\n",
            origin + "text.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\nt.vtt\n#EXT-X-ENDLIST\n",
            origin + "frames.m3u8": frames,
        ]
    }

    /// Plans the asset of a playlist, none of whose files is stored.
    private func plan(_ texts: [String: String], source: String) async throws -> StoredAsset {
        let address = ResourceAddress(Self.origin + source)
        let found = try await DownloadResolver(
            loader: ResourceLoader(ScriptedTransport(texts: texts)),
            selection: DownloadSelection()
        ).resolve(address)
        let id = try library.addAsset(source: address, title: "A", selection: "")
        try library.planDownload(of: id, source: found.playlist, at: found.address, renditions: found.renditions)
        return try library.asset(id)
    }

    /// Plans an asset of two segments of four seconds without a bit rate.
    private func planMedia() async throws -> StoredAsset {
        try await plan([Self.origin + "video.m3u8": Self.media], source: "video.m3u8")
    }

    private func resource(_ name: String, of asset: StoredAsset) throws -> StoredResource {
        try #require(try library.resources(asset.id).first { $0.address.lastPathComponent == name })
    }

    private func seconds(_ ranges: MediaTimeRangeSet) -> [[Double]] {
        ranges.ranges.map { [$0.start.seconds, $0.end.seconds] }
    }

    // MARK: Bytes

    /// Eight seconds of each playlist: the declared or assumed rates of video and I-frames, 16,000 bytes per second of audio,
    /// and 100 of subtitles.
    @Test(
        arguments: [
            ("BANDWIDTH=8000000,", 8 * (2 * 1_000_000 + 16_000 + 100)),
            ("", 8 * (250_000 + 25_000 + 16_000 + 100)),
        ] as [(String, Int64)]
    )
    func sizeIsEstimatedFromBitRates(rate: String, expected: Int64) async throws {
        let asset = try await plan(Self.presentation(rate: rate), source: "top.m3u8")
        #expect(asset.renditions.map(\.role) == [.variant, .audio, .subtitles, .iFrames])
        let counter = ProgressCounter(asset, missing: 6)
        #expect(counter.progress.expectedBytes == ByteCount(expected))
        // Nothing is missing, whatever the durations are.
        #expect(ProgressCounter(asset, missing: 0).progress.expectedBytes == ByteCount.zero)
    }

    /// I-frames are fetched after everything else; they count for the size, but not for the time that is loaded.
    @Test func iFramesThatAreStoredReduceTheEstimate() async throws {
        let asset = try await plan(Self.presentation(rate: "BANDWIDTH=8000000,"), source: "top.m3u8")
        let frames = try #require(asset.renditions.last?.folder)
        var counter = ProgressCounter(asset, in: [frames], missing: 2)
        #expect(counter.progress.expectedBytes == ByteCount(8_000_000) && counter.progress.duration == .zero)
        let first = try #require(try library.resources(asset.id).first { $0.folder == frames })
        counter.addStoredFile(first, bytes: ByteCount(40))
        // 40 bytes in four seconds, and as many in those that are missing.
        #expect(counter.progress.expectedBytes == ByteCount(80) && counter.progress.bytes == ByteCount(40))
    }

    @Test func shareFollowsTheReceivedBytes() async throws {
        let asset = try await planMedia()
        var counter = ProgressCounter(asset, missing: 2)
        #expect(counter.share(inProgress: 0) == 0 && counter.share(inProgress: 500_000) == 0.25)
        #expect(counter.share(inProgress: 3_000_000) == 1)
        counter.addStoredFile(try resource("0.ts", of: asset), bytes: ByteCount(100))
        #expect(counter.share(inProgress: 0) == 0.5 && counter.share(inProgress: 50) == 0.75)
        counter.addStoredFile(try resource("1.ts", of: asset), bytes: ByteCount(300))
        #expect(counter.share(inProgress: 0) == 1)
    }

    @Test func assetWithoutMediaHasNoShare() async throws {
        let address = ResourceAddress(Self.origin + "new.m3u8")
        let id = try library.addAsset(source: address, title: "A", selection: "")
        let counter = ProgressCounter(try library.asset(id), missing: 0)
        #expect(counter.share(inProgress: 100) == 0)
    }

    /// The percentage of time is that of a running download; that of bytes moves while files are received.
    @Test(
        arguments: [(50, 0.25, 25), (50, nil, 50), (100, 0.25, 100), (50, 1, 99.9), (0, 0, 0)]
            as [(Double, Double?, Double)]
    )
    func percentageOfBytesIsThatOfTheShare(percent: Double, share: Double?, expected: Double) {
        var progress = progress(percent: percent)
        progress.share = share
        #expect(progress.percentOfBytes == expected)
    }

    private func progress(percent: Double) -> DownloadProgress {
        DownloadProgress(
            loadedTimeRanges: MediaTimeRangeSet(),
            duration: MediaTime(seconds: 8),
            bytes: ByteCount(7),
            percent: percent,
            expectedBytes: ByteCount(9),
            receivedBytes: ByteCount(5)
        )
    }

    /// Each selection is the same share of a download.
    @Test(
        arguments: [
            (0, 1, 100, 0.25, 100, 0.25), (1, 2, 50, 0.5, 75, 0.75), (0, 2, 100, 0.25, 50, 0.5),
            (3, 4, 100, nil, 100, nil), (2, 4, 0, 0, 50, 0.5),
        ] as [(Int, Int, Double, Double?, Double, Double?)]
    )
    func progressOfASelectionIsAPartOfThatOfTheDownload(
        number: Int,
        count: Int,
        percent: Double,
        share: Double?,
        expectedPercent: Double,
        expectedShare: Double?
    ) {
        var selection = progress(percent: percent)
        selection.share = share
        selection.requestedFile = "0.ts"
        selection.isWaitingForPlayback = true
        let all = selection.ofSelection(number, of: count)
        #expect(all.percent == expectedPercent && all.share == expectedShare)
        #expect(all.requestedFile == "0.ts" && all.isWaitingForPlayback)
        #expect(all.bytes == ByteCount(7) && all.expectedBytes == ByteCount(9) && all.receivedBytes == ByteCount(5))
        #expect(all.duration == MediaTime(seconds: 8))
    }

    // MARK: Requests

    @Test func requestedFileIsTheOldestThatDoesNotWait() async throws {
        let meter = ProgressMeter(ProgressCounter(try await planMedia(), missing: 2))
        #expect(meter.progress.requestedFile == nil && !meter.progress.isWaitingForPlayback)
        let first = meter.beginRequest("0.ts")
        let second = meter.beginRequest("1.ts")
        #expect(meter.progress.requestedFile == "0.ts" && !meter.progress.isWaitingForPlayback)
        meter.setWaiting(true, first)
        #expect(meter.progress.requestedFile == "1.ts" && !meter.progress.isWaitingForPlayback)
        meter.setWaiting(true, second)
        #expect(meter.progress.requestedFile == "0.ts" && meter.progress.isWaitingForPlayback)
        meter.setWaiting(false, second)
        #expect(meter.progress.requestedFile == "1.ts" && !meter.progress.isWaitingForPlayback)
        meter.endRequest(second)
        #expect(meter.progress.requestedFile == "0.ts" && meter.progress.isWaitingForPlayback)
        meter.endRequest(first)
        #expect(meter.progress.requestedFile == nil && !meter.progress.isWaitingForPlayback)
        meter.addRecoverableError()
        #expect(meter.figures == DownloadFigures(bytes: .zero, requestCount: 2, recoverableErrorCount: 1))
    }

    /// The bytes of a transfer that was stopped count until the file is stored.
    @Test func storedFileReplacesItsUnfinishedBytes() async throws {
        let asset = try await planMedia()
        let meter = ProgressMeter(ProgressCounter(asset, missing: 2))
        let file = try resource("0.ts", of: asset)
        meter.addUnfinishedFile(file.path, bytes: 60)
        #expect(meter.progress.bytes == ByteCount(60) && meter.progress.share == 60.0 / 2_000_000)
        meter.addStoredFile(file, bytes: ByteCount(100))
        #expect(meter.progress.bytes == ByteCount(100) && meter.progress.share == 0.5)
    }

    // MARK: Recordings

    @Test func progressOfARecordingIsThatOfItsDuration() async throws {
        let asset = try await planMedia()
        var counter = ProgressCounter(asset, recordingGoal: MediaTime(seconds: 16))
        #expect(counter.progress.percent == 0 && counter.progress.duration == MediaTime(seconds: 16))
        counter.addStoredFile(try resource("0.ts", of: asset), bytes: ByteCount(100))
        #expect(counter.progress.percent == 25 && counter.progress.expectedBytes == nil)
        #expect(seconds(counter.progress.loadedTimeRanges) == [[0, 4]])
        #expect(ProgressMeter(counter).progress.share == nil)
        var complete = ProgressCounter(asset, recordingGoal: MediaTime(seconds: 4))
        complete.addStoredFile(try resource("0.ts", of: asset), bytes: ByteCount(100))
        #expect(complete.progress.percent == 99.9, "the recording has not ended")
    }

    @Test(arguments: [nil, MediaTime.zero] as [MediaTime?])
    func recordingWithoutADurationHasNoPercentage(goal: MediaTime?) async throws {
        let asset = try await planMedia()
        var counter = ProgressCounter(asset, recordingGoal: goal)
        counter.addStoredFile(try resource("0.ts", of: asset), bytes: ByteCount(100))
        #expect(counter.progress.percent == 0)
        #expect(counter.progress.duration == goal ?? MediaTime(seconds: 8))
    }

    /// The longest rendition determines the duration; a shorter one counts as loaded after its end.
    @Test func recordedRenditionsGrow() async throws {
        let asset = try await planMedia()
        let meter = ProgressMeter(ProgressCounter(asset, recordingGoal: nil))
        let folder = try #require(asset.renditions.first?.folder)
        meter.extend(folder, to: MediaTime(seconds: 12))
        #expect(meter.progress.duration == MediaTime(seconds: 12) && seconds(meter.progress.loadedTimeRanges).isEmpty)
        meter.extend(folder, to: MediaTime(seconds: 10))
        #expect(meter.progress.duration == MediaTime(seconds: 12))
        #expect(seconds(meter.progress.loadedTimeRanges) == [[10, 12]])
    }

    // MARK: Unfinished downloads

    /// Adds a record of a download to the catalog.
    private func addRecord(of id: String, _ configuration: DownloadConfiguration, name: String) throws {
        try library.addDownload(
            DownloadRecord(
                id: name,
                session: "films",
                assetID: id,
                source: ResourceAddress(Self.origin + "video.m3u8"),
                details: "",
                options: try configuration.stored,
                artwork: nil,
                state: .suspended,
                priority: 0,
                creationTime: 0
            )
        )
    }

    /// Downloads the first segment; the second one is missing.
    private func downloadHalf(_ extra: [String: String] = [:]) async throws -> StoredAsset {
        var texts = [Self.origin + "video.m3u8": Self.media, Self.origin + "0.ts": "zero"]
        for (name, text) in extra { texts[Self.origin + name] = text }
        _ = try? await AssetDownload(
            ResourceAddress(Self.origin + "video.m3u8"),
            into: library,
            loader: ResourceLoader(ScriptedTransport(texts: texts), policy: RecoveryPolicy(retries: 0))
        ).run()
        return try #require(try library.assets().first)
    }

    @Test func unfinishedAssetHasTheProgressOfItsBytes() async throws {
        let asset = try await downloadHalf()
        let none = UnfinishedAssets(in: library)
        #expect(none.percent(of: asset) == 50 && !none.isDownloading(asset.id))
        try addRecord(of: asset.id, DownloadConfiguration(), name: "first")
        let all = UnfinishedAssets(in: library)
        #expect(all.isDownloading(asset.id) && !all.isDownloading("other") && all.percent(of: asset) == 50)
        #expect(UnfinishedAssets(in: library, of: asset.id).isDownloading(asset.id))
        #expect(!UnfinishedAssets(in: library, of: "other").isDownloading(asset.id))
        #expect(!UnfinishedAssets(in: library, areListed: false).isDownloading(asset.id))
        let complete = try await downloadHalf(["1.ts": "one"])
        #expect(complete.state == .complete && all.percent(of: complete) == 100)
    }

    /// Only audio is stored, so that nothing can be played.
    @Test func reportOfAnUnfinishedAssetHasTheProgressOfItsBytes() async throws {
        let source = ResourceAddress(Self.origin + "top.m3u8")
        let origin = ScriptedTransport(texts: [
            source.text: """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=128000,AUDIO="a"
            video.m3u8

            """,
            Self.origin + "video.m3u8": Self.media,
            Self.origin + "audio.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\na.aac\n#EXT-X-ENDLIST\n",
            Self.origin + "a.aac": "audio",
        ])
        await #expect(throws: DownloadError.self) {
            try await AssetDownload(
                source,
                into: library,
                loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
            ).run()
        }
        let asset = try #require(try library.assets().first)
        let unfinished = UnfinishedAssets(in: library)
        // Both playlists are assumed to have 16,000 bytes per second.
        #expect(asset.percent == 0 && unfinished.percent(of: asset) == 50)
        let report = asset.report.json
        #expect(report.hasSuffix(#""percent":0}"#))
        #expect(unfinished.report(of: asset).json == String(report.dropLast(2)) + "50}")
    }

    /// Without playlists, no file is missing either.
    @Test func assetWithoutPlaylistsIsAtZeroPercent() throws {
        let address = ResourceAddress(Self.origin + "new.m3u8")
        let id = try library.addAsset(source: address, title: "A", selection: "")
        #expect(UnfinishedAssets(in: library).percent(of: try library.asset(id)) == 0)
        try addRecord(of: id, DownloadConfiguration(), name: "first")
        #expect(UnfinishedAssets(in: library).percent(of: try library.asset(id)) == 0)
    }

    /// The progress of an asset with several downloads is that of the first one, which records it.
    @Test func progressOfARecordingInTheCatalogIsThatOfItsDuration() async throws {
        let asset = try await downloadHalf()
        var recording = DownloadConfiguration()
        recording.recording = RecordingOptions(duration: MediaTime(seconds: 40))
        try addRecord(of: asset.id, recording, name: "first")
        try addRecord(of: asset.id, DownloadConfiguration(), name: "second")
        let progress = try library.progressOfDownloads()
        #expect(progress.count == 1 && progress[asset.id]?.percent == 10)
        #expect(try library.progressOfDownloads(of: asset.id)[asset.id]?.percent == 10)
        #expect(try library.progressOfDownloads(of: "other").isEmpty)
        #expect(try library.downloadProgress(of: asset.id).percent == 50)
    }
}
