import HTTPTypes
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests which track of a presentation leads, so that the others continue its breaks.
@Suite(.timeLimit(.minutes(2))) struct BreakLeadFaultTests {
    /// A storage in memory that records the keys that are stored, in order.
    private final class Store: BreakStore {
        private let base = MemoryBreakStore()
        private let stored = Mutex<[String]>([])

        var keys: [String] { stored.withLock { $0 } }

        func breaks(of key: String) async throws -> StoredBreaks { base.breaks(of: key) }

        func store(
            _ breaks: BreakTimelines,
            of key: String,
            replacing revision: Int64,
            for client: ClientNetwork?
        ) async throws -> Bool {
            stored.withLock { $0.append(key) }
            return try base.store(breaks, of: key, replacing: revision, for: client)
        }
    }

    /// Returns a live playlist with a break that begins at the given hour of a day.
    private static func live(_ hour: Int) -> String {
        let segments = (2..<10).map { number in
            (number == 6 ? "#EXT-X-CUE-OUT:12\n" : "") + "#EXTINF:4,\nsegment-\(number).ts\n"
        }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:2\n"
            + "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T0\(hour):00:00Z\n" + segments.joined()
    }

    private let store = Store()
    private let transport = ScriptedTransport(texts: [
        "https://h/first.m3u8": Self.live(5), "https://h/same.m3u8": Self.live(5),
        "https://h/earlier.m3u8": Self.live(4), "https://h/later.m3u8": Self.live(6),
        "https://h/alone.m3u8": Self.live(7),
        "https://h/ad.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nad.ts\n#EXT-X-ENDLIST\n",
    ])

    private func play(_ name: String, presentation: String?) async throws {
        let handler = PlaybackRequestHandler(
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            budget: try ServerCapacity(ServerLimits()).admit(),
            workers: .callingTask,
            breaks: store
        )
        let edits = "replace-breaks=https://h/ad.m3u8@cues" + (presentation.map { "&presentation=" + $0 } ?? "")
        let bytes = try await handler.playlist(
            for: PlaybackRequest(QueryItems("url=https://h/\(name).m3u8&" + edits))
        )
        #expect(String(decoding: bytes, as: UTF8.self).contains("https://h/ad.ts"), "\(name)")
    }

    @Test(arguments: [("same", 3), ("earlier", 3), ("later", 4)])
    func trackThatIsLaterLeads(name: String, count: Int) async throws {
        try await play("first", presentation: "p")
        // The breaks of the track, and those of the presentation.
        #expect(Set(store.keys).count == 2)
        try await play(name, presentation: "p")
        #expect(store.keys.count == count && Set(store.keys).count == 3)
        #expect(store.keys[1] != store.keys[0] && store.keys.suffix(count - 3).allSatisfy { $0 == store.keys[1] })
    }

    @Test func trackWithoutAPresentationHasItsOwnBreaks() async throws {
        try await play("alone", presentation: nil)
        #expect(store.keys.count == 1)
        // The same playlist has no other breaks.
        try await play("alone", presentation: nil)
        #expect(store.keys.count == 1)
    }
}
