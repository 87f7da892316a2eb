import AssetStorage
import HLSPlaylist
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// Tests the files that an earlier run of a recording did not store.
@Suite(.timeLimit(.minutes(1))) struct RecordingRunFaultTests {
    private static let source = ResourceAddress("https://live.example/live.m3u8")
    private static let text =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:10\n#EXTINF:4,\ns10.ts\n#EXTINF:4,\ns11.ts\n"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    /// Each file is requested once; a segment that is not available any more is lost.
    @Test func missingFilesAreRequestedOnce() async throws {
        let playlist = try MediaPlaylist(
            parsing: Array(Self.text.utf8),
            context: PlaylistContext(address: Self.source)
        )
        let recording = try temporary.beginRecording(of: playlist, at: Self.source, segmentCount: 2)
        let transport = ScriptedTransport(texts: ["https://live.example/s11.ts": "media"])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        let asset = try temporary.library.asset(recording.id)
        let lost = Mutex<Int64>(0)
        let environment = RecordingEnvironment(
            download: AssetDownload(Self.source, into: temporary.library, loader: loader, time: QuickTime()),
            assetID: recording.id,
            resolver: DownloadResolver(loader: loader, selection: DownloadSelection()),
            meter: ProgressMeter(ProgressCounter(asset, recordingGoal: nil)),
            budget: DownloadBudget(asset, in: temporary.library, DownloadLimits(), isRecording: true),
            report: { event in
                if case .lost(_, let count) = event { lost.withLock { $0 += count } }
            }
        )
        let track = RecordingTrack(recording.writer, PlannedRendition(only: playlist, at: Self.source))
        let run = RecordingRun(environment, options: RecordingOptions(), tracks: [track])
        try await run.recover([recording.segments])
        #expect(
            transport.requestedAddresses.sorted() == ["https://live.example/s10.ts", "https://live.example/s11.ts"]
        )
        #expect(lost.withLock { $0 } == 1)
        #expect(try temporary.library.missingCount(recording.id) == 0)
        #expect(run.ends.isEmpty)
    }
}
