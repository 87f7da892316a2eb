import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the memory that resources of a stream may use.
@Suite struct MemoryLimitTests {
    private static let root = "https://origin.example/"

    /// Loads segments with initialization sections of the given size, and returns the names of the requested sections.
    private static func requests(sections: [Int], bytes: Int) async throws -> [String] {
        let simulation = Simulation()
        var responses: [String: [ScriptedTransport.Response]] = [root + "s.mp4": [.text("media")]]
        let section = String(repeating: "x", count: bytes)
        for number in Set(sections) { responses[root + "init\(number).mp4"] = [.text(section)] }
        let transport = ScriptedTransport(responses, time: simulation)
        let fetch = ResourceFetcher(
            loader: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            time: simulation
        )
        try await simulation.run {
            let loader = SegmentLoader(fetch) { _ in }
            for number in sections {
                let text = """
                    #EXTM3U
                    #EXT-X-TARGETDURATION:6
                    #EXT-X-MAP:URI="init\(number).mp4"
                    #EXTINF:6,
                    s.mp4
                    #EXT-X-ENDLIST

                    """
                let timeline = PresentationTimeline(try media(text, at: root + "media.m3u8"))
                let segment = try #require(timeline.segments.first)
                _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            }
        }
        return transport.requestedAddresses.filter { $0.contains("init") }.map { String($0.dropFirst(root.count)) }
    }

    @Test func initializationSectionsAreLimitedInBytes() async throws {
        let bytes = SegmentLoader.maximumCacheSize / 3
        let asked = try await Self.requests(sections: [0, 1, 2, 0, 3, 0, 1], bytes: bytes)
        // The fourth section replaces the least recently used one, which is then loaded again.
        #expect(asked == ["init0.mp4", "init1.mp4", "init2.mp4", "init3.mp4", "init1.mp4"])
    }

    @Test func smallInitializationSectionsAreLoadedOnce() async throws {
        let asked = try await Self.requests(sections: [0, 1, 2, 0, 1, 2], bytes: 1_000)
        #expect(asked.count == 3)
    }

    @Test func aPageInsteadOfAKeyIsNotLoadedCompletely() async throws {
        let simulation = Simulation()
        let transport = ScriptedTransport(
            [
                Self.root + "s.ts": [.text("media")],
                Self.root + "key": [.text(String(repeating: "x", count: 1 << 20))],
            ],
            time: simulation
        )
        let fetch = ResourceFetcher(
            loader: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            time: simulation
        )
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXTINF:6,
            s.ts
            #EXT-X-ENDLIST

            """
        let timeline = PresentationTimeline(try media(text, at: Self.root + "media.m3u8"))
        let segment = try #require(timeline.segments.first)
        let failure = try await simulation.run {
            let loader = SegmentLoader(fetch) { _ in }
            do {
                _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
                return nil as TransportError?
            } catch SegmentLoader.Failure.transport(let error, .contentKey) {
                return error
            }
        }
        #expect(failure?.code == .tooLarge)
    }

    @Test func aTimelineEstimatesItsMemory() throws {
        func byteCount(_ count: Int) throws -> Int {
            let segments = String(repeating: "#EXTINF:6,\ns.ts\n", count: count)
            return PresentationTimeline(try media("#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + segments)).byteCount
        }
        let (one, many) = (try byteCount(1), try byteCount(1_001))
        #expect(many - one == 1_000 * (16 + 64))
    }
}
