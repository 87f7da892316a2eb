import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that advances when a task sleeps, and records the sleeps.
private final class SleepingClock: TimeSource {
    private let state = Mutex((now: Duration.seconds(50), slept: [Duration]()))

    var now: Duration { state.withLock { $0.now } }
    var slept: [Duration] { state.withLock { $0.slept } }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.now += duration
            state.slept.append(duration)
        }
    }
}

@Suite struct RateLimitTests {
    private static func megabits(_ count: Int64) -> BitRate { BitRate(bitsPerSecond: count * 1_000_000) }

    @Test func delaysFollowTheReceivedBytes() {
        var limit = RateLimit(Self.megabits(8))
        #expect(limit.addBytes(500_000, at: .seconds(10)) == .milliseconds(500))
        // Two fetches share the rate, so that the second one waits for the bytes of both.
        #expect(limit.addBytes(250_000, at: .seconds(10)) == .milliseconds(750))
        #expect(limit.addBytes(1_000_000, at: .milliseconds(10_750)) == .seconds(1))
        #expect(limit.addBytes(0, at: .milliseconds(11_750)) == .zero)
    }

    @Test func unusedTimeIsNotSavedUp() {
        var limit = RateLimit(Self.megabits(8))
        #expect(limit.addBytes(1_000_000, at: .zero) == .seconds(1))
        #expect(limit.addBytes(1_000_000, at: .seconds(100)) == .seconds(1))
        #expect(limit.addBytes(1_000_000, at: .seconds(100)) == .seconds(2))
    }

    @Test(arguments: [(0, 1), (1_000_000, 1), (3_999_999, 1), (4_000_000, 2), (12_000_000, 6), (900_000_000, 6)])
    func lowRateLimitsConcurrentFetches(rate: Int64, expected: Int) {
        #expect(RateLimit(BitRate(bitsPerSecond: rate)).fetchCount(atMost: 6) == expected)
    }

    /// The limit of a session is that of all its downloads, so that each of them has fewer fetches while others run.
    @Test func downloadsOfASessionShareTheNumberOfFetches() {
        let time = SleepingClock()
        let session = RateLimiter(RateLimit(Self.megabits(8)), time: time)
        let first = RateLimiter(nil, time: time, within: session)
        #expect(first.fetchCount(atMost: 6) == 4)
        var others = [
            RateLimiter(RateLimit(Self.megabits(2)), time: time, within: session),
            RateLimiter(RateLimit(Self.megabits(20)), time: time, within: session),
        ]
        #expect(([first] + others).map { $0.fetchCount(atMost: 6) } == [1, 1, 1])
        others.removeLast()
        #expect(([first] + others).map { $0.fetchCount(atMost: 6) } == [2, 1])
        others.removeLast()
        #expect(first.fetchCount(atMost: 6) == 4)
    }

    /// The first segment can be played early, because it does not share the rate with later ones.
    @Test(.timeLimit(.minutes(5))) func segmentsAreReceivedOneAfterTheOtherAtALowRate() async throws {
        let temporary = try TemporaryLibrary()
        defer { withExtendedLifetime(temporary) {} }
        let origin = "https://origin.example/"
        let server = ScriptedTransport(texts: [
            origin + "v.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n",
            origin + "a.ts": "first segment", origin + "b.ts": "second segment",
        ])
        let transport = BlockingTransport(server, blocking: origin + "a.ts")
        var configuration = DownloadSession.Configuration()
        configuration.maximumRate = Self.megabits(1)
        let session = try DownloadSession(
            identifier: "films",
            library: temporary.library,
            loader: ResourceLoader(transport),
            configuration: configuration
        )
        let task = try await session.makeTask(ResourceAddress(origin + "v.m3u8"))
        task.resume()
        while !server.requestedAddresses.contains(origin + "a.ts") {
            try await SystemTimeSource().sleep(for: .milliseconds(10))
        }
        #expect(!server.requestedAddresses.contains(origin + "b.ts"))
        transport.release()
        #expect(try await task.value().state == .complete)
    }

    /// At a low rate, a buffer of 64 KiB has the bytes of more than a second, and a small file can precede the first one.
    @Test(arguments: [0, 1_000]) func displayedRateIsThatOfTheLimit(firstSize: Int) async throws {
        let time = SleepingClock()
        let session = RateLimiter(RateLimit(BitRate(bitsPerSecond: 400_000)), time: time)
        let limiter = RateLimiter(RateLimit(Self.megabits(2)), time: time, within: session)
        var figures = DisplayedProgress(window: .seconds(10))
        figures.addReceived(0, at: time.now)
        var received: Int64 = 0
        var rates: [Double] = []
        for count in [firstSize] + Array(repeating: 65_536, count: 20) {
            try await limiter.waitAfterReceiving(count) { piece in
                received += Int64(piece)
                figures.addReceived(received, at: time.now)
                if let rate = figures.rate(at: time.now) { rates.append(rate) }
            }
        }
        #expect(received == Int64(firstSize + 20 * 65_536))
        #expect(rates.count > 50 && rates.allSatisfy { abs($0 - 50_000) <= 5_000 }, "\(rates)")
    }

    /// Received bytes count even if the task is canceled while it waits.
    @Test func bytesOfACanceledWaitCount() async {
        let task = Task { () -> (count: Int, isCanceled: Bool) in
            let limiter = RateLimiter(RateLimit(BitRate(bitsPerSecond: 8)), time: SleepingClock())
            while !Task.isCancelled { await Task.yield() }
            var counted = 0
            do {
                try await limiter.waitAfterReceiving(10) { counted += $0 }
                return (counted, false)
            } catch {
                return (counted, error is CancellationError)
            }
        }
        task.cancel()
        let result = await task.value
        #expect(result.count == 10 && result.isCanceled)
    }

    @Test func countedBytesAreThoseOfAQuarterOfASecond() {
        #expect(RateLimit(BitRate(bitsPerSecond: 400_000)).countedSize == 12_500)
        #expect(RateLimit(BitRate(bitsPerSecond: 0)).countedSize == 1)
    }

    @Test func extremeValuesGiveFiniteDelays() {
        var limit = RateLimit(BitRate(bitsPerSecond: 0))
        #expect(limit.rate.bitsPerSecond == 1 && limit.addBytes(1, at: .zero) == .seconds(8))
        var fast = RateLimit(BitRate(bitsPerSecond: .max))
        #expect(fast.addBytes(1 << 40, at: .zero) < .milliseconds(1))
        #expect(fast.fetchCount(atMost: 64) == 64)
    }

    @Test(arguments: [nil, BitRate(bitsPerSecond: 8_000)] as [BitRate?])
    func downloadWaitsForItsBytes(rate: BitRate?) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("millstream-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = "https://origin.example/"
        let transport = ScriptedTransport(texts: [
            origin + "v.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n",
            origin + "a.ts": String(repeating: "a", count: 3_000),
            origin + "b.ts": String(repeating: "b", count: 1_000),
        ])
        let time = SleepingClock()
        var options = DownloadConfiguration()
        options.maximumRate = rate
        let library = try AssetLibrary(directory: folder)
        let progress = Duration.milliseconds(200)
        let asset = try await AssetDownload(
            ResourceAddress(origin + "v.m3u8"),
            into: library,
            loader: ResourceLoader(transport),
            configuration: options,
            time: FetchClock(time, except: progress)
        ).run()
        #expect(asset.state == .complete && asset.bytes.bytes == 4_000)
        // At 1,000 bytes per second, 4,000 bytes take four seconds.
        #expect(time.slept.reduce(.zero, +) == (rate == nil ? .zero : .seconds(4)))
    }

    /// The server sends the entire resource instead of a range.
    @Test(.timeLimit(.minutes(10))) func bytesBeforeARangeCountForTheRate() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("millstream-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = """
            #EXTM3U
            #EXT-X-VERSION:4
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            #EXT-X-BYTERANGE:10000@90000
            all.ts
            #EXT-X-ENDLIST

            """
        let media = [UInt8](repeating: 7, count: 100_000)
        try await MisbehavingServer.withServer([
            "/v.m3u8": .text(playlist), "/all.ts": .init(media, servesRanges: false),
        ]) { server in
            let time = SleepingClock()
            var options = DownloadConfiguration()
            options.maximumRate = BitRate(bitsPerSecond: 8_000)
            let transport = HTTPTransport()
            let asset = try await AssetDownload(
                ResourceAddress(server.address("/v.m3u8")),
                into: try AssetLibrary(directory: folder),
                loader: ResourceLoader(transport),
                configuration: options,
                time: FetchClock(time, except: .milliseconds(200))
            ).run()
            try await transport.shutdown()
            #expect(asset.bytes == ByteCount(10_000))
            let waits = time.slept.reduce(.zero, +)
            #expect(waits >= .seconds(99) && waits <= .seconds(101), "\(waits)")
        }
    }
}

/// A clock on which the task that reports progress sleeps until it is canceled.
private final class FetchClock: TimeSource {
    private let base: SleepingClock
    private let ignored: Duration

    init(_ base: SleepingClock, except ignored: Duration) {
        self.base = base
        self.ignored = ignored
    }

    var now: Duration { base.now }

    func sleep(for duration: Duration) async throws {
        guard duration == ignored else { return try await base.sleep(for: duration) }
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        defer { continuation.finish() }
        for await _ in stream {}
        throw CancellationError()
    }
}
