import Foundation
import MediaTiming
import MillstreamTesting
import PlaylistEditing
import Testing

@testable import MillstreamServer

/// Tests of the segments and subtitles that the player of the console receives.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrowserSegmentTests {
    /// A writer of boxes of ISO/IEC 14496-12.
    private enum Boxes {
        static func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }

        static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

        static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
            let payload = parts.flatMap { $0 }
            return [number(payload.count + 8, 4), Array(type.utf8), payload].flatMap { $0 }
        }

        static func full(_ type: String, flags: Int = 0, _ parts: [UInt8]...) -> [UInt8] {
            box(type, number(flags, 4), parts.flatMap { $0 })
        }
    }

    /// A track of a movie, in milliseconds.
    struct Track {
        let id: Int
        let handler: String
        let entry: [UInt8]

        static let audio = Track(
            id: 1,
            handler: "soun",
            entry: Boxes.box(
                "mp4a",
                Boxes.zeros(6),
                Boxes.number(1, 2),
                Boxes.zeros(8),
                Boxes.number(2, 2),
                Boxes.number(16, 2),
                Boxes.zeros(4),
                Boxes.number(48_000 << 16, 4)
            )
        )
        static let video = Track(
            id: 2,
            handler: "vide",
            entry: Boxes.box(
                "avc1",
                Boxes.zeros(6),
                Boxes.number(1, 2),
                Boxes.zeros(16),
                Boxes.number(640, 2),
                Boxes.number(360, 2),
                Boxes.zeros(50)
            )
        )
        static let text = Track(
            id: 3,
            handler: "text",
            entry: Boxes.box("wvtt", Boxes.zeros(6), Boxes.number(1, 2), Boxes.box("vttC", Array("WEBVTT".utf8)))
        )

        var box: [UInt8] {
            let language = Boxes.number(0x55C4, 2)
            let description = Boxes.full("stsd", Boxes.number(1, 4), entry)
            let media = Boxes.box(
                "mdia",
                Boxes.full("mdhd", Boxes.zeros(8), Boxes.number(1_000, 4), Boxes.zeros(4), language, Boxes.zeros(2)),
                Boxes.full("hdlr", Boxes.zeros(4), Array(handler.utf8), Boxes.zeros(13)),
                Boxes.box("minf", Boxes.box("stbl", description))
            )
            return Boxes.box("trak", Boxes.full("tkhd", Boxes.zeros(8), Boxes.number(id, 4), Boxes.zeros(68)), media)
        }

        var defaults: [UInt8] {
            Boxes.full(
                "trex",
                Boxes.number(id, 4),
                Boxes.number(1, 4),
                Boxes.number(100, 4),
                Boxes.number(4, 4),
                Boxes.zeros(4)
            )
        }
    }

    private static func initialization(_ tracks: [Track]) -> [UInt8] {
        Boxes.box(
            "moov",
            Boxes.full("mvhd", Boxes.zeros(8), Boxes.number(1_000, 4), Boxes.zeros(84)),
            tracks.flatMap(\.box),
            Boxes.box("mvex", tracks.flatMap(\.defaults))
        )
    }

    /// Returns a fragment with two samples of each track that has a start time, in milliseconds.
    private static func fragment(_ starts: [(track: Track, time: Int)]) -> [UInt8] {
        let tracks: [UInt8] = starts.flatMap { start in
            Boxes.box(
                "traf",
                Boxes.full("tfhd", flags: 0x20000, Boxes.number(start.track.id, 4)),
                Boxes.full("tfdt", Boxes.number(start.time, 4)),
                Boxes.full("trun", Boxes.number(2, 4))
            )
        }
        let movie = Boxes.box("moof", Boxes.full("mfhd", Boxes.number(1, 4)), tracks)
        return movie + Boxes.box("mdat", Boxes.zeros(8 * starts.count))
    }

    private func onStage(
        _ resources: [String: [UInt8]],
        _ body: (ServerStage) async throws -> Void
    ) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for (path, bytes) in resources {
                stage.origin.set(path, .init(bytes, contentType: "application/octet-stream"))
                stage.origin.behave(path, .proper)
            }
            try await body(stage)
        }
    }

    private func ask(
        _ stage: ServerStage,
        _ name: String,
        _ path: String,
        edits: String = "",
        _ more: String = "&segment=0"
    ) async throws -> RawResponse {
        let playback = "/play.m3u8?url=\(stage.origin.address(path))\(edits)"
        let address = playback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await stage.ask("/api/playback/\(name)?address=\(address)\(more)")
    }

    /// A segment with the tracks, the tracks with samples, and what the player is told of it.
    struct Case {
        let tracks: [Track]
        let starts: [(track: Track, time: Int)]
        let type: String
        let timestamp: String
    }

    @Test(arguments: [
        // The time is that of the video, although other tracks come first or begin earlier.
        Case(
            tracks: [.audio, .video, .text],
            starts: [(.audio, 5_500), (.video, 5_250), (.text, 1_000)],
            type: "video/mp4; codecs=\"mp4a,avc1\"",
            timestamp: "5.25"
        ),
        Case(
            tracks: [.audio, .text],
            starts: [(.text, 1_000), (.audio, 7_000)],
            type: "audio/mp4; codecs=\"mp4a\"",
            timestamp: "7"
        ),
        // A track without samples has no time, and the player has a buffer for it nevertheless.
        Case(
            tracks: [.video, .audio],
            starts: [(.audio, 9_000)],
            type: "video/mp4; codecs=\"avc1,mp4a\"",
            timestamp: "9"
        ),
    ])
    func fragmentIsDeliveredWithItsTypeAndTime(example: Case) async throws {
        let initialization = Self.initialization(example.tracks)
        let fragment = Self.fragment(example.starts)
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:4,\n0.m4s\n#EXT-X-ENDLIST\n"
        let resources: [String: [UInt8]] = ["/v.m3u8": Array(list.utf8), "/i.mp4": initialization, "/0.m4s": fragment]
        try await onStage(resources) { (stage: ServerStage) async throws in
            let segment = try await ask(stage, "segment", "/v.m3u8")
            #expect(segment.status == 200 && segment.field("Content-Type") == example.type, "\(segment.head)")
            #expect(segment.field("Millstream-First-Timestamp") == example.timestamp)
            #expect(segment.field("Content-Length") == "\(initialization.count + fragment.count)")
            #expect(segment.field("Cache-Control") == "no-store")
            let timestamp = try await ask(stage, "timestamp", "/v.m3u8")
            #expect(timestamp.status == 200 && timestamp.body == "{\"timestamp\":\(example.timestamp)}")
        }
    }

    @Test func fragmentWithoutVideoAndAudioIsNotDelivered() async throws {
        let bytes = Self.initialization([.text]) + Self.fragment([(.text, 1)])
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.m4s\n#EXT-X-ENDLIST\n"
        try await onStage(["/v.m3u8": Array(list.utf8), "/0.m4s": bytes]) { (stage: ServerStage) async throws in
            let segment = try await ask(stage, "segment", "/v.m3u8")
            #expect(segment.status == 501 && segment.errorCode == "not-repackaged", "\(segment.body)")
        }
    }

    @Test func cuesHaveTheirPositions() async throws {
        let text = """
            WEBVTT

            00:01.000 --> 00:02.000 line:10% position:50% size:40% align:center
            center

            00:02.000 --> 00:03.000 position:80% size:40% align:right
            right

            00:03.000 --> 00:04.000 vertical:rl
            rl

            00:04.000 --> 00:05.000 vertical:lr
            lr

            00:05.000 --> 00:06.000 line:0
            top

            """
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\na.vtt\n#EXTINF:4,\nb.vtt\n#EXT-X-ENDLIST\n"
        let resources: [String: [UInt8]] = ["/t.m3u8": Array(list.utf8), "/a.vtt": Array(text.utf8), "/b.vtt": []]
        try await onStage(resources) { (stage: ServerStage) async throws in
            let cues = try await ask(stage, "cues", "/t.m3u8", "&segment=0&start=0")
            #expect(
                cues.body == """
                    {"cues":[{"start":1,"end":2,"text":"center","line":10,"position":50,"size":40,"align":"center"},\
                    {"start":2,"end":3,"text":"right","position":80,"size":40,"align":"right"},\
                    {"start":3,"end":4,"text":"rl","vertical":"rl"},{"start":4,"end":5,"text":"lr","vertical":"lr"},\
                    {"start":5,"end":6,"text":"top","line":5,"position":50,"size":90,"align":"center"}]}
                    """
            )
            let empty = try await ask(stage, "cues", "/t.m3u8", "&segment=1&start=20")
            #expect(empty.status == 200 && empty.body == #"{"cues":[]}"#, "\(empty.body)")
        }
    }

    @Test func partOfSubtitlesHasItsOwnCues() async throws {
        let text = "WEBVTT\n\n00:01.000 --> 00:02.000\nfirst\n\n00:15.000 --> 00:16.000\nsecond\n"
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\na.vtt\n#EXT-X-ENDLIST\n"
        try await onStage(["/t.m3u8": Array(list.utf8), "/a.vtt": Array(text.utf8)]) {
            (stage: ServerStage) async throws in
            let edits = "&split=10&trim=10...20"
            let cues = try await ask(stage, "cues", "/t.m3u8", edits: edits, "&segment=1&start=10")
            #expect(cues.body == #"{"cues":[{"start":15,"end":16,"text":"second"}]}"#, "\(cues.body)")
        }
    }

    /// The report of a playlist can be longer than the playlist.
    @Test func reportOfAPlaylistHasALimit() async throws {
        let segments = (10..<90).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n"
        try await ServerStage.run { options, _ in
            options.limits.editing.resultBytes = ByteCount(3_600)
        } _: { (stage: ServerStage) async throws in
            stage.serve("/v.m3u8", list)
            let report = try await ask(stage, "playlist", "/v.m3u8", "")
            #expect(report.status == 413 && report.errorCode == "report-too-large", "\(report.body)")
        }
    }
}
