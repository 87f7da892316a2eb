import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamTesting
import Testing

/// Tests of stitched and divided streams as a player receives them from the server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StitchedPresentationTests {
    private static let main = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=500000,AVERAGE-BANDWIDTH=400000,RESOLUTION=640x360
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,AVERAGE-BANDWIDTH=2500000,RESOLUTION=1280x720
        high.m3u8
        """
    private static let advertisement = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=900000,AVERAGE-BANDWIDTH=600000,RESOLUTION=640x360
        ad-low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1900000,RESOLUTION=1280x720
        ad-high.m3u8
        """

    private static func media(_ name: String) -> String {
        let segments = (0..<2).map { "#EXTINF:4,\n\(name)-\($0).ts\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + segments + "#EXT-X-ENDLIST\n"
    }

    /// A player that selects a variant by its bit rate has to know that of the advertisement in it.
    @Test(arguments: ["append=AD", "prepend=AD", "insert=AD@4", "insert=AD@4&append=AD"])
    func bitRatesIncludeThoseOfAnAdvertisement(edits: String) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.serve("/main.m3u8", Self.main)
            stage.serve("/ad.m3u8", Self.advertisement)
            for name in ["low", "high", "ad-low", "ad-high"] { stage.serve("/\(name).m3u8", Self.media(name)) }
            let address = "/play.m3u8?url=\(stage.origin.address("/main.m3u8"))"
            func variants(_ query: String) async throws -> [Variant] {
                let response = try await stage.ask(address + query)
                try #require(response.status == 200, "\(response.body)")
                return try MultivariantPlaylist(parsing: Array(response.body.utf8)).variants
            }
            let plain = try await variants("")
            #expect(plain.map { $0.bandwidth?.bitsPerSecond } == [500_000, 3_000_000])
            let query = edits.replacing("AD", with: stage.origin.address("/ad.m3u8"))
            let stitched = try await variants("&" + query)
            // The advertisement has a higher bit rate than the first variant, and a lower one than the second.
            #expect(stitched.map { $0.bandwidth?.bitsPerSecond } == [900_000, 3_000_000])
            #expect(stitched.map { $0.averageBandwidth?.bitsPerSecond } == [600_000, 2_500_000])
            let child = try await stage.ask(try #require(stitched.first).uri)
            #expect(child.status == 200 && child.body.contains("ad-low-1.ts"), "\(child.body)")
        }
    }

    /// A part of a file has its own cues only if it passes through the server, whatever the delivery of the segments is.
    @Test(arguments: ["", "&segments=direct", "&segments=proxy"])
    func partOfSubtitlesPassesThroughTheServer(delivery: String) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.serve("/subs.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\nall.vtt\n#EXT-X-ENDLIST\n")
            let cues = "WEBVTT\n\n00:01.000 --> 00:02.000\nfirst\n\n00:15.000 --> 00:16.000\nsecond\n"
            stage.origin.set("/all.vtt", .text(cues, contentType: "text/vtt"))
            stage.origin.behave("/all.vtt", .proper)
            let source = stage.origin.address("/subs.m3u8")
            let part = try await stage.segment(of: source, query: "&split=10&trim=10...20\(delivery)")
            #expect(part.hasPrefix("/segment/all.vtt?") && part.hasSuffix("&segments=proxy"), "\(part)")
            let response = try await stage.ask(part)
            #expect(response.status == 200 && response.body.contains("second"), "\(response.body)")
            #expect(!response.body.contains("first"))
            #expect(response.field("Content-Type") == "text/vtt" && response.field("Cache-Control") == "no-cache")
            #expect(response.field("Content-Length") == "\(response.body.utf8.count)")
        }
    }

    /// The parts of the segments of a simulated channel come from the server, and a player can wait for those that follow.
    @Test func partsOfAChannelAreDelivered() async throws {
        // A segment of 40 frames of AAC with 200 bytes each.
        let segment: [UInt8] = (0..<40).flatMap { number in
            [0xFF, 0xF1, 0x50, 0x80, 0x19, 0x1F, 0xFC] + [UInt8](repeating: UInt8(number), count: 193)
        }
        try await ServerStage.run { (stage: ServerStage) async throws in
            let segments = "#EXTINF:2,\na.aac\n#EXTINF:2,\na.aac\n"
            stage.serve("/aac.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(segments)#EXT-X-ENDLIST\n")
            stage.origin.set("/a.aac", .init(segment, contentType: "audio/aac"))
            stage.origin.behave("/a.aac", .proper)
            let address = "/play.m3u8?url=\(stage.origin.address("/aac.m3u8"))&live=loop,window=8,part=0.5"
            let text = try await stage.ask(address).body
            let uri = try #require(text.firstMatch(of: /PART:DURATION=0.5,URI="([^"]+)"/)?.output.1)
            let part = try await stage.ask(String(uri))
            #expect(part.status == 200 && part.field("Content-Length") == "2000", "\(part.head)")
            #expect(part.field("Content-Type") == "audio/aac" && part.field("Cache-Control") == "private, max-age=60")
            let playlist = try MediaPlaylist(parsing: Array(text.utf8))
            let next = playlist.mediaSequence + Int64(playlist.segments.count)
            let awaited = try await stage.ask(address + "&_HLS_msn=\(next)")
            #expect(awaited.status == 200, "\(awaited.body)")
            let later = try MediaPlaylist(parsing: Array(awaited.body.utf8))
            #expect(later.mediaSequence + Int64(later.segments.count) > next)
            for (directives, code) in [
                ("_HLS_msn=x", "invalid-directive"), ("_HLS_msn=-1", "invalid-directive"),
                ("_HLS_part=1", "invalid-directive"), ("_HLS_msn=\(next)&_HLS_part=x", "invalid-directive"),
                ("_HLS_msn=\(next + 1_000)", "invalid-value"),
            ] {
                let refused = try await stage.ask(address + "&" + directives)
                #expect(refused.status == 400 && refused.errorCode == code, "\(directives): \(refused.body)")
            }
        }
    }
}
