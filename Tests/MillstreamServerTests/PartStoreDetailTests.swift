import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests of the capacity that the division of segments uses.
@Suite struct PartStoreDetailTests {
    private static let segment: [UInt8] = (0..<40).flatMap { number in
        [0xFF, 0xF1, 0x50, 0x80, 0x19, 0x1F, 0xFC] + [UInt8](repeating: UInt8(number), count: 193)
    }
    private static let date = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    /// An origin that does not answer until the request is canceled.
    private final class StalledOrigin: Transport {
        private let count = Mutex(0)

        var requestCount: Int { count.withLock { $0 } }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            count.withLock { $0 += 1 }
            while true { try await Task.sleep(for: .seconds(3_600)) }
        }
    }

    private func part(_ name: String) throws -> SegmentPart {
        let fragment = "part=0&count=4&target=0.5&duration=2&date=\(Self.date.sinceEpoch)"
        return try #require(SegmentPart(of: ResourceAddress("http://h/\(name)#\(fragment)")))
    }

    private func store(_ capacity: ServerCapacity) -> PartStore {
        PartStore(workers: .callingTask, capacity: capacity, date: { Self.date })
    }

    @Test(.timeLimit(.minutes(1)), arguments: [(PartLimits(), 64), (PartLimits(concurrentDivisions: 2), 2)])
    func numberOfDivisionsIsLimited(limits: PartLimits, count: Int) async throws {
        let origin = StalledOrigin()
        let store = store(ServerCapacity(ServerLimits(parts: limits)))
        let loader = ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        let parts = try (0...count).map { try part("\($0).aac") }
        let tasks = parts.prefix(count).map { part in
            Task { try await store.bytes(of: part, isForeign: false, loader) }
        }
        while origin.requestCount < count { try await Task.sleep(for: .milliseconds(5)) }
        let refusal = await #expect(throws: ServerError.self) {
            try await store.bytes(of: parts[count], isForeign: false, loader)
        }
        #expect(refusal?.status == .serviceUnavailable && refusal?.code == "busy")
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }

    @Test(arguments: [(8_000, true), (7_999, false)] as [(Int64, Bool)])
    func sizeOfADividedSegmentIsLimited(limit: Int64, isDivided: Bool) async throws {
        let store = store(ServerCapacity(ServerLimits(parts: PartLimits(segmentBytes: ByteCount(limit)))))
        let transport = ScriptedTransport(["http://h/a.aac": [.bytes(Self.segment)]])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        var outcome = "divided"
        do {
            _ = try await store.bytes(of: part("a.aac"), isForeign: false, loader)
        } catch {
            outcome = ServerError(error).code
        }
        #expect(outcome == (isDivided ? "divided" : "too-large"))
    }

    /// The last segment stays in memory, whatever its size.
    @Test(arguments: [(ByteCount(64 << 20), 2), (.zero, 3)] as [(ByteCount, Int)])
    func sizeOfDividedSegmentsInMemoryIsLimited(limit: ByteCount, requests: Int) async throws {
        let store = store(ServerCapacity(ServerLimits(parts: PartLimits(retainedBytes: limit))))
        let transport = ScriptedTransport([
            "http://h/a.aac": [.bytes(Self.segment)], "http://h/b.aac": [.bytes(Self.segment)],
        ])
        for name in ["a.aac", "b.aac", "b.aac", "a.aac"] {
            _ = try await store.bytes(of: part(name), isForeign: false, ResourceLoader(transport))
        }
        #expect(transport.requestedAddresses.count == requests)
    }

    /// The segment and its parts are in memory at the same time.
    @Test(arguments: [(16_000, nil), (15_999, "busy")] as [(Int64, String?)])
    func divisionReservesTheSegmentTwice(pendingBytes: Int64, expected: String?) async throws {
        let transport = ScriptedTransport(["http://h/a.aac": [.bytes(Self.segment)]])
        let capacity = ServerCapacity(ServerLimits(pendingBytes: ByteCount(pendingBytes)))
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        var code: String?
        do {
            let bytes = try await store(capacity).bytes(of: part("a.aac"), isForeign: false, loader)
            #expect(bytes.readableBytes == 2_000)
        } catch {
            code = ServerError(error).code
        }
        #expect(code == expected)
    }
}

/// Tests the time for which a response waits for the check of stitched playlists.
@Suite(.timeLimit(.minutes(10))) struct StitchVerificationDetailTests {
    /// An origin that answers after a minute.
    private struct SlowOrigin: Transport {
        let time: Simulation

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await time.sleep(for: .seconds(60))
            throw TransportError(.timedOut, "too late", address: request.address)
        }
    }

    @Test func responseWaitsForFiveSeconds() async throws {
        let transport = ScriptedTransport(texts: [
            "https://h/main.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n",
            "https://h/ad.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nad.ts\n#EXT-X-ENDLIST\n",
        ])
        let time = Simulation()
        try await time.run {
            let policy = RecoveryPolicy(retries: 0)
            let budget = try ServerCapacity(ServerLimits()).admit()
            let slow = ResourceLoader(SlowOrigin(time: time), policy: policy, time: time)
            let verification = StitchVerification(
                loader: OriginPlaylistLoader(loader: slow, workers: .callingTask),
                budget: budget.editing,
                workers: .callingTask,
                time: time
            )
            let handler = PlaybackRequestHandler(
                loader: ResourceLoader(transport, policy: policy, time: time),
                budget: budget,
                workers: .callingTask,
                verification: verification
            )
            let query = QueryItems("url=https://h/main.m3u8&append=https://h/ad.m3u8")
            let bytes = try await handler.playlist(for: PlaybackRequest(query))
            #expect(String(decoding: bytes, as: UTF8.self).contains("low.m3u8"))
            #expect(time.now == .seconds(5))
        }
    }
}
