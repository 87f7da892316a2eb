import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests of content steering with the requests that the engine sends (RFC 8216bis §7).
@Suite(.timeLimit(.minutes(5)))
struct SteeredPlaybackTests {
    private static let pathways = ["one", "two"]

    private static var multivariant: String {
        var text = "#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"steer.json\",PATHWAY-ID=\"one\"\n"
        for pathway in pathways {
            text += "#EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS=\"avc1.4d401e\",PATHWAY-ID=\"\(pathway)\"\n"
            text += "\(pathway)/v.m3u8\n"
        }
        return text
    }

    /// Returns the stream with a steering server.
    private static func stream(
        count: Int = 100,
        steering: @escaping @Sendable (_ path: String, _ now: Duration) -> SyntheticOrigin.Resource?
    ) -> OriginPlayback {
        OriginPlayback { path, now in
            if path == "main.m3u8" { return .text(multivariant) }
            if path.contains(".json") { return steering(path, now) }
            if path.hasSuffix(".ts") { return .media(ByteCount(100_000)) }
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            for number in 0..<count { text += "#EXTINF:6,\n\(number).ts\n" }
            return .text(text + "#EXT-X-ENDLIST\n")
        }
    }

    private static func manifest(_ priority: String, _ members: String = "") -> SyntheticOrigin.Resource {
        .text("{\"VERSION\":1,\"TTL\":30,\(members)\"PATHWAY-PRIORITY\":[\(priority)]}")
    }

    private static func steeringRequests(_ stream: OriginPlayback) -> [ResourceRequest] {
        stream.events.all.compactMap { event in
            guard case .resourceRequest(let request) = event.kind, request.address.contains(".json") else { return nil }
            return request
        }
    }

    private static func changes(_ stream: OriginPlayback) -> [String] {
        stream.events.all.compactMap { event in
            guard case .pathwayChanged(let from, let to) = event.kind else { return nil }
            return "\(from) \(to)"
        }
    }

    @Test func manifestsChangeThePathwayDuringPlayback() async throws {
        let stream = Self.stream { path, now in
            guard path.hasPrefix("steer.json?") else {
                return path.hasPrefix("sub/next.json?") && now > .seconds(60) ? Self.manifest("\"two\"") : .text("[]")
            }
            return Self.manifest("\"one\",\"two\"", "\"RELOAD-URI\":\"sub/next.json\",")
        }
        #expect(try await stream.playOut(within: .seconds(700)))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(Self.changes(stream) == ["one two"])
        let requests = Self.steeringRequests(stream)
        #expect(requests.allSatisfy { $0.kind == .other && $0.failure == nil })
        let root = OriginPlayback.root
        #expect(requests.first?.address == root + "steer.json?_HLS_pathway=%22one%22")
        #expect(requests.dropFirst().allSatisfy { $0.address.hasPrefix(root + "sub/next.json?_HLS_pathway=%22") })
        #expect(
            requests.last?.address.hasPrefix(root + "sub/next.json?_HLS_pathway=%22two%22") == true
        )
        #expect((19...21).contains(requests.count))
        let segments = stream.events.all.compactMap { event in
            if case .segmentLoaded(let segment) = event.kind { segment.address } else { nil }
        }
        #expect(segments.count == 100)
        #expect(segments.first == root + "one/0.ts" && segments.last == root + "two/99.ts")
        #expect(stream.skipped.isEmpty)
    }

    @Test func aRequestThatFailsIsNotRepeatedAtOnce() async throws {
        let error = TransportError(.status, "the server answered 503", status: 503)
        let stream = Self.stream(count: 60) { _, _ in .failure(error) }
        #expect(try await stream.playOut(within: .seconds(500)))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        let requests = Self.steeringRequests(stream)
        #expect(requests.count == 2 && requests.allSatisfy { $0.status == 503 })
        #expect(Self.changes(stream).isEmpty)
    }

    @Test func aManifestThatIsTooLargeIsNotRead() async throws {
        let stream = Self.stream(count: 10) { _, _ in
            .text(String(repeating: " ", count: 2 << 20) + "{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\"two\"]}")
        }
        #expect(try await stream.playOut(within: .seconds(100)))
        #expect(stream.engine.snapshot.hasPlayedToEnd && Self.changes(stream).isEmpty)
        #expect(Self.steeringRequests(stream).count == 1)
    }
}
