import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests of segments that pass through the server.
@Suite(.timeLimit(.minutes(10))) struct SegmentMemoryTests {
    /// An origin whose responses are sent when the test permits it.
    private final class Origin: Sendable {
        private struct State {
            var loads: [SegmentMemory.Key] = []
            var bodies: [AsyncStream<ByteBuffer>.Continuation] = []
            var cancellations = 0
        }

        private let state = Mutex(State())
        private let length: Int64?
        private let isImmediate: Bool

        init(length: Int64? = 4, isImmediate: Bool = false) {
            self.length = length
            self.isImmediate = isImmediate
        }

        var loads: [SegmentMemory.Key] { state.withLock { $0.loads } }
        var cancellations: Int { state.withLock { $0.cancellations } }

        func load(_ key: SegmentMemory.Key) async throws -> TransportResponse {
            let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
            continuation.onTermination = { end in
                if case .cancelled = end { self.state.withLock { $0.cancellations += 1 } }
            }
            state.withLock { state in
                state.loads.append(key)
                state.bodies.append(continuation)
            }
            if isImmediate {
                continuation.yield(ByteBuffer(string: "abcd"))
                continuation.finish()
            }
            return TransportResponse(
                status: 200,
                headers: [],
                address: ResourceAddress(key.address),
                expectedLength: length,
                body: TransportBody(stream)
            )
        }

        func send(_ text: String, to index: Int = 0) {
            _ = state.withLock { $0.bodies[index] }.yield(ByteBuffer(string: text))
        }

        func finish(_ index: Int = 0) { state.withLock { $0.bodies[index] }.finish() }
    }

    private func text(_ response: TransportResponse) async throws -> String {
        var text = ""
        for try await buffer in response.body { text += String(buffer: buffer) }
        return text
    }

    private func wait(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test func identicalRequestsAreJoined() async throws {
        let (memory, origin) = (SegmentMemory(), Origin())
        let key = SegmentMemory.Key(address: "http://h/a.ts")
        let first = try await memory.response(to: key, origin.load)
        origin.send("ab")
        let second = try await memory.response(to: key, origin.load)
        let other = try await memory.response(
            to: SegmentMemory.Key(address: key.address, range: "bytes=0-1"),
            origin.load
        )
        origin.send("cd")
        origin.finish()
        origin.send("efgh", to: 1)
        origin.finish(1)
        // Each request receives all bytes, those before it was made as well.
        #expect(try await text(first) == "abcd")
        #expect(try await text(second) == "abcd")
        #expect(try await text(other) == "efgh")
        #expect(origin.loads.map(\.range) == [nil, "bytes=0-1"])
        // What is complete is not kept unless that is asked for.
        let later = Origin(isImmediate: true)
        while later.loads.isEmpty {
            #expect(try await text(try await memory.response(to: key, later.load)) == "abcd")
        }
    }

    @Test func errorsReachAllRequests() async throws {
        let memory = SegmentMemory()
        let failure = TransportError(.status, "no", status: 404)
        let load: @Sendable (SegmentMemory.Key) async throws -> TransportResponse = { _ in
            try await Task.sleep(for: .milliseconds(30))
            throw failure
        }
        let key = SegmentMemory.Key(address: "http://h/a.ts")
        let errors = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do { _ = try await memory.response(to: key, load) } catch {
                        return (error as? TransportError)?.status
                    }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors == [404, 404, 404])
        // The next request tries again.
        let response = try await memory.response(to: key, Origin(isImmediate: true).load)
        #expect(try await text(response) == "abcd")
    }

    @Test func transferEndsWithItsLastReader() async throws {
        let (memory, origin) = (SegmentMemory(), Origin())
        let key = SegmentMemory.Key(address: "http://h/a.ts")
        var first: TransportResponse? = try await memory.response(to: key, origin.load)
        var second: TransportResponse? = try await memory.response(to: key, origin.load)
        origin.send("ab")
        #expect(first != nil && second != nil)
        first = nil
        try await Task.sleep(for: .milliseconds(20))
        #expect(origin.cancellations == 0)
        second = nil
        try await wait { origin.cancellations == 1 }
    }

    @Test(arguments: [nil, 17 << 20] as [Int64?])
    func largeSegmentsAreNotKeptInMemory(length: Int64?) async throws {
        let (memory, origin) = (SegmentMemory(aheadCount: 1), Origin(length: length, isImmediate: true))
        let key = SegmentMemory.Key(address: "http://h/a.ts")
        for count in 1...2 {
            let response = try await memory.response(to: key, origin.load)
            #expect(try await text(response) == "abcd" && origin.loads.count == count)
        }
    }

    @Test func responsesAreSharedWhileThereIsMemory() async throws {
        let (memory, origin) = (SegmentMemory(memory: SharedMemory(responses: 4, total: 9)), Origin())
        var held: [TransportResponse] = []
        for (number, loads) in [(0, 1), (1, 2), (1, 2), (2, 3), (2, 4)] {
            held.append(
                try await memory.response(to: SegmentMemory.Key(address: "http://h/\(number).ts"), origin.load)
            )
            #expect(origin.loads.count == loads, "\(number)")
        }
        held = []
        // The memory of segments that are not read anymore is free again.
        try await wait { origin.cancellations == 4 }
        let later = Origin(isImmediate: true)
        for _ in 0..<2 {
            held.append(try await memory.response(to: SegmentMemory.Key(address: "http://h/3.ts"), later.load))
        }
        #expect(try await text(held[0]) == "abcd")
        #expect(try await text(held[1]) == "abcd")
    }

    @Test func bodyLongerThanAnnouncedIsAnError() async throws {
        let origin = Origin(length: 16 << 20)
        let response = try await SegmentMemory().response(to: SegmentMemory.Key(address: "http://h/a.ts"), origin.load)
        for _ in 0..<17 { origin.send(String(repeating: "x", count: 1 << 20)) }
        await #expect(throws: TransportError.self) { _ = try await text(response) }
    }

    @Test func nextSegmentsAreLoadedAhead() async throws {
        let time = ManualTime()
        let (memory, origin) = (SegmentMemory(aheadCount: 2, time: time), Origin(isImmediate: true))
        let names = (0..<6).map { "http://h/\($0).ts" }
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + names.map { "#EXTINF:4,\n\($0)\n" }.joined()
        memory.store(order: try MediaPlaylist(parsing: Array(list.utf8)))
        func ask(_ number: Int) async throws -> String {
            try await text(try await memory.response(to: SegmentMemory.Key(address: names[number]), origin.load))
        }
        #expect(try await ask(0) == "abcd")
        try await wait { origin.loads.count == 3 }
        #expect(Set(origin.loads.map(\.address)) == Set(names[0...2]))
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await ask(1) == "abcd")
        try await wait { origin.loads.count == 4 }
        #expect(origin.loads.last?.address == names[3])
        // A part of a segment is no sign of playback in order.
        _ = try await memory.response(to: SegmentMemory.Key(address: names[3], range: "bytes=0-1"), origin.load)
        #expect(origin.loads.count == 5)
        time.advance(by: .seconds(30))
        #expect(try await ask(1) == "abcd")
        try await wait { origin.loads.count >= 6 }
        #expect(origin.loads[5...].map(\.address).contains(names[1]))
    }

    @Test(arguments: [(ByteCount(64 << 20), 2), (.zero, 3)] as [(ByteCount, Int)])
    func segmentsThatAreLoadedAheadAreKeptUpToTheLimit(limit: ByteCount, loads: Int) async throws {
        let memory = SegmentMemory(aheadCount: 1, retainedBytes: limit)
        let origin = Origin(isImmediate: true)
        let keys = (0..<2).map { SegmentMemory.Key(address: "http://h/\($0).ts") }
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + keys.map { "#EXTINF:4,\n\($0.address)\n" }.joined()
        memory.store(order: try MediaPlaylist(parsing: Array(list.utf8)))
        #expect(try await text(try await memory.response(to: keys[0], origin.load)) == "abcd")
        try await wait { origin.loads.count == 2 }
        if limit == .zero { try await wait { !memory.isLoaded(keys[1]) } }
        #expect(try await text(try await memory.response(to: keys[1], origin.load)) == "abcd")
        #expect(origin.loads.count == loads)
    }

    @Test func otherOriginsDoNotFollow() async throws {
        let (memory, origin) = (SegmentMemory(aheadCount: 2), Origin(isImmediate: true))
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nhttp://h/0.ts\n#EXTINF:4,\nhttp://other/1.ts\n"
        memory.store(order: try MediaPlaylist(parsing: Array(list.utf8)))
        let key = SegmentMemory.Key(address: "http://h/0.ts")
        #expect(try await text(try await memory.response(to: key, origin.load)) == "abcd")
        try await Task.sleep(for: .milliseconds(20))
        #expect(origin.loads.map(\.address) == ["http://h/0.ts"])
    }

    @Test func requestAfterTheLastReaderStartsAnew() async throws {
        let (memory, origin) = (SegmentMemory(), Origin())
        let key = SegmentMemory.Key(address: "http://h/a.ts")
        var first: TransportResponse? = try await memory.response(to: key, origin.load)
        #expect(first != nil)
        first = nil
        // At once, before the canceled transfer has ended.
        let second = try await memory.response(to: key, origin.load)
        #expect(origin.loads.count == 2)
        origin.send("abcd", to: 1)
        origin.finish(1)
        #expect(try await text(second) == "abcd")
    }
}
