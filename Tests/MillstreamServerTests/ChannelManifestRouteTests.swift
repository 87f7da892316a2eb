import DASHManifest
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the DASH manifests of simulated channels with a server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ChannelManifestRouteTests {
    private static let multivariant = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="a.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,AUDIO="a"
        v.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
        a.m3u8

        """

    /// Returns the media playlist of a track with three segments.
    static func media(_ name: String, header: String = "") -> String {
        let segments = (0..<3).map { "#EXTINF:4,\n\(name)\($0).m4s\n" }.joined()
        let map = #"#EXT-X-MAP:URI="\#(name).mp4""# + "\n"
        return "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n\(map)\(header)\(segments)#EXT-X-ENDLIST\n"
    }

    /// Runs a server with a presentation of two tracks, of which some resources are changed.
    func onStage(
        _ changes: [String: String] = [:],
        _ body: (ServerStage) async throws -> Void
    ) async throws {
        var resources: [String: [UInt8]] = [
            "/main.m3u8": Array(Self.multivariant.utf8), "/v.m3u8": Array(Self.media("v").utf8),
            "/a.m3u8": Array(Self.media("a").utf8), "/v.mp4": FragmentedMovie.initialization(.video),
            "/a.mp4": FragmentedMovie.initialization(.audio), "/v0.m4s": FragmentedMovie.fragment(at: 5_250),
            "/a0.m4s": FragmentedMovie.fragment(at: 5_000),
        ]
        for (path, text) in changes { resources[path] = Array(text.utf8) }
        try await ServerStage.run { (stage: ServerStage) async throws in
            for (path, bytes) in resources {
                stage.origin.set(path, .init(bytes, contentType: "application/octet-stream"))
                stage.origin.behave(path, .proper)
            }
            try await body(stage)
        }
    }

    /// Returns the address of the manifest of a channel.
    func address(
        _ stage: ServerStage,
        _ edits: String = "&live=loop",
        _ path: String = "/main.m3u8"
    ) -> String {
        "/play.mpd?url=\(stage.origin.address(path))\(edits)"
    }

    private func parse(_ response: RawResponse) throws -> MediaPresentation {
        let bytes = Array(response.body.utf8)
        return try MediaPresentation(parsing: bytes.span, address: ResourceAddress("http://h/play.mpd"))
    }

    @Test func channelIsADynamicManifest() async throws {
        try await onStage { (stage: ServerStage) async throws in
            let response = try await stage.ask(address(stage))
            #expect(response.status == 200, "\(response.head) \(response.body)")
            #expect(response.field("Content-Type") == "application/dash+xml")
            #expect(response.field("Cache-Control") == "no-cache" && response.field("ETag") != nil)
            #expect(response.field("Access-Control-Allow-Origin") == "*")
            let presentation = try parse(response)
            #expect(presentation.validated().filter { $0.severity != .note } == [])
            #expect(presentation.kind == .dynamic && presentation.clockSynchronizations.count == 1)
            // The window of a minute has at least four whole repetitions of 12 seconds.
            #expect(presentation.periods.count >= 5)
            for period in presentation.periods {
                #expect(period.adaptationSets.flatMap(\.representations).map(\.id) == ["v0", "a0"])
            }
            // The audio begins a quarter of a second before the video.
            #expect(response.body.contains(#"timescale="1000" presentationTimeOffset="5250""#))
            #expect(response.body.contains(#"<S t="5250" d="4000" r="2"/>"#))
            #expect(response.body.contains(#"<S t="5000" d="4000" r="2"/>"#))
            #expect(response.body.contains(#"codecs="avc1" width="640" height="360""#))
            #expect(response.body.contains(#"bandwidth="128000""#) && response.body.contains(#"lang="en""#))
        }
    }

    /// The beginnings of segments are read once, and whole segments are never loaded by the server.
    @Test func segmentsAreRedirectedAndReadOnce() async throws {
        try await onStage { (stage: ServerStage) async throws in
            for edits in ["&live=loop", "&live=loop,window%3D90"] {
                #expect(try await stage.ask(address(stage, edits)).status == 200)
            }
            let paths = stage.requests.map(\.path)
            #expect(paths.count { $0 == "/v0.m4s" } == 1 && paths.count { $0 == "/v.mp4" } == 1, "\(paths)")
            #expect(!paths.contains("/v1.m4s"))
            let body = try await stage.ask(address(stage)).body
            let segment = try #require(body.firstMatch(of: /SegmentURL media="([^"]+)"/)?.1)
            let target = String(segment).replacing("&amp;", with: "&")
            let redirect = try await stage.ask(target)
            #expect(redirect.status == 302 && redirect.field("Location")?.hasSuffix(".m4s") == true, "\(target)")
        }
    }

    /// Gaps have no number, whether they are listed or not.
    @Test func segmentsHaveTheSameNumbersAfterAGap() async throws {
        let video = Self.media("v").replacing("#EXTINF:4,\nv1.m4s", with: "#EXT-X-GAP\n#EXTINF:4,\nv1.m4s")
        try await onStage(["/v.m3u8": video]) { (stage: ServerStage) async throws in
            // The window of 16 seconds begins with each of the segments in turn.
            let now = ProgramDateTime.current.sinceEpoch
            for age in Int64(0)..<3 {
                let start = ProgramDateTime(sinceEpoch: now - MediaTime(seconds: 30 + 4 * age))
                let response = try await stage.ask(address(stage, "&live=loop,start%3D\(start),window%3D16"))
                #expect(response.status == 200, "\(response.body)")
                for period in try parse(response).periods {
                    #expect(period.adaptationSets.count == 2)
                }
                for list in response.body.components(separatedBy: "<SegmentList ").dropFirst() {
                    let media = list.components(separatedBy: "SegmentURL media=").dropFirst()
                    let first = try #require(media.first)
                    // The first segment of the video, the third one after the gap, and those of the audio.
                    let numbers = ["v0.m4s": 1, "v2.m4s": 2, "a0.m4s": 1, "a1.m4s": 2, "a2.m4s": 3]
                    let name = try #require(numbers.keys.first { first.contains($0) })
                    #expect(list.contains("startNumber=\"\(numbers[name] ?? 0)\""), "\(list)")
                }
            }
        }
    }

    /// All tracks share the limits, so that many small tracks cannot exceed them.
    @Test func sizesOfAllTracksAreLimitedTogether() throws {
        let limits = ServerLimits()
        let size = ChannelManifestSize(try ServerCapacity(limits).admit())
        for _ in 0..<1_000 { try size.addMedia() }
        #expect { try size.addMedia() } throws: { ($0 as? ServerError)?.code == "too-many-periods" }
        let result = limits.editing.result
        try size.addSegments(result.entryCount - 1)
        try size.addSegments(1)
        #expect(throws: PlaylistEditError.self) { try size.addSegments(1) }
        try size.addBytes(result.byteCount)
        #expect(throws: PlaylistEditError.self) { try size.addBytes(1) }
    }

    @Test func headHasNoBody() async throws {
        try await onStage { (stage: ServerStage) async throws in
            let response = try await stage.ask(address(stage), method: "HEAD")
            #expect(response.status == 200 && response.body.isEmpty)
            #expect(response.field("Content-Type") == "application/dash+xml")
        }
    }

    @Test func editsOfTheSourceApply() async throws {
        try await onStage { (stage: ServerStage) async throws in
            let response = try await stage.ask(address(stage, "&duration=8&live=loop,window%3D20"))
            #expect(response.status == 200, "\(response.body)")
            #expect(response.body.contains(#"<S t="5250" d="4000" r="1"/>"#) && !response.body.contains("v2.m4s"))
            let ended = try await stage.ask(address(stage, "&live=once,start%3D2020-01-01T00:00:00Z"))
            let presentation = try parse(ended)
            #expect(presentation.mediaPresentationDuration == MediaTime(seconds: 12))
            #expect(presentation.periods.map(\.id) == ["p0"] && !ended.body.contains("minimumUpdatePeriod"))
            let later = try await stage.ask(address(stage, "&live=once,start%3D2900-01-01T00:00:00Z"))
            #expect(later.status == 404 && later.errorCode == "channel-not-started")
        }
    }

    @Test func mediaThatDASHCannotDescribeIsRefused() async throws {
        let transport = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nv0.ts\n#EXT-X-ENDLIST\n"
        let key = #"#EXT-X-KEY:METHOD=AES-128,URI="k.key""# + "\n"
        for (media, code) in [(transport, "not-fragmented"), (Self.media("v", header: key), "encrypted-channel")] {
            try await onStage(["/v.m3u8": media]) { (stage: ServerStage) async throws in
                let response = try await stage.ask(address(stage))
                #expect(response.status == 415 && response.errorCode == code, "\(response.body)")
            }
        }
        try await onStage(["/v.mp4": "no movie"]) { (stage: ServerStage) async throws in
            #expect(try await stage.ask(address(stage)).errorCode == "not-fragmented")
            let media = try await stage.ask(address(stage, "&live=loop", "/v.m3u8"))
            #expect(media.status == 415 && media.errorCode == "unexpected-playlist-kind")
        }
    }

    @Test func requestsWithoutAChannelAreRefused() async throws {
        try await onStage { (stage: ServerStage) async throws in
            for edits in ["", "&duration=8"] {
                let response = try await stage.ask(address(stage, edits))
                #expect(response.status == 400 && response.errorCode == "not-a-channel")
            }
            let later = try await stage.ask(address(stage, "&live=loop&duration=8"))
            #expect(later.status == 400 && later.errorCode == "cannot-stitch", "\(later.body)")
            #expect(try await stage.ask("/play.mpd?live=loop").errorCode == "missing-url")
            #expect(try await stage.ask(address(stage, "&live=never")).status == 400)
            let day = try await stage.ask(address(stage, "&duration=4&live=loop,window%3D86400"))
            #expect(day.status == 413 && day.errorCode == "too-many-periods", "\(day.body)")
            let missing = try await stage.ask(address(stage, "&live=loop", "/missing.m3u8"))
            #expect(missing.status == 502, "\(missing.body)")
        }
    }

    @Test func sourcesOfTheOwnerAreNotForOtherSites() async throws {
        try await onStage { (stage: ServerStage) async throws in
            #expect(try await stage.ask(address(stage)).status == 200)
            let count = stage.requests.count
            for fields in AccessTableTests.foreignFields {
                let response = try await stage.ask(address(stage), fields: fields)
                #expect(response.status == 403 && response.errorCode == "address-refused", "\(fields)")
            }
            #expect(stage.requests.count == count)
            let other = try await stage.ask(address(stage), method: "POST")
            #expect(other.status == 405 && other.field("Allow") == "GET, HEAD, OPTIONS")
            let preflight = try await stage.ask(
                address(stage),
                method: "OPTIONS",
                fields: ["Origin: https://evil.example", "Access-Control-Request-Method: GET"]
            )
            #expect(preflight.status == 204 && preflight.field("Access-Control-Allow-Methods") == "GET, HEAD")
        }
    }

    @Test func signedAddressesAreRequiredIfTheServerDemandsThem() async throws {
        let secret = ServerSecret(bytes: [UInt8](repeating: 7, count: 16))
        try await ServerStage.run(
            secret: secret,
            configure: { options, _ in options.admitsOnlySignedAddresses = true },
            { stage in
                let plain = "/play.mpd?url=\(stage.privateSource)&live=loop"
                #expect(try await stage.ask(plain).errorCode == "missing-signature")
                #expect(stage.requests.isEmpty)
                let signed = try secret.signedAddress(ResourceAddress(plain)).text
                // The source is a media playlist, which was loaded.
                #expect(try await stage.ask(signed).errorCode == "unexpected-playlist-kind")
                #expect(try await stage.ask(signed + "&duration=9").errorCode == "invalid-signature")
            }
        )
    }

    @Test func catalogHasTheAddressOfTheManifest() async throws {
        try await ServerStage.run { options, origin in
            let catalog = #"[{"name": "C", "channel": ["main.m3u8"], "loop": true}]"#
            options.catalog = try StreamCatalog(
                Data(catalog.utf8),
                at: ResourceAddress(origin.address("/list.json"))
            )
        } _: { (stage: ServerStage) async throws in
            let streams = try await stage.ask("/api/streams").body
            let source = stage.origin.address("/main.m3u8")
            #expect(streams.contains(#""manifestAddress":"/play.mpd?url=\#(source)&live=loop""#), "\(streams)")
        }
    }
}
