import Logging
import MediaTiming
import MillstreamTesting
import Testing

@testable import MillstreamServer

/// Tests values of the manifests of channels that follow from several playlists or several periods.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ChannelManifestValueFaultTests {
    private let route = ChannelManifestRouteTests()

    @Test func bufferTimeIsTheTargetDuration() async throws {
        try await route.onStage { (stage: ServerStage) async throws in
            let body = try await stage.ask(route.address(stage, "&live=loop,window%3D40")).body
            #expect(body.contains(#"minBufferTime="PT4S""#), "\(body.prefix(600))")
            #expect(!body.contains(#"timeShiftBufferDepth="PT4S""#), "\(body.prefix(600))")
        }
    }

    /// Clients switch between the representations of a set, which is why all of them have the same codec.
    @Test func renditionsWithDifferentCodecsAreInDifferentSets() async throws {
        let media = #"#EXT-X-MEDIA:TYPE=AUDIO,NAME="English",LANGUAGE="en",CHANNELS="2""#
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360"
        for (second, count) in [("ec-3", 3), ("mp4a.40.5", 2)] {
            let main = """
                #EXTM3U
                \(media),GROUP-ID="a",URI="a.m3u8"
                \(media),GROUP-ID="b",URI="b.m3u8"
                \(variant),CODECS="avc1.64001f,mp4a.40.2",AUDIO="a"
                v.m3u8
                \(variant),CODECS="avc1.64001f,\(second)",AUDIO="b"
                v.m3u8

                """
            let changes = ["/main.m3u8": main, "/b.m3u8": ChannelManifestRouteTests.media("a")]
            try await route.onStage(changes) { (stage: ServerStage) async throws in
                let response = try await stage.ask(route.address(stage))
                #expect(response.status == 200, "\(response.body)")
                let periodCount = response.body.ranges(of: "<Period ").count
                #expect(response.body.ranges(of: "<AdaptationSet ").count == count * periodCount, "\(second)")
            }
        }
    }

    /// The media of a period after a discontinuity has timestamps of its own.
    @Test func laterPeriodBeginsWithItsMedia() async throws {
        func media(_ name: String) -> String {
            ChannelManifestRouteTests.media(name)
                .replacing("#EXTINF:4,\n\(name)1", with: "#EXT-X-DISCONTINUITY\n#EXTINF:4,\n\(name)1")
        }
        let changes = ["/v.m3u8": media("v"), "/a.m3u8": media("a")]
        try await route.onStage(changes) { (stage: ServerStage) async throws in
            for path in ["/v1.m4s", "/a1.m4s"] {
                let bytes = FragmentedMovie.fragment(at: 71_000)
                stage.origin.set(path, .init(bytes, contentType: "application/octet-stream"))
                stage.origin.behave(path, .proper)
            }
            let response = try await stage.ask(route.address(stage))
            #expect(response.status == 200, "\(response.body)")
            #expect(response.body.contains(#"presentationTimeOffset="5250""#), "\(response.body)")
            #expect(response.body.contains(#"presentationTimeOffset="71000""#), "\(response.body)")
        }
    }

    @Test func manifestThatWasWrittenIsLogged() async throws {
        let lines = RecordingLogHandler.Lines()
        let logger = Logger(label: "requests") { _ in RecordingLogHandler(lines) }
        let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360\nv.m3u8\n"
        let resources: [String: [UInt8]] = [
            "/main.m3u8": Array(main.utf8), "/v.m3u8": Array(ChannelManifestRouteTests.media("v").utf8),
            "/v.mp4": FragmentedMovie.initialization(.video), "/v0.m4s": FragmentedMovie.fragment(at: 5_000),
        ]
        try await ServerStage.run(configure: { options, _ in options.requestLogger = logger }) {
            (stage: ServerStage) async throws in
            for (path, bytes) in resources {
                stage.origin.set(path, .init(bytes, contentType: "application/octet-stream"))
                stage.origin.behave(path, .proper)
            }
            let response = try await stage.ask(route.address(stage))
            #expect(response.status == 200, "\(response.body)")
            // A client can have its response before the line is written.
            for _ in 0..<3_000 where lines.all.isEmpty {
                try await SystemTimeSource().sleep(for: .milliseconds(10))
            }
            let line = try #require(lines.all.first)
            #expect(line.contains("cache=edited") && line.contains("path=/play.mpd"), "\(line)")
        }
    }
}
