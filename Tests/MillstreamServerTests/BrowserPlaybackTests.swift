import Foundation
import MediaTransport
import MillstreamTesting
import NIOCore
import StreamingEngine
import Testing

@testable import MillstreamServer

/// Tests what the console loads to play streams itself.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrowserPlaybackTests {
    private static let multivariant = """
        #EXTM3U
        #EXT-X-DEFINE:NAME="folder",VALUE="a"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="A \\"",LANGUAGE="en",DEFAULT=YES,URI="{$folder}/audio.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="T",FORCED=YES,AUTOSELECT=YES,URI="text.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="C",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1.42c00d,mp4a.40.2",RESOLUTION=320x180,AUDIO="s",SUBTITLES="t"
        v.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100,URI="i.m3u8"

        """

    /// Runs a server whose origin has the given resources.
    private func onStage(
        _ resources: [String: String],
        repackager: (any SegmentRepackager)? = nil,
        faults: [String] = [],
        _ body: (ServerStage) async throws -> Void
    ) async throws {
        try await ServerStage.run(usesProxy: false) { options, origin in
            options.allowedHosts = ["127.0.0.1:\(origin.port)"]
            options.repackager = repackager
            options.faults = try faults.map { try #require(ResponseFault($0)) }
            for (path, text) in resources {
                let isPlaylist = path.hasSuffix(".m3u8")
                origin.set(path, .text(text, contentType: isPlaylist ? "application/vnd.apple.mpegurl" : "text/plain"))
                origin.behave(path, .proper)
            }
        } _: { stage in
            try await body(stage)
        }
    }

    private func ask(
        _ stage: ServerStage,
        _ name: String,
        _ path: String,
        _ more: String = ""
    ) async throws -> RawResponse {
        let playback = "/play.m3u8?url=\(stage.origin.address(path))"
        let address = playback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await stage.ask("/api/playback/\(name)?address=\(address)\(more)")
    }

    @Test func multivariantPlaylistIsReportedWithAddressesOfTheServer() async throws {
        try await onStage(["/m.m3u8": Self.multivariant]) { stage in
            let response = try await ask(stage, "playlist", "/m.m3u8")
            func child(_ path: String) -> String {
                "/play.m3u8?url=\(stage.origin.address(path))&define=folder%3Da"
            }
            #expect(response.status == 200, "\(response.body)")
            let expected = """
                {"type":"multivariant","variants":[{"address":"\(child("/v.m3u8"))","bandwidth":1000,"width":320,\
                "height":180,"codecs":["avc1.42c00d","mp4a.40.2"],"audio":"s","subtitles":"t"}],"renditions":[\
                {"type":"audio","group":"s","name":"A \\\\","language":"en","address":"\(child("/a/audio.m3u8"))",\
                "default":true,"autoselect":true,"forced":false},{"type":"subtitles","group":"t","name":"T",\
                "address":"\(child("/text.m3u8"))","default":false,"autoselect":true,"forced":true}]}
                """
            #expect(response.body.replacing("%3D", with: "=") == expected.replacing("%3D", with: "="))
        }
    }

    @Test func mediaPlaylistIsReportedWithItsSegments() async throws {
        let playlist = """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-TARGETDURATION:4
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-START:TIME-OFFSET=-6.5
            #EXTINF:4,
            a.ts
            #EXT-X-DISCONTINUITY
            #EXT-X-GAP
            #EXTINF:2.5,
            b.ts

            """
        try await onStage(["/v.m3u8": playlist, "/end.m3u8": playlist + "#EXT-X-ENDLIST\n"]) { stage in
            let report = """
                "targetDuration":4,"start":-6.5,"segments":[{"sequence":7,"duration":4,"discontinuity":0},\
                {"sequence":8,"duration":2.5,"discontinuity":1,"gap":true}]}
                """
            let live = try await ask(stage, "playlist", "/v.m3u8")
            #expect(live.body == #"{"type":"media","ended":false,"# + report)
            #expect(live.field("Cache-Control") == "no-store")
            #expect(try await ask(stage, "playlist", "/end.m3u8").body == #"{"type":"media","ended":true,"# + report)
            let gap = try await ask(stage, "segment", "/v.m3u8", "&segment=8")
            #expect(gap.status == 404 && gap.errorCode == "gap")
        }
    }

    /// Each segment has a date if one before it has a date tag.
    @Test func mediaPlaylistIsReportedWithTheDatesOfItsSegments() async throws {
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            a.ts
            #EXT-X-PROGRAM-DATE-TIME:1970-01-01T01:00:10.5+01:00
            #EXTINF:2.25,
            b.ts
            #EXTINF:4,
            c.ts

            """
        try await onStage(["/v.m3u8": playlist]) { stage in
            let report = """
                "segments":[{"sequence":0,"duration":4,"discontinuity":0},\
                {"sequence":1,"duration":2.25,"discontinuity":0,"date":10.5},\
                {"sequence":2,"duration":4,"discontinuity":0,"date":12.75}]}
                """
            let response = try await ask(stage, "playlist", "/v.m3u8")
            #expect(response.body.hasSuffix(report), "\(response.body)")
        }
    }

    @Test func requestsThatNameNothingAreRefused() async throws {
        try await onStage(["/m.m3u8": Self.multivariant]) { stage in
            for (target, status, code) in [
                ("playlist", 400, "missing-address"), ("playlist?address=", 400, "missing-address"),
                ("playlist?address=http%3A%2F%2F8.8.8.8%2Fplay.m3u8", 400, "missing-address"),
                ("playlist?address=%2F%2Fplay.m3u8", 400, "missing-address"),
                ("playlist?address=%2Fapi%2Flibrary", 400, "missing-address"),
                ("playlist?address=%2Fplay.m3u8", 400, "missing-url"),
                ("playlist?address=%2Foffline%2Fx", 404, "not-found"),
                ("playlist?address=%2Foffline%2Fx%2Fmultivariant.m3u8", 404, "not-found"),
                ("playlist?address=%2Fplay.m3u8%3Furl%3Dhttp%3A%2F%2F127.0.0.1%3A1%2Fx", 403, "address-refused"),
            ] {
                let response = try await stage.ask("/api/playback/\(target)")
                #expect(
                    response.status == status && response.errorCode == code,
                    "\(target): \(response.head) \(response.body)"
                )
            }
            for (name, path, more, status, code) in [
                ("playlist", "/none.m3u8", "", 502, "not-a-playlist"),
                ("segment", "/private.m3u8", "", 400, "missing-segment"),
                ("segment", "/private.m3u8", "&segment=x", 400, "missing-segment"),
                ("segment", "/private.m3u8", "&segment=1", 404, "not-found"),
                ("segment", "/private.m3u8", "&segment=-9223372036854775808", 404, "not-found"),
                ("segment", "/m.m3u8", "&segment=0", 400, "unexpected-playlist-kind"),
                ("timestamp", "/private.m3u8", "&segment=9223372036854775807", 404, "not-found"),
                ("cues", "/private.m3u8", "&segment=0", 400, "missing-start"),
                ("cues", "/private.m3u8", "&segment=0&start=nan", 400, "invalid-value"),
                ("cues", "/private.m3u8", "&segment=0&start=0&offset=1e400", 400, "invalid-value"),
            ] {
                let response = try await ask(stage, name, path, more)
                #expect(
                    response.status == status && response.errorCode == code,
                    "\(name) \(path) \(more): \(response.body)"
                )
            }
        }
    }

    @Test func segmentsThatAreNoFragmentsNeedARepackager() async throws {
        try await onStage([:]) { stage in
            for name in ["segment", "timestamp"] {
                let response = try await ask(stage, name, "/private.m3u8", "&segment=0")
                #expect(response.status == 501 && response.errorCode == "not-repackaged")
            }
        }
        for repackager in [Repackager(result: nil), Repackager(result: Array("no fragment".utf8))] {
            try await onStage([:], repackager: repackager) { stage in
                let response = try await ask(stage, "segment", "/private.m3u8", "&segment=0")
                #expect(response.status == 502 && response.errorCode == "not-repackaged", "\(response.body)")
            }
        }
    }

    /// The error names the segment, whose URL the page does not know.
    @Test func errorOfASegmentNamesTheSegment() async throws {
        try await onStage([:]) { stage in
            stage.origin.behave("/private.ts", .status(404))
            let response = try await ask(stage, "segment", "/private.m3u8", "&segment=0")
            #expect(response.status == 502 && response.errorCode == "http-status", "\(response.body)")
            #expect(response.body.contains(": \(stage.origin.address("/private.ts"))\""), "\(response.body)")
        }
    }

    /// A repackager with one result, or without any.
    private struct Repackager: SegmentRepackager {
        struct Failure: Error {}
        let result: [UInt8]?

        func movieFragment(of segment: PipelineSegment) throws -> [UInt8] {
            guard let result else { throw Failure() }
            return result
        }
    }

    /// The player of the page meets the faults that other players meet.
    @Test func simulatedFaultsApplyToThePlayerOfThePage() async throws {
        try await ServerStage.run(usesProxy: false) { options, origin in
            options.allowedHosts = ["127.0.0.1:\(origin.port)"]
            options.faults = try ["path=/private.m3u8&requests=2&status=503", "path=*.ts&status=404"].map {
                try #require(ResponseFault($0))
            }
        } _: { stage in
            #expect(try await ask(stage, "playlist", "/private.m3u8").status == 200)
            let response = try await ask(stage, "playlist", "/private.m3u8")
            #expect(response.status == 503 && response.errorCode == "simulated", "\(response.body)")
            #expect(try await ask(stage, "playlist", "/private.m3u8").status == 200)
            let segment = try await ask(stage, "segment", "/private.m3u8", "&segment=0")
            #expect(segment.status == 404 && segment.errorCode == "simulated", "\(segment.body)")
        }
    }

    /// The page has the first timestamp of a segment from the server, for which other players request the segment.
    @Test func simulatedFaultsApplyToTimestamps() async throws {
        try await onStage([:], faults: ["path=*.ts&requests=1&status=404"]) { stage in
            let first = try await ask(stage, "timestamp", "/private.m3u8", "&segment=0")
            #expect(first.status == 404 && first.errorCode == "simulated", "\(first.body)")
            let second = try await ask(stage, "timestamp", "/private.m3u8", "&segment=0")
            #expect(second.status == 501 && second.errorCode == "not-repackaged", "\(second.body)")
        }
    }

    /// The server requests keys for the page; other players request them themselves.
    @Test func simulatedFaultsApplyToKeys() async throws {
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="k.key"
            #EXTINF:4,
            private.ts
            #EXT-X-ENDLIST

            """
        let resources = ["/v.m3u8": playlist, "/k.key": "0123456789abcdef"]
        let cases: [(faults: [String], count: Int)] = [([], 1), (["path=/k.key&status=404"], 0)]
        for (faults, count) in cases {
            try await onStage(resources, faults: faults) { stage in
                let response = try await ask(stage, "segment", "/v.m3u8", "&segment=0")
                #expect(response.status != 200)
                #expect(stage.requests.count { $0.path == "/k.key" } == count, "\(response.body)")
            }
        }
    }

    @Test func simulatedFaultsApplyToCues() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.vtt\n#EXT-X-ENDLIST\n"
        let text = "WEBVTT\n\n00:01.000 --> 00:02.000\nx\n"
        let faults = ["path=*.vtt&requests=2&status=503"]
        try await onStage(["/v.m3u8": playlist, "/0.vtt": text], faults: faults) { stage in
            for status in [200, 503, 200] {
                let cues = try await ask(stage, "cues", "/v.m3u8", "&segment=0&start=0")
                #expect(cues.status == status, "\(cues.body)")
            }
        }
    }

    @Test func segmentThatLeftALivePlaylistIsStillLoaded() async throws {
        func playlist(_ sequence: Int) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(sequence)\n#EXTINF:4,\n\(sequence).vtt\n"
        }
        let text = "WEBVTT\n\n00:01.000 --> 00:02.000\nx\n"
        try await onStage(["/v.m3u8": playlist(7), "/7.vtt": text]) { stage in
            _ = try await ask(stage, "playlist", "/v.m3u8")
            stage.origin.set("/v.m3u8", .text(playlist(8), contentType: "application/vnd.apple.mpegurl"))
            let cues = try await ask(stage, "cues", "/v.m3u8", "&segment=7&start=0")
            #expect(cues.body == #"{"cues":[{"start":1,"end":2,"text":"x"}]}"#, "\(cues.body)")
        }
    }

    /// The values of a cue can be at the limits of what browsers accept, and are limited to them.
    @Test func placementsAreWithinTheVideo() async throws {
        let cases = [
            ("line:0% position:0% size:100% align:left", #""line":0,"position":0,"size":100,"align":"left""#),
            ("line:0%,center position:20% size:0% align:left", #""line":0,"position":20,"size":0,"align":"left""#),
            ("line:10% position:100% size:40% align:right", #""line":10,"position":100,"size":40,"align":"right""#),
            ("line:10% position:40% size:20% align:center", #""line":10,"position":40,"size":20,"align":"center""#),
        ]
        var resources: [String: String] = [:]
        var playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
        for (number, (settings, _)) in cases.enumerated() {
            playlist += "#EXTINF:4,\n\(number).vtt\n"
            resources["/\(number).vtt"] = "WEBVTT\n\n00:01.000 --> 00:02.000 \(settings)\nx\n"
        }
        resources["/v.m3u8"] = playlist + "#EXT-X-ENDLIST\n"
        try await onStage(resources) { stage in
            for (number, (settings, expected)) in cases.enumerated() {
                let cues = try await ask(stage, "cues", "/v.m3u8", "&segment=\(number)&start=0")
                #expect(cues.body == #"{"cues":[{"start":1,"end":2,"text":"x",\#(expected)}]}"#, "\(settings)")
            }
        }
    }

    @Test func cuesHaveTheTimesOfThePage() async throws {
        let text = """
            WEBVTT
            X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000

            00:04.000 --> 00:05.500 line:10% position:20% size:40% align:left
            <b>a</b> &amp; <i>b</i>

            00:05.000 --> 00:06.000
            plain

            """
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.vtt\n#EXTINF:4,\nb.vtt\n#EXT-X-ENDLIST\n"
        try await onStage(["/t.m3u8": playlist, "/a.vtt": text, "/b.vtt": "no subtitles \u{0}"]) { stage in
            // The media begins at 13 s, and so does the segment on the page at 103 s.
            let cues = try await ask(stage, "cues", "/t.m3u8", "&segment=0&start=103&offset=90")
            #expect(
                cues.body == """
                    {"cues":[{"start":104,"end":105.5,"text":"<b>a</b> &amp; <i>b</i>","line":10,"position":20,"size":40,\
                    "align":"left"},{"start":105,"end":106,"text":"plain"}]}
                    """
            )
            let unreadable = try await ask(stage, "cues", "/t.m3u8", "&segment=1&start=4")
            #expect(unreadable.status == 502 && unreadable.errorCode == "wrong-content", "\(unreadable.body)")
        }
    }
}
