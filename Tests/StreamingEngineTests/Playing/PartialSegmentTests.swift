import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

/// Tests of live streams with partial segments, which are not fetched.
@Suite struct PartialSegmentTests {
    /// Returns a live playlist of 4 s segments, with the parts of the segment that is being produced.
    private static func playlist(at now: Duration, canBlock: Bool) -> String {
        let seconds = Int(now.components.seconds)
        let end = 6 + seconds / 4
        var text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-PART-INF:PART-TARGET=1
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=\(canBlock ? "YES" : "NO"),PART-HOLD-BACK=3
            #EXT-X-MEDIA-SEQUENCE:\(end - 6)

            """
        for number in (end - 6)..<end { text += "#EXTINF:4,\nv\(number).ts\n" }
        for part in 0..<(seconds % 4) { text += "#EXT-X-PART:DURATION=1,URI=\"v\(end).\(part).ts\"\n" }
        return text
    }

    @Test(arguments: [true, false])
    func aPlaylistWithPartsIsRequestedOncePerTargetDuration(canBlock: Bool) async throws {
        let stream = OriginPlayback(wrapping: { BlockingReloads(base: $0, time: $1) }) { path, now in
            path.hasPrefix("main.m3u8") ? .text(Self.playlist(at: now, canBlock: canBlock)) : .media(ByteCount(10_000))
        }
        #expect(try await stream.playOut(within: .seconds(400)) == false)
        #expect(stream.position > MediaTime(seconds: 390))
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        let addresses = stream.events.all.compactMap { event -> String? in
            guard case .resourceRequest(let request) = event.kind, request.kind != .mediaSegment else { return nil }
            return request.address
        }
        #expect((95...101).contains(addresses.count), "\(addresses.count) requests")
        #expect(!addresses.contains { $0.contains("_HLS_part") })
        #expect(addresses.filter { $0.contains("_HLS_msn") }.count == (canBlock ? addresses.count - 1 : 0))
    }
}

/// A transport that holds a request for a playlist until the requested segment or part is available.
private struct BlockingReloads: Transport {
    let base: any Transport
    let time: any TimeSource

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if let sequence = Self.value("_HLS_msn=", in: request.address.text) {
            let part = Self.value("_HLS_part=", in: request.address.text)
            // Segment 6 is complete after 4 s, and its first part after 1 s.
            let available = (sequence - 6) * 4 + (part.map { $0 + 1 } ?? 4)
            try await time.sleep(for: max(.zero, .seconds(available) - time.now))
        }
        return try await base.send(request)
    }

    private static func value(_ name: String, in address: String) -> Int? {
        let parameter = address.split(whereSeparator: "?&".contains).first { $0.hasPrefix(name) }
        return parameter.flatMap { Int($0.dropFirst(name.count)) }
    }
}
