import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

@Suite struct PlaybackRequestTests {
    @Test func editsPreserveTheirOrder() throws {
        let request = try PlaybackRequest(
            QueryItems("url=https%3A%2F%2Fh%2Fa.m3u8%3Fx%3D1%262&start=8&bandwidth=1M...4M&duration=30&segments=proxy")
        )
        #expect(request.source.text == "https://h/a.m3u8?x=1&2" && request.delivery == .proxy)
        #expect(request.plan.edits.map(\.nameAndValue.name) == ["start", "bandwidth", "duration"])
        #expect(
            try PlaybackRequest(QueryItems(String(request.path.dropFirst("/play.m3u8?".count)))).path == request.path
        )
    }

    @Test(arguments: [
        "", "url=", "url=file:///etc/passwd", "url=https://h/a&bandwidth=x", "url=https://h/a?x=1&y=2",
        "url=https://h/a&segments=never", "duration=30", "url=https://h/a&absolute=no", "url=https://h/a&no-i-frames=x",
    ])
    func invalidRequestsAreRejected(query: String) {
        #expect(throws: (any Error).self) { try PlaybackRequest(QueryItems(query)) }
    }

    @Test func queriesAreDecodedByteForByte() {
        let items = QueryItems("a=1+2&b=%2B%20&c&=x&d=%ff")
        #expect(items["a"] == "1+2" && items["b"] == "+ " && items["c"] == "" && items.items.count == 3)
    }
}

@Suite struct PlaybackRequestHandlerTests {
    private let transport = ScriptedTransport(texts: [
        "https://h/v/top.m3u8": """
        #EXTM3U
        #EXT-X-DEFINE:NAME="cdn",VALUE="https://cdn.example/"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="audio.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="K",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
        360.m3u8?sig=a%2Fb
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
        720.m3u8

        """,
        "https://h/v/720.m3u8": """
        #EXTM3U
        #EXT-X-DEFINE:IMPORT="cdn"
        #EXT-X-TARGETDURATION:10
        #EXT-X-KEY:METHOD=AES-128,URI="key?a=1"
        #EXTINF:10,
        0.ts
        #EXTINF:10,
        {$cdn}1.ts
        #EXTINF:10,
        2.ts
        #EXT-X-ENDLIST

        """,
        "https://ads/ad.m3u8": """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=640x360
        small.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720
        large.m3u8

        """,
        "https://ads/small.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n",
        "https://ads/large.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n",
        "https://h/page": "<html>",
        "https://h/x.mpd": "<?xml version=\"1.0\"?><MPD></MPD>",
    ])

    private let signer = SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 7, count: 32)))

    private func play(_ query: String) async throws -> Playlist {
        var request = try PlaybackRequest(QueryItems(query))
        request.mediaAddressing = .server(signer)
        let budget = try ServerCapacity(ServerLimits()).admit()
        let editing = PlaybackRequestHandler(loader: ResourceLoader(transport), budget: budget, workers: .callingTask)
        return try Playlist.parse(await editing.playlist(for: request))
    }

    /// Returns the name, target and delivery of a segment address, whose signature must be valid.
    private func segment(_ uri: String?) throws -> String {
        let parts = try #require(uri).split(separator: "?", maxSplits: 1)
        let path = try #require(parts.first)
        try #require(path.hasPrefix("/segment/"))
        let address = try SegmentAddress(
            name: String(path.dropFirst("/segment/".count)),
            query: QueryItems(parts.count > 1 ? String(parts[1]) : nil),
            signer: signer
        )
        return "\(address.name) \(address.target) \(address.delivery)"
    }

    @Test func mediaPlaylistsKeepTheEdits() async throws {
        let playlist = try await play("url=https://h/v/top.m3u8&bandwidth=1M...&duration=20&segments=proxy")
        guard case .multivariant(let multivariant) = playlist else {
            Issue.record("not multivariant")
            return
        }
        #expect(
            multivariant.variants.map(\.uri) == [
                "/play.m3u8?url=https://h/v/720.m3u8&duration=20&segments=proxy&define=cdn%3Dhttps://cdn.example/"
            ]
        )
        #expect(multivariant.renditions.allSatisfy { $0.uri?.hasPrefix("/play.m3u8?url=https://h/v/") == true })

        let child = try await play(String(multivariant.variants[0].uri.dropFirst("/play.m3u8?".count)))
        guard case .media(let media) = child else {
            Issue.record("not media")
            return
        }
        #expect(media.duration.description == "20" && media.hasEndMarker)
        #expect(
            try media.segments.map { try segment($0.uri) } == [
                "0.ts https://h/v/0.ts proxy", "1.ts https://cdn.example/1.ts proxy",
            ]
        )
        #expect(try segment(media.segments[0].keys.first?.uri) == "key https://h/v/key?a=1 proxy")
    }

    @Test func variantsGetTheMatchingAdvertisementAndSubtitlesAGap() async throws {
        let playlist = try await play("url=https://h/v/top.m3u8&append=https://ads/ad.m3u8")
        guard case .multivariant(let multivariant) = playlist else {
            Issue.record("not multivariant")
            return
        }
        #expect(multivariant.variants[0].uri.contains("append=https://ads/small.m3u8"))
        #expect(multivariant.variants[1].uri.contains("append=https://ads/large.m3u8"))
        #expect(multivariant.renditions[0].uri?.contains("append=https://ads/small.m3u8") == true)
        #expect(multivariant.renditions[1].uri?.contains("append=gap:4") == true)
        let child = try await play(String(multivariant.variants[1].uri.dropFirst("/play.m3u8?".count)))
        guard case .media(let media) = child else {
            Issue.record("not media")
            return
        }
        #expect(try segment(media.segments.last?.uri) == "b.ts https://ads/b.ts redirect")
        #expect(media.duration.description == "34")
        #expect(media.segments.last?.keys.isEmpty == true)
    }

    @Test func signaturesInURLsArePreserved() async throws {
        let playlist = try await play("url=https://h/v/top.m3u8")
        guard case .multivariant(let multivariant) = playlist else {
            Issue.record("not multivariant")
            return
        }
        let query = QueryItems(String(multivariant.variants[0].uri.dropFirst("/play.m3u8?".count)))
        #expect(query["url"] == "https://h/v/360.m3u8?sig=a%2Fb")
    }

    @Test func deliveryDirectivesArePassedToTheOrigin() async throws {
        let live =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-RENDITION-REPORT:URI=\"b.m3u8\",LAST-MSN=3\n"
        transport.setResponses(for: "https://h/live.m3u8?t=1&_HLS_msn=4&_HLS_part=2", .text(live))
        let playlist = try await play("url=https://h/live.m3u8%3Ft=1&_HLS_msn=4&_HLS_part=2")
        let text = String(decoding: playlist.bytes, as: UTF8.self)
        #expect(text.contains("URI=\"/play.m3u8?url=https://h/b.m3u8\""))
    }

    @Test func requestWithTooManyEditsIsRejected() {
        let edits = String(repeating: "&duration=9", count: 17)
        #expect(throws: PlaylistEditError.tooManyEdits(maximum: 16)) {
            try PlaybackRequest(QueryItems("url=https://h/a.m3u8" + edits))
        }
    }

    @Test(arguments: [
        ("text/html", "application/octet-stream"), ("image/svg+xml", "application/octet-stream"),
        ("video/mp4; codecs=x", "video/mp4; codecs=x"), ("TEXT/VTT", "TEXT/VTT"),
        ("application/xhtml+xml; video/mp4", "application/octet-stream"),
    ])
    func onlyMediaTypesArePreserved(type: String, expected: String) {
        #expect(FileResponder.safeMediaType(type) == expected)
    }

    @Test func resourceThatIsNotAPlaylistIsAnError() async {
        let page = await #expect(throws: ServerError.self) { try await play("url=https://h/page") }
        #expect(page?.status == .badGateway && page?.code == "not-a-playlist")
        let manifest = await #expect(throws: ServerError.self) { try await play("url=https://h/x.mpd") }
        #expect(manifest?.status == .unsupportedMediaType)
        let missing = await #expect(throws: TransportError.self) { try await play("url=https://h/none") }
        #expect(missing.map { ServerError($0).status } == .badGateway)
    }
}

@Suite struct FileResponderTests {
    @Test(arguments: [
        ("bytes=0-0", 0, 0), ("bytes=10-", 10, 99), ("bytes=-5", 95, 99), ("bytes=90-1000", 90, 99),
        ("bytes=-1000", 0, 99),
    ])
    func validRangesAreParsed(text: String, low: Int, high: Int) {
        #expect(FileResponder.range(text, size: 100) == low...high)
    }

    @Test(arguments: [
        "bytes=100-", "bytes=5-4", "bytes=-0", "bytes=", "items=0-1", "bytes=0-1,3-4", "bytes=a-b", "bytes=-",
    ])
    func invalidRangesAreRejected(text: String) {
        #expect(FileResponder.range(text, size: 100) == nil)
    }
}
