import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests of the limits within which segments are loaded ahead and shared.
@Suite(.timeLimit(.minutes(10))) struct SegmentSharingTests {
    /// An origin whose segments have four bytes, which arrive at once unless they are held back.
    private final class Origin: Sendable {
        private struct State {
            var loads: [String] = []
            var bodies: [AsyncStream<ByteBuffer>.Continuation] = []
        }
        private let state = Mutex(State())
        private let isHeld: Bool
        private let status: Int
        private let length: Int64
        private let headers: [HeaderField]

        init(isHeld: Bool = false, status: Int = 200, length: Int64 = 4, headers: [HeaderField] = []) {
            self.isHeld = isHeld
            self.status = status
            self.length = length
            self.headers = headers
        }

        var loads: [String] { state.withLock { $0.loads } }

        func load(_ key: SegmentMemory.Key) async throws -> TransportResponse {
            let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
            state.withLock { state in
                state.loads.append(key.address)
                state.bodies.append(continuation)
            }
            if !isHeld {
                continuation.yield(ByteBuffer(string: "abcd"))
                continuation.finish()
            }
            return TransportResponse(
                status: status,
                headers: headers,
                address: ResourceAddress(key.address),
                expectedLength: length,
                body: TransportBody(stream)
            )
        }

        func finish() {
            for body in state.withLock({ $0.bodies }) {
                body.yield(ByteBuffer(string: "abcd"))
                body.finish()
            }
        }
    }

    private func text(_ response: TransportResponse) async throws -> String {
        var text = ""
        for try await buffer in response.body { text += String(buffer: buffer) }
        return text
    }

    private func wait(_ condition: () -> Bool) async throws {
        for _ in 0..<3_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the condition did not hold within 30 s")
    }

    private func names(_ count: Int) -> [String] { (0..<count).map { "http://h/\($0).ts" } }

    private func playlist(_ names: [String], before: String = "") throws -> MediaPlaylist {
        let segments = names.map { "#EXTINF:4,\n\(before)\($0)\n" }.joined()
        return try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n\(segments)".utf8))
    }

    private func ask(_ memory: SegmentMemory, _ origin: Origin, _ address: String) async throws -> String {
        try await text(try await memory.response(to: SegmentMemory.Key(address: address), origin.load))
    }

    @Test func fewSegmentsAreLoadedAheadAtTheSameTime() async throws {
        let (memory, origin) = (SegmentMemory(aheadCount: 20), Origin(isHeld: true))
        let names = names(30)
        memory.store(order: try playlist(names))
        let first = try await memory.response(to: SegmentMemory.Key(address: names[0]), origin.load)
        try await wait { origin.loads.count >= 9 }
        try await Task.sleep(for: .milliseconds(20))
        #expect(Set(origin.loads) == Set(names[0...8]), "eight segments ahead")
        origin.finish()
        #expect(try await text(first) == "abcd")
    }

    @Test func onlyTheLatestSegmentsAreRetained() async throws {
        let (memory, origin) = (SegmentMemory(aheadCount: 1, time: ManualTime()), Origin())
        let names = names(301)
        memory.store(order: try playlist(names))
        for name in names.dropLast() { #expect(try await ask(memory, origin, name) == "abcd") }
        func isRetained(_ number: Int) -> Bool { memory.isLoaded(SegmentMemory.Key(address: names[number])) }
        try await wait { names.indices.count { isRetained($0) } == 256 }
        #expect(isRetained(300) && isRetained(60) && !isRetained(30) && !isRetained(1))
        // Each of them was loaded once, ahead of its request.
        #expect(origin.loads.count == 301)
    }

    @Test(arguments: ["no-store", "private, No-Store"])
    func segmentThatMayNotBeStoredIsLoadedAgain(field: String) async throws {
        let memory = SegmentMemory(aheadCount: 1, time: ManualTime())
        let origin = Origin(headers: [HeaderField("Cache-Control", field)])
        let names = names(2)
        memory.store(order: try playlist(names))
        #expect(try await ask(memory, origin, names[0]) == "abcd")
        try await wait { origin.loads.count == 2 && !memory.isLoaded(SegmentMemory.Key(address: names[1])) }
        #expect(try await ask(memory, origin, names[1]) == "abcd" && origin.loads.count == 3)
    }

    @Test func rangesAndLongAddressesHaveNoOrder() async throws {
        let long = "http://h/" + String(repeating: "a", count: 1_015)
        let cases: [(names: [String], before: String, count: Int)] = [
            (["http://h/0.ts", "http://h/1.ts"], "#EXT-X-BYTERANGE:4@0\n", 1),
            (["http://h/0.ts", long], "", 2), (["http://h/0.ts", long + "a"], "", 1),
        ]
        for (names, before, count) in cases {
            let (memory, origin) = (SegmentMemory(aheadCount: 1), Origin())
            memory.store(order: try playlist(names, before: before))
            #expect(try await ask(memory, origin, names[0]) == "abcd")
            try await wait { origin.loads.count >= count }
            try await Task.sleep(for: .milliseconds(20))
            #expect(origin.loads.count == count, "\(names[1].count)")
        }
    }

    @Test func lastOrderOfTheSegmentsCounts() async throws {
        let (memory, origin) = (SegmentMemory(aheadCount: 1, time: ManualTime()), Origin())
        memory.store(order: try playlist(["http://h/a.ts", "http://h/b.ts"]))
        memory.store(order: try playlist(["http://h/a.ts", "http://h/c.ts"]))
        #expect(try await ask(memory, origin, "http://h/a.ts") == "abcd")
        try await wait { origin.loads.count == 2 }
        #expect(Set(origin.loads) == ["http://h/a.ts", "http://h/c.ts"])
        #expect(memory.loadsAhead && !SegmentMemory().loadsAhead)
    }

    @Test(arguments: [(200, 1), (206, 1), (203, 2), (299, 2)])
    func onlyPlainResponsesAreShared(status: Int, loads: Int) async throws {
        let (memory, origin) = (SegmentMemory(), Origin(isHeld: true, status: status))
        let key = SegmentMemory.Key(address: "http://h/a.ts")
        let responses = [
            try await memory.response(to: key, origin.load), try await memory.response(to: key, origin.load),
        ]
        #expect(origin.loads.count == loads && responses.map(\.status) == [status, status])
        origin.finish()
        for response in responses { #expect(try await text(response) == "abcd") }
    }

    @Test func bodyShorterThanAnnouncedIsAnError() async throws {
        let origin = Origin(length: 5)
        let error = await #expect(throws: TransportError.self) {
            _ = try await ask(SegmentMemory(), origin, "http://h/a.ts")
        }
        #expect(error?.code == .connectionLost)
    }

    @Test func memoryIsReservedWithinItsLimits() {
        let memory = SharedMemory(responses: 4, total: 9)
        #expect([memory.reserve(5), memory.reserve(4), memory.reserve(4)] == [false, true, true])
        #expect([memory.reserve(2), memory.reserve(1), memory.reserve(1)] == [false, true, false])
        memory.release(4)
        #expect([memory.reserve(4), memory.reserve(1)] == [true, false])
    }

    @Test func conditionsDistinguishRequests() {
        let key = SegmentMemory.Key(address: "http://h/a.ts", range: "bytes=0-1", validator: "\"x\"")
        var conditional = key
        conditional.condition = HeaderField("If-None-Match", "\"y\"")
        #expect(key != conditional && key.size == 13 + 9 + 3 && conditional.size == key.size + 3)
    }
}
