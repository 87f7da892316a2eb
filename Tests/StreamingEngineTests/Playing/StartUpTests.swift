import MediaTiming
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests of the number of requests before the first frame.
@Suite struct StartUpTests {
    private func requestsBeforeTheFirstMedia(hasMultivariant: Bool, isFragmented: Bool) async throws -> [String] {
        let stream = OriginPlayback { path, _ in
            let map = isFragmented ? "#EXT-X-MAP:URI=\"init.mp4\"\n" : ""
            let segments = (0..<10).map { "#EXTINF:6,\n\($0).media\n" }.joined()
            let media = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n\(map)\(segments)#EXT-X-ENDLIST\n"
            switch path {
            case "main.m3u8" where hasMultivariant:
                return .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\nmedia.m3u8\n")
            case "main.m3u8", "media.m3u8": return .text(media)
            case "init.mp4": return .media(ByteCount(800))
            default: return .media(ByteCount(500_000))
            }
        }
        _ = try await stream.playOut(within: .seconds(100))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        var asked: [String] = []
        for event in stream.events.all {
            if case .resourceRequest(let request) = event.kind { asked.append(request.address) }
            if case .segmentLoaded = event.kind { break }
        }
        return asked.map { String($0.dropFirst(OriginPlayback.root.count)) }
    }

    @Test func aTransportStreamStartsAfterThreeRequests() async throws {
        let asked = try await requestsBeforeTheFirstMedia(hasMultivariant: true, isFragmented: false)
        #expect(asked == ["main.m3u8", "media.m3u8", "0.media"])
    }

    @Test func fragmentedMediaStartsAfterFourRequests() async throws {
        let asked = try await requestsBeforeTheFirstMedia(hasMultivariant: true, isFragmented: true)
        #expect(asked.sorted() == ["0.media", "init.mp4", "main.m3u8", "media.m3u8"])
    }

    @Test(arguments: [false, true])
    func aMediaPlaylistStartsAfterOneRequestLess(isFragmented: Bool) async throws {
        let asked = try await requestsBeforeTheFirstMedia(hasMultivariant: false, isFragmented: isFragmented)
        #expect(asked.count == (isFragmented ? 3 : 2))
    }

    /// The bit rate of the highest variant does not delay the start while the lowest one is fetched.
    @Test func playbackStartsWithTheFirstSegmentIfTheNetworkIsFastEnough() async throws {
        let link = LinkProfile(
            name: "slow",
            down: LinkProfile.DirectionConditions(bandwidth: BitRate(bitsPerSecond: 600_000))
        )
        let stream = OriginPlayback(link: link) { path, now in StreamShape.muxed.resource(path, now) }
        _ = try await stream.playOut(within: .seconds(200))
        let start = stream.events.all.first { event in
            if case .rateChanged(let change) = event.kind { change.rate > 0 } else { false }
        }
        // 225 kB at 75 kB a second, and the time for the playlists.
        let time = try #require(start?.time)
        #expect(time > .seconds(3) && time < .milliseconds(3_500))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
    }
}
