import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests of the limits of the segments in memory, and of their release.
@Suite(.timeLimit(.minutes(10))) struct SegmentMemoryDetailTests {
    /// A clock whose scheduled actions a test calls; each transfer that has ended schedules one.
    private final class ActionTime: TimeSource {
        private struct State {
            var now = Duration.zero
            var actions: [@Sendable () -> Void] = []
        }

        private let state = Mutex(State())

        var now: Duration { state.withLock { $0.now } }
        var actionCount: Int { state.withLock { $0.actions.count } }

        func advance(by duration: Duration) { state.withLock { $0.now += duration } }

        func runActions() {
            for action in state.withLock({ $0.actions }) { action() }
        }

        func sleep(for duration: Duration) async throws { advance(by: duration) }

        func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
            state.withLock { $0.actions.append(action) }
            return ScheduledAction {}
        }
    }

    private typealias Load = @Sendable (SegmentMemory.Key) async throws -> TransportResponse

    /// Returns a closure that loads segments with the same bytes.
    private func loading(_ bytes: ByteBuffer) -> Load {
        { key in
            let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
            continuation.yield(bytes)
            continuation.finish()
            return TransportResponse(
                status: 200,
                headers: [],
                address: ResourceAddress(key.address),
                expectedLength: Int64(bytes.readableBytes),
                body: TransportBody(stream)
            )
        }
    }

    /// Requests a segment, and returns the number of its bytes.
    private func receive(_ address: String, _ memory: SegmentMemory, _ load: @escaping Load) async throws -> Int {
        let response = try await memory.response(to: SegmentMemory.Key(address: address), load)
        var count = 0
        for try await buffer in response.body { count += buffer.readableBytes }
        return count
    }

    private func wait(_ condition: () -> Bool) async throws {
        for _ in 0..<6_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("the condition did not hold within 30 s")
    }

    private func playlist(_ names: [String]) throws -> MediaPlaylist {
        let segments = names.map { "#EXTINF:4,\n\($0)\n" }.joined()
        return try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)".utf8))
    }

    /// Four segments of 16 MiB each, with their keys, are the most.
    @Test(arguments: [(0, [1, 2, 3, 4]), (1, [2, 3, 4])] as [(Int, [Int])])
    func sizeOfTheRetainedSegmentsIsLimited(excess: Int, expected: [Int]) async throws {
        let names = (0..<5).map { "http://h/\($0).ts" }
        let size = (16 << 20) - names[0].utf8.count + excess
        let load = loading(ByteBuffer(repeating: 7, count: size))
        let time = ActionTime()
        let memory = SegmentMemory(aheadCount: 1, time: time)
        memory.store(order: try playlist(names))
        for (number, name) in names.dropLast().enumerated() {
            let count = try await receive(name, memory, load)
            #expect(count == size)
            // The first segment is not retained, but its transfer has ended too.
            try await wait { time.actionCount == number + 2 }
        }
        let retained = names.indices.filter { memory.isLoaded(SegmentMemory.Key(address: names[$0])) }
        #expect(retained == expected)
    }

    @Test func memoryOfARetainedSegmentIsReleased() async throws {
        let (time, shared) = (ActionTime(), SharedMemory(responses: 4, total: 8))
        let memory = SegmentMemory(aheadCount: 1, memory: shared, time: time)
        let names = ["http://h/0.ts", "http://h/1.ts"]
        memory.store(order: try playlist(names))
        let count = try await receive(names[0], memory, loading(ByteBuffer(string: "abcd")))
        #expect(count == 4)
        try await wait { time.actionCount == 2 }
        func isFree() -> Bool {
            guard shared.reserve(4) else { return false }
            defer { shared.release(4) }
            guard shared.reserve(4) else { return false }
            shared.release(4)
            return true
        }
        time.advance(by: .milliseconds(29_999))
        time.runActions()
        #expect(!isFree())
        time.advance(by: .milliseconds(1))
        // Without another request.
        time.runActions()
        try await wait { isFree() }
        withExtendedLifetime(memory) {}
    }

    @Test func sharedResponsesHaveTheDocumentedLimits() {
        let memory = SharedMemory()
        #expect(!memory.reserve((16 << 20) + 1))
        for _ in 0..<8 { #expect(memory.reserve(16 << 20)) }
        #expect(!memory.reserve(1))
    }

    @Test(arguments: [(9_998, true), (9_999, false)])
    func orderOfTheFirstSegmentsIsKnown(number: Int, isKnown: Bool) async throws {
        let names = (0..<10_001).map { "http://h/\($0).ts" }
        let memory = SegmentMemory(aheadCount: 1, time: ManualTime())
        memory.store(order: try playlist(names))
        _ = try await receive(names[number], memory, loading(ByteBuffer(string: "abcd")))
        #expect(memory.isLoaded(SegmentMemory.Key(address: names[number + 1])) == isKnown)
    }

    /// Pairs of URLs of 1 KiB each; the same pairs do not count twice.
    @Test(arguments: [(8_193, 2, true), (8_194, 1, false)])
    func sizeOfTheOrderIsLimited(count: Int, stores: Int, isKnown: Bool) async throws {
        let filling = String(repeating: "a", count: 1_006)
        let names = (10_000..<(10_000 + count)).map { "http://h/\(filling)/\($0).ts" }
        try #require(names[0].utf8.count == 1_024)
        let memory = SegmentMemory(aheadCount: 1, time: ManualTime())
        let playlist = try playlist(names)
        for _ in 0..<stores { memory.store(order: playlist) }
        _ = try await receive(names[0], memory, loading(ByteBuffer(string: "abcd")))
        #expect(memory.isLoaded(SegmentMemory.Key(address: names[1])) == isKnown)
    }
}
