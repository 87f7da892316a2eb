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

/// Tests the delivery of partial segments, which are made of whole segments.
@Suite struct PartStoreTests {
    /// A segment of 40 frames of AAC of 200 bytes.
    private static let segment: [UInt8] = (0..<40).flatMap { number in
        [0xFF, 0xF1, 0x50, 0x80, 0x19, 0x1F, 0xFC] + [UInt8](repeating: UInt8(number), count: 193)
    }
    private static let date = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    private let transport = ScriptedTransport([
        "http://h/a.aac": [.bytes(Self.segment)], "http://h/b.vtt": [.text("WEBVTT\n\n")],
    ])
    private let capacity = ServerCapacity(ServerLimits())

    private func store(_ time: any TimeSource) -> PartStore {
        PartStore(workers: .callingTask, capacity: capacity, time: time, date: { Self.date })
    }

    private func part(_ index: Int, _ name: String = "a.aac", after seconds: Int64 = 0) throws -> SegmentPart {
        let publication = Self.date.sinceEpoch + MediaTime(seconds: seconds)
        let fragment = "part=\(index)&count=4&target=0.5&duration=2&date=\(publication)"
        return try #require(SegmentPart(of: ResourceAddress("http://h/\(name)#\(fragment)")))
    }

    @Test(.timeLimit(.minutes(10))) func segmentIsLoadedOnceForItsParts() async throws {
        let store = store(SystemTimeSource())
        let loader = ResourceLoader(transport)
        let parts = try await withThrowingTaskGroup(of: (Int, ByteBuffer).self) { group in
            for index in 0..<4 {
                let part = try part(index)
                group.addTask { (index, try await store.bytes(of: part, isForeign: false, loader)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let joined = (0..<4).compactMap { parts[$0] }.flatMap { Array($0.readableBytesView) }
        #expect(joined == Self.segment && parts.values.allSatisfy { $0.readableBytes == 2_000 })
        #expect(transport.requestedAddresses == ["http://h/a.aac"])
        // Pages of other sites load what they may load themselves.
        _ = try await store.bytes(of: part(0), isForeign: true, loader)
        #expect(transport.requestedAddresses.count == 2)
        #expect(capacity.pendingRequests == 0 && capacity.pendingBytes == 0)
    }

    @Test(.timeLimit(.minutes(10))) func segmentIsLoadedAgainAfterHalfAMinute() async throws {
        let simulation = Simulation()
        try await simulation.run {
            let store = store(simulation)
            let loader = ResourceLoader(transport, time: simulation)
            _ = try await store.bytes(of: part(0), isForeign: false, loader)
            try await simulation.sleep(for: .seconds(29))
            _ = try await store.bytes(of: part(1), isForeign: false, loader)
            #expect(transport.requestedAddresses.count == 1)
            try await simulation.sleep(for: .seconds(1))
            _ = try await store.bytes(of: part(2), isForeign: false, loader)
            #expect(transport.requestedAddresses.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(10))) func partIsDeliveredWhenItIsPublished() async throws {
        let simulation = Simulation()
        try await simulation.run {
            let store = store(simulation)
            let loader = ResourceLoader(transport, time: simulation)
            _ = try await store.bytes(of: part(1, after: 12), isForeign: false, loader)
            #expect(simulation.now == .seconds(12))
            _ = try await store.bytes(of: part(1, after: 30), isForeign: false, loader)
            #expect(simulation.now == .seconds(42))
            await #expect { try await store.bytes(of: part(1, after: 31), isForeign: false, loader) } throws: {
                ($0 as? ServerError)?.status == .notFound
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func segmentThatCannotBeDividedIsNotLoadedForEachPart() async throws {
        let store = store(SystemTimeSource())
        let loader = ResourceLoader(transport)
        for index in 0..<4 {
            await #expect { try await store.bytes(of: part(index, "b.vtt"), isForeign: false, loader) } throws: {
                ($0 as? ServerError)?.code == "not-divisible"
            }
        }
        #expect(transport.requestedAddresses == ["http://h/b.vtt"])
        await #expect(throws: TransportError.self) {
            try await store.bytes(of: part(0, "missing.aac"), isForeign: false, loader)
        }
    }
}
