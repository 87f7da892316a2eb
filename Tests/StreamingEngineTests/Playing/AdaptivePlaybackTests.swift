import Adaptation
import HLSPlaylist
import MediaTiming
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests of the variant that is fetched when the throughput changes or a server fails.
@Suite struct AdaptivePlaybackTests {
    private static func rates(_ stream: OriginPlayback, within times: ClosedRange<Duration>) -> [Int64] {
        stream.events.all.compactMap { event in
            guard case .segmentLoaded(let segment) = event.kind, times.contains(event.time) else { return nil }
            return segment.variant?.peakBitRate.bitsPerSecond
        }
    }

    /// A stream of ten minutes in segments of six seconds, with three variants.
    private static func resource(_ path: String) -> SyntheticOrigin.Resource? {
        if path == "main.m3u8" {
            let variants = StreamShape.rates.enumerated().map {
                "#EXT-X-STREAM-INF:BANDWIDTH=\($0.element)\n\($0.offset)-media.m3u8\n"
            }
            return .text("#EXTM3U\n" + variants.joined())
        }
        let parts = path.split(separator: "-", maxSplits: 1).map(String.init)
        guard parts.count == 2, let variant = Int(parts[0]), StreamShape.rates.indices.contains(variant) else {
            return nil
        }
        if parts[1] == "media.m3u8" {
            let segments = (0..<100).map { "#EXTINF:6,\n\(variant)-\($0).ts\n" }.joined()
            return .text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(segments)#EXT-X-ENDLIST\n")
        }
        return .media(ByteCount(Int64(StreamShape.rates[variant] / 8 * 6)))
    }

    @Test func theVariantFollowsTheThroughput() async throws {
        let (fast, slow) = (BitRate(bitsPerSecond: 10_000_000), BitRate(bitsPerSecond: 600_000))
        let trace = LinkTrace([
            .init(duration: .seconds(150), bandwidth: fast), .init(duration: .seconds(200), bandwidth: slow),
            .init(duration: .seconds(1_000), bandwidth: fast),
        ])
        let link = LinkProfile(name: "falling", trace: trace)
        let stream = OriginPlayback(link: link) { path, _ in Self.resource(path) }
        #expect(try await stream.playOut(within: .seconds(900)))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        let (before, during, after) = (
            Self.rates(stream, within: .seconds(60) ... .seconds(150)),
            Self.rates(stream, within: .seconds(220) ... .seconds(350)),
            Self.rates(stream, within: .seconds(450) ... .seconds(900))
        )
        #expect(!before.isEmpty && before.allSatisfy { $0 == 2_400_000 }, "\(before)")
        // The buffer is played before the variant changes.
        #expect(during.count > 12 && during.allSatisfy { $0 < 2_400_000 }, "\(during)")
        #expect(during.suffix(10).allSatisfy { $0 == 300_000 }, "\(during)")
        #expect(!after.isEmpty && after.suffix(10).allSatisfy { $0 == 2_400_000 }, "\(after)")
        #expect(!stream.events.all.contains { $0.kind == .stalled })
    }

    @Test func segmentsThatTheFirstLocationLacksAreFetchedFromTheSecond() async throws {
        let text = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=300000,STABLE-VARIANT-ID="a"
            first/0-media.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=300000,STABLE-VARIANT-ID="a"
            second/0-media.m3u8

            """
        let stream = OriginPlayback { path, _ in
            if path == "main.m3u8" { return .text(text) }
            // The first location has no segments after the third.
            if path.hasPrefix("first/") {
                let name = String(path.dropFirst(6))
                let isGone = name.hasSuffix(".ts") && !["0-0.ts", "0-1.ts", "0-2.ts"].contains(name)
                return isGone ? nil : Self.resource(name)
            }
            return path.hasPrefix("second/") ? Self.resource(String(path.dropFirst(7))) : nil
        }
        #expect(try await stream.playOut(within: .seconds(900)))
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.skipped.isEmpty)
        let loaded = stream.events.all.compactMap { event -> String? in
            guard case .segmentLoaded(let segment) = event.kind else { return nil }
            return String(segment.address.dropFirst(OriginPlayback.root.count).prefix { $0 != "/" })
        }
        #expect(loaded == Array(repeating: "first", count: 3) + Array(repeating: "second", count: 97))
    }
}
