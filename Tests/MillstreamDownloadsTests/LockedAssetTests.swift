import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that releases a lock after some waits; the task that reports the progress sleeps until it is canceled.
private final class ReleasingClock: TimeSource {
    private let waits = Mutex<[Duration]>([])
    private let lock: Mutex<PackageLock?>
    private let count: Int

    init(_ lock: PackageLock, after count: Int) {
        self.lock = Mutex(lock)
        self.count = count
    }

    var now: Duration { .zero }
    /// The durations of the waits so far.
    var durations: [Duration] { waits.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        guard duration == .milliseconds(200) else {
            let isDue = waits.withLock { waits in
                waits.append(duration)
                return waits.count == count
            }
            if isDue { lock.withLock { $0 = nil } }
            return
        }
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        defer { continuation.finish() }
        for await _ in stream {}
        throw CancellationError()
    }
}

/// Tests downloads of an asset that another process has locked.
@Suite(.timeLimit(.minutes(5))) struct LockedAssetTests {
    private static let source = ResourceAddress("https://films.example/media.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private func download(time: any TimeSource = SystemTimeSource()) -> AssetDownload {
        let origin = ScriptedTransport(texts: [
            Self.source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n",
            "https://films.example/0.ts": "zero",
        ])
        return AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            time: time
        )
    }

    /// A process that is about to find that the download has begun holds the lock for a moment.
    @Test(arguments: [1, 5, 6]) func downloadWaitsForTheLockForAMoment(count: Int) async throws {
        let id = try await download().run().id
        let time = ReleasingClock(try temporary.library.lock(id), after: count)
        if count <= 5 {
            #expect(try await download(time: time).run().state == .complete)
        } else {
            let error = await #expect(throws: DownloadError.self) { try await download(time: time).run() }
            #expect(error?.detail == "asset-busy")
        }
        #expect(time.durations == Array(repeating: .milliseconds(100), count: min(count, 5)))
    }
}
