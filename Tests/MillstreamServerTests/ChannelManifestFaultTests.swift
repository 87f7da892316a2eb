import DASHTranslation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests manifests of channels that cannot be written, and the store of the properties of media.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ChannelManifestFaultTests {
    /// A clock whose time a test advances, and whose sleeps have no effect on it.
    private final class SettableTime: TimeSource {
        private let current = Mutex(Duration.zero)

        var now: Duration { current.withLock { $0 } }

        func advance(by duration: Duration) { current.withLock { $0 += duration } }

        func sleep(for duration: Duration) async throws { try await SystemTimeSource().sleep(for: duration) }
    }

    private let route = ChannelManifestRouteTests()

    /// The channel has started long ago, but a track has nothing to play.
    @Test func trackOfGapsIsNoChannelThatHasNotStarted() async throws {
        let video = ChannelManifestRouteTests.media("v").replacing("#EXTINF", with: "#EXT-X-GAP\n#EXTINF")
        try await route.onStage(["/v.m3u8": video]) { (stage: ServerStage) async throws in
            let response = try await stage.ask(route.address(stage))
            #expect(response.status == 503 && response.errorCode == "no-common-period", "\(response.body)")
            #expect(response.body.contains("v.m3u8 are gaps") && response.field("Retry-After") == "1")
        }
    }

    @Test func mapThatChangesWithoutADiscontinuityIsRefused() async throws {
        let map = "#EXT-X-MAP:URI=\"a.mp4\"\n"
        for (tags, code) in [(map, "map-without-discontinuity"), ("#EXT-X-DISCONTINUITY\n" + map, nil)]
            as [(String, String?)]
        {
            let first = ChannelManifestRouteTests.media("v")
            let video = first.replacing("#EXTINF:4,\nv1", with: tags + "#EXTINF:4,\nv1")
            try await route.onStage(["/v.m3u8": video]) { (stage: ServerStage) async throws in
                let response = try await stage.ask(route.address(stage))
                #expect((response.errorCode == "map-without-discontinuity") == (code != nil), "\(response.body)")
            }
        }
    }

    @Test func numberOfTracksIsLimited() async throws {
        for (count, isRefused) in [(64, false), (65, true)] {
            var changes: [String: String] = [:]
            var text = "#EXTM3U\n"
            for number in 0..<count {
                text += "#EXT-X-STREAM-INF:BANDWIDTH=\(number + 1)000,RESOLUTION=640x360\nm\(number).m3u8\n"
                changes["/m\(number).m3u8"] = ChannelManifestRouteTests.media("v")
            }
            changes["/main.m3u8"] = text
            try await route.onStage(changes) { (stage: ServerStage) async throws in
                let response = try await stage.ask(route.address(stage))
                #expect((response.errorCode == "too-many-tracks") == isRefused, "\(response.body.prefix(300))")
                #expect((response.status == 413) == isRefused)
            }
        }
    }

    // MARK: Redundant variants

    private static let redundant = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.64001f",RESOLUTION=640x360
        w.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.64001f",RESOLUTION=640x360
        v.m3u8

        """

    /// As in the playlists of the channel, a variant whose media playlist cannot be loaded is left out.
    @Test func unavailableVariantIsLeftOut() async throws {
        try await route.onStage(["/main.m3u8": Self.redundant]) { (stage: ServerStage) async throws in
            stage.origin.behave("/w.m3u8", .status(503))
            #expect(try await stage.ask(route.address(stage)).status != 200)
            let target = route.address(stage, "&redundant=available&live=loop")
            var response = try await stage.ask(target)
            // On a busy machine, a load can exceed its time, after which all variants remain.
            for _ in 0..<20 where response.status != 200 { response = try await stage.ask(target) }
            #expect(response.status == 200, "\(response.body)")
            // The identifier is that which the track has while all variants are available.
            #expect(response.body.contains(#"<Representation id="v1""#))
            #expect(!response.body.contains(#"<Representation id="v0""#))
        }
    }

    @Test func availableVariantsRemain() async throws {
        let changes = ["/main.m3u8": Self.redundant, "/w.m3u8": ChannelManifestRouteTests.media("v")]
        try await route.onStage(changes) { (stage: ServerStage) async throws in
            for value in ["all", "available"] {
                let response = try await stage.ask(route.address(stage, "&redundant=\(value)&live=loop"))
                for id in ["v0", "v1"] {
                    #expect(response.body.contains("<Representation id=\"\(id)\""), "\(value) \(response.body)")
                }
            }
            // Each of the media playlists is loaded once for a request.
            let paths = stage.requests.map(\.path)
            #expect(paths.count { $0 == "/w.m3u8" } == 2 && paths.count { $0 == "/v.m3u8" } == 2, "\(paths)")
        }
    }

    /// A track has the same identifier whether or not other tracks are left out.
    @Test func identifiersAreThePositionsInTheSource() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="http://h/a.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="E",URI="http://h/b.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="a"
            http://h/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="b"
            http://h/w.m3u8

            """
        let identifiers = TrackIdentifiers(of: try MultivariantPlaylist(parsing: Array(text.utf8)))
        #expect(identifiers.identifier(ofVariantAt: 0, ResourceAddress("http://h/w.m3u8")) == "v1")
        #expect(identifiers.identifier(ofRenditionAt: 0, ResourceAddress("http://h/b.m3u8")) == "a1")
        // The audio takes the place of the variants, or an edit adds a query.
        let others = ["http://h/a.m3u8", "http://h/w.m3u8?t=1"].map { ResourceAddress($0) }
        let first = others.map { identifiers.identifier(ofVariantAt: 0, $0) }
        #expect(first == others.map { identifiers.identifier(ofVariantAt: 1, $0) })
        #expect(Set(first + ["v0", "v1"]).count == 4)
        #expect(TrackIdentifiers().identifier(ofVariantAt: 0, ResourceAddress("http://h/w.m3u8")) == "v0")
    }

    // MARK: Store

    private static let segment = ResourceAddress("http://h/v0.m4s")
    private static let initialization = ResourceAddress("http://h/v.mp4")

    /// A box of 400,000 bytes without contents.
    private static let freeSpace: [UInt8] =
        [0, 0x06, 0x1A, 0x80] + Array("free".utf8) + [UInt8](repeating: 0, count: 399_992)

    private func key(_ range: ByteRange? = nil, _ initializationRange: ByteRange? = nil) -> TrackMediaStore.Key {
        TrackMediaStore.Key(
            segment: Self.segment,
            byteRange: range,
            initialization: Self.initialization,
            initializationRange: initializationRange,
            isForeign: false
        )
    }

    private func transport(_ segment: [UInt8]) -> ScriptedTransport {
        ScriptedTransport([
            "http://h/v0.m4s": [.bytes(segment)], "http://h/v.mp4": [.bytes(FragmentedMovie.initialization(.video))],
        ])
    }

    /// A source can change, so its media is loaded again after ten minutes.
    @Test func mediaIsLoadedAgainAfterTenMinutes() async throws {
        let time = SettableTime()
        let store = TrackMediaStore(capacity: ServerCapacity(ServerLimits()), time: time)
        let transport = transport(FragmentedMovie.fragment(at: 2_500))
        for (step, count) in [(0, 2), (0, 2), (599_999, 2), (1, 4), (0, 4), (599_999, 4)] {
            time.advance(by: .milliseconds(step))
            let media = try await store.media(of: key(), ResourceLoader(transport))
            #expect(media.start == MediaTime(value: 5, timescale: 2) && media.hasVideo)
            #expect(transport.requests.count == count, "\(step)")
        }
    }

    /// Only the beginning of a segment is read.
    @Test(arguments: [(1_000, 1_000), (262_144, 262_144), (262_145, 262_144), (300_000, 262_144)] as [(Int64, Int64)])
    func beginningOfASegmentIsRead(length: Int64, expected: Int64) async throws {
        let fragment = FragmentedMovie.fragment(at: 2_500)
        let transport = transport(fragment + Self.freeSpace)
        let store = TrackMediaStore(capacity: ServerCapacity(ServerLimits()))
        let initializationLength = Int64(FragmentedMovie.initialization(.video).count)
        let initializationRange = try #require(ByteRange(start: 0, length: initializationLength))
        let range = try #require(ByteRange(start: 0, length: length))
        let media = try await store.media(of: key(range, initializationRange), ResourceLoader(transport))
        #expect(media.start == MediaTime(value: 5, timescale: 2))
        #expect(transport.requests.map(\.byteRange) == [initializationRange, ByteRange(start: 0, length: expected)])
        #expect(transport.requestedAddresses == [Self.initialization.text, Self.segment.text])
    }

    @Test func mediaWithoutAFragmentIsRefused() async throws {
        let store = TrackMediaStore(capacity: ServerCapacity(ServerLimits()))
        for _ in 0..<2 {
            await #expect {
                _ = try await store.media(of: key(), ResourceLoader(transport(Self.freeSpace)))
            } throws: {
                ($0 as? ServerError)?.code == "not-fragmented"
            }
        }
    }
}
