import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

@Suite struct DownloadProgressTests {
    private static let origin = "https://origin.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private func ranges(_ pairs: (Int64, Int64)...) -> MediaTimeRangeSet {
        MediaTimeRangeSet(pairs.map { MediaTimeRange(start: MediaTime(seconds: $0), end: MediaTime(seconds: $1)) })
    }

    /// Plans two video segments of the given duration with an initialization section, and 6 s of audio in one segment.
    private func plan(videoSeconds: Int = 4) async throws -> StoredAsset {
        let transport = ScriptedTransport(texts: [
            Self.origin + "top.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=8000000,AUDIO="a"
            video.m3u8

            """,
            Self.origin + "video.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4"
            #EXTINF:\(videoSeconds),
            0.m4s
            #EXTINF:\(videoSeconds),
            1.m4s
            #EXT-X-ENDLIST

            """,
            Self.origin + "audio.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:\(videoSeconds == 0 ? 0 : 6),\na.aac\n#EXT-X-ENDLIST\n",
        ])
        let address = ResourceAddress(Self.origin + "top.m3u8")
        let found = try await DownloadResolver(
            loader: ResourceLoader(transport),
            selection: DownloadSelection()
        ).resolve(address)
        let id = try temporary.library.addAsset(source: address, title: "A", selection: "")
        try temporary.library.planDownload(
            of: id,
            source: found.playlist,
            at: found.address,
            renditions: found.renditions
        )
        return try temporary.library.asset(id)
    }

    private func resource(_ name: String, of asset: StoredAsset) throws -> StoredResource {
        try #require(try temporary.library.resources(asset.id).first { $0.address.lastPathComponent == name })
    }

    private func progress(
        _ loaded: MediaTimeRangeSet,
        _ bytes: Int64,
        _ percent: Double,
        of seconds: Int64 = 8
    ) -> DownloadProgress {
        DownloadProgress(
            loadedTimeRanges: loaded,
            duration: MediaTime(seconds: seconds),
            bytes: ByteCount(bytes),
            percent: percent,
            expectedBytes: nil,
            receivedBytes: .zero
        )
    }

    /// Returns the progress without the estimate and the received bytes.
    private func plain(_ found: DownloadProgress) -> DownloadProgress {
        DownloadProgress(
            loadedTimeRanges: found.loadedTimeRanges,
            duration: found.duration,
            bytes: found.bytes,
            percent: found.percent,
            expectedBytes: nil,
            receivedBytes: .zero
        )
    }

    @Test func expectedSizeFollowsTheFilesThatAreStored() async throws {
        let asset = try await plan()
        let meter = ProgressMeter(ProgressCounter(asset, missing: 4))
        let first = try #require(meter.progress.expectedBytes)
        #expect(first > .zero && meter.progress.receivedBytes == .zero)
        let file = meter.beginFile(containing: 40)
        meter.addBytes(60, to: file)
        // Bytes of an earlier transfer are not received again.
        #expect(meter.progress.bytes == ByteCount(100) && meter.progress.receivedBytes == ByteCount(60))
        meter.endFile(file)
        // 100 bytes in 4 seconds of video, and 50 bytes in 4 seconds of audio, which is all of it.
        meter.addStoredFile(try resource("0.m4s", of: asset), bytes: ByteCount(100))
        meter.addStoredFile(try resource("a.aac", of: asset), bytes: ByteCount(50))
        #expect(meter.progress.expectedBytes == ByteCount(250))
        meter.addStoredFile(try resource("1.m4s", of: asset), bytes: ByteCount(100))
        meter.addStoredFile(try resource("init.mp4", of: asset), bytes: ByteCount(7))
        #expect(meter.progress.expectedBytes == meter.progress.bytes)
    }

    @Test func storedFilesAddTheirTimeRangesAndBytes() async throws {
        let asset = try await plan()
        var counter = ProgressCounter(asset, missing: 4)
        #expect(plain(counter.progress) == progress(ranges(), 0, 0))
        counter.addStoredFile(try resource("0.m4s", of: asset), bytes: ByteCount(10))
        #expect(plain(counter.progress) == progress(ranges(), 10, 0), "there is no audio for it")
        counter.addStoredFile(try resource("a.aac", of: asset), bytes: ByteCount(5))
        #expect(plain(counter.progress) == progress(ranges((0, 4)), 15, 50))
        counter.addStoredFile(try resource("1.m4s", of: asset), bytes: ByteCount(100))
        #expect(
            plain(counter.progress) == progress(ranges((0, 8)), 115, 99.9),
            "audio that is shorter is complete, and a file without time is missing"
        )
        counter.addStoredFile(try resource("init.mp4", of: asset), bytes: ByteCount(1_000))
        #expect(plain(counter.progress) == progress(ranges((0, 8)), 1_115, 100))
    }

    @Test func assetWithoutDurationIsAtZeroPercentUntilComplete() async throws {
        let asset = try await plan(videoSeconds: 0)
        var counter = ProgressCounter(asset, missing: 1)
        #expect(counter.progress.percent == 0 && counter.progress.duration == .zero)
        counter.addStoredFile(try resource("0.m4s", of: asset), bytes: ByteCount(10))
        #expect(counter.progress.percent == 100)
    }

    @Test func unfinishedFilesOfEarlierTransfersCountUntilTheyAreContinued() async throws {
        let asset = try await plan()
        let meter = ProgressMeter(
            ProgressCounter(asset, missing: 4),
            unfinishedFiles: ["variant-0/000000.ts": 30, "variant-0/000001.ts": 12]
        )
        let stored = DownloadProgress(asset).bytes.bytes
        #expect(meter.progress.bytes.bytes == stored + 42 && meter.figures.bytes == .zero)
        let file = meter.beginFile("variant-0/000000.ts", containing: 30)
        meter.addBytes(5, to: file)
        #expect(meter.progress.bytes.bytes == stored + 47 && meter.figures.bytes.bytes == 5)
        // A file whose resource changed is received from its beginning.
        _ = meter.beginFile("variant-0/000001.ts", containing: 0)
        #expect(meter.progress.bytes.bytes == stored + 35)
    }

    @Test func bytesOfUnfinishedFilesCountUntilTheTransferEnds() async throws {
        let asset = try await plan()
        let meter = ProgressMeter(ProgressCounter(asset, missing: 4))
        let first = meter.beginFile()
        #expect(plain(meter.progress) == progress(ranges(), 0, 0))
        meter.addBytes(100, to: first)
        let second = meter.beginFile()
        meter.addBytes(30, to: second)
        meter.addBytes(7, to: first)
        #expect(plain(meter.progress) == progress(ranges(), 137, 0))
        // The first file is stored, and the second one is abandoned.
        meter.addStoredFile(try resource("a.aac", of: asset), bytes: ByteCount(107), replacing: first)
        #expect(plain(meter.progress) == progress(ranges(), 137, 0))
        meter.endFile(second)
        meter.addBytes(50, to: second)
        #expect(plain(meter.progress) == progress(ranges(), 107, 0), "nothing is added to a file that has ended")
    }

    @Test func progressOfAnAssetIsThatOfItsFiles() async throws {
        let asset = try await plan()
        #expect(DownloadProgress(asset) == progress(ranges(), 0, 0))
        let id = try temporary.library.addAsset(
            source: ResourceAddress(Self.origin + "other.m3u8"),
            title: "Without playlists",
            selection: ""
        )
        #expect(DownloadProgress(try temporary.library.asset(id)) == progress(ranges(), 0, 0, of: 0))
    }

    @Test(arguments: [(99.96, "99.9"), (33.33, "33.3"), (66.67, "66.6"), (100, "100"), (0.09, "0")])
    func reportRoundsThePercentageDownToTenths(percent: Double, text: String) {
        let fields = progress(ranges((0, 2), (4, 6)), 12, percent).fields
        #expect(
            ReportValue.object(fields).json
                == #"{"loadedTimeRanges":[[0,2],[4,6]],"expected":8,"percent":\#(text),"bytes":12}"#
        )
    }
}
