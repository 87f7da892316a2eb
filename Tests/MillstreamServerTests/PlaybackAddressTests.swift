import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NetworkConditioning
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamServer

@Suite struct QueryItemsTests {
    private func item(_ name: String, _ value: String) -> QueryItems.Item { QueryItems.Item(name: name, value: value) }

    @Test func itemsAreParsedInOrder() {
        #expect(QueryItems(nil).items.isEmpty && QueryItems("").items.isEmpty && QueryItems("&&").items.isEmpty)
        #expect(
            QueryItems("a=1&b&a=2=3&=4&%61=%2F&c=%ff&%ff=c&d=").items == [
                item("a", "1"), item("b", ""), item("a", "2=3"), item("a", "/"), item("d", ""),
            ]
        )
        #expect(QueryItems("a=1&a=2")["a"] == "1" && QueryItems("a=1")["b"] == nil)
    }

    @Test func itemsAreWrittenWithMinimalPercentEncoding() {
        let items = QueryItems([
            item("url", "https://h:80/a,b@c!d*(e)$?x=1&y=%20#z"), item("absolute", ""), item("name", "ä;'+\""),
        ])
        #expect(
            items.text
                == "url=https://h:80/a,b@c!d*(e)$%3Fx%3D1%26y%3D%2520%23z&absolute&name=%C3%A4%3B%27%2B%22"
        )
        #expect(QueryItems(items.text).items == items.items)
    }
}

/// Tests the parsing of the query of `/play.m3u8`.
@Suite struct PlaybackQueryTests {
    private func request(
        _ query: String,
        allowsFiles: Bool = false,
        limits: EditLimits = EditLimits()
    ) throws -> PlaybackRequest {
        try PlaybackRequest(QueryItems(query), allowsFiles: allowsFiles, limits: limits)
    }

    @Test(arguments: [
        ("", "missing-url"), ("url=", "missing-url"), ("url=a.m3u8", "invalid-value"), ("duration=9", "missing-url"),
        ("url=file:///etc/passwd", "invalid-value"), ("url=https:///a", "invalid-value"),
        ("url=ftp://x/y", "invalid-value"),
        ("url=https://h/a&segments=never", "invalid-value"), ("url=https://h/a&segments=", "invalid-value"),
        ("url=https://h/a&parent=", "invalid-value"), ("url=https://h/a&parent=file:///x", "invalid-value"),
        ("url=https://h/a&x=1", "unknown-edit"), ("url=https://h/a?x=1&y=2", "unknown-edit"),
        ("url=https://h/a&HLS_msn=1", "unknown-edit"), ("url=https://h/a&bandwidth=x", "invalid-value"),
    ])
    func invalidQueriesAreRejectedWithACode(query: String, code: String) {
        do {
            _ = try request(query)
            Issue.record("\(query) was accepted")
        } catch {
            #expect(ServerError(error).status == .badRequest && ServerError(error).code == code)
        }
    }

    @Test(arguments: PlaylistEdit.definitions)
    func everyEditIsAParameter(definition: EditDefinition) throws {
        for value in definition.parameter == nil ? [""] : definition.examples {
            let query = QueryItems([
                QueryItems.Item(name: "url", value: "https://h/a"),
                QueryItems.Item(name: definition.name, value: value),
            ])
            let parsed = try request(query.text)
            #expect(parsed.plan.edits == [try PlaylistEdit(name: definition.name, value: value)])
            // The address of a child contains the edit in its normalized form.
            let child = try request(String(parsed.path.dropFirst("/play.m3u8?".count)))
            #expect(child.plan == parsed.plan)
        }
    }

    @Test func filesAreAllowedOnlyIfEnabled() throws {
        #expect(try request("url=file:///a.m3u8", allowsFiles: true).source.text == "file:///a.m3u8")
        let child = try request("url=https://h/a&parent=file:///top.m3u8", allowsFiles: true)
        #expect(child.parent?.text == "file:///top.m3u8")
        #expect(throws: ServerError.self) { try request("duration=9", allowsFiles: true) }
    }

    @Test func numberOfEditsIsLimited() throws {
        let edits = { (count: Int) in "url=https://h/a" + String(repeating: "&start=1", count: count) }
        #expect(try request(edits(16)).plan.edits.count == 16)
        #expect(throws: PlaylistEditError.tooManyEdits(maximum: 16)) { try request(edits(17)) }
        #expect(try request(edits(2), limits: EditLimits(edits: 2)).plan.edits.count == 2)
        #expect(throws: PlaylistEditError.tooManyEdits(maximum: 2)) {
            try request(edits(3), limits: EditLimits(edits: 2))
        }
    }

    @Test func numberOfDifferentSourcesIsLimited() throws {
        let limits = EditLimits(sources: 2)
        let accepted = "url=https://h/a&append=https://h/b&prepend=https://h/c&insert=https://h/b@4"
        #expect(try request(accepted, limits: limits).plan.sources == ["https://h/b", "https://h/c", "https://h/b"])
        #expect(throws: PlaylistEditError.tooManySources(maximum: 2)) {
            try request(accepted + "&append=https://h/d", limits: limits)
        }
    }

    @Test(arguments: [
        ("url=https://h/a.m3u8", "url=https://h/a.m3u8"),
        ("url=https://h/a&url=https://h/b", "url=https://h/b"),
        ("url=https%3A%2F%2Fh%2Fa%3Fx%3D1%262", "url=https://h/a%3Fx%3D1%262"),
        ("duration=30&url=https://h/a&start=8", "url=https://h/a&duration=30&start=8"),
        ("url=https://h/a&segments=redirect", "url=https://h/a"),
        ("url=https://h/a&segments=proxy", "url=https://h/a&segments=proxy"),
        ("url=https://h/a&segments=proxy&segments=redirect", "url=https://h/a"),
        ("url=https://h/a&absolute=1&no-i-frames", "url=https://h/a&absolute&no-i-frames"),
        ("url=https://h/a&absolute=0&canonical=true&no-i-frames=false", "url=https://h/a&canonical"),
        (
            "url=https://h/a&define=b%3D2&define=a%3D1%3D1&define=none&define=c%3D",
            "url=https://h/a&define=a%3D1%3D1&define=b%3D2&define=c%3D"
        ),
        ("url=https://h/a&parent=https://h/top%3Fx", "url=https://h/a&parent=https://h/top%3Fx"),
        ("url=https://h/a&_HLS_msn=4", "url=https://h/a"),
        ("url=https://h/a&link=abc", "url=https://h/a"),
        ("url=https://h/a&conditions=3G&link=abc", "url=https://h/a&conditions=3G&link=abc"),
        ("url=https://h/a&conditions=3G&link=abc&segments=proxy", "url=https://h/a&conditions=3G&link=abc"),
        (
            "segments=proxy&parent=https://h/t&define=a%3D1&append=https://h/b&url=https://h/a",
            "url=https://h/a&append=https://h/b&segments=proxy&define=a%3D1&parent=https://h/t"
        ),
    ])
    func requestHasACanonicalForm(query: String, written: String) throws {
        #expect(try request(query).path == "/play.m3u8?" + written)
        #expect(try RequestParsing.playbackPath(query) == "/play.m3u8?" + written)
        #expect(try request(written).path == "/play.m3u8?" + written)
    }

    @Test func requestWithConditionsUsesProxyDelivery() throws {
        #expect(try request("url=https://h/a").delivery == .redirect)
        #expect(try request("url=https://h/a&segments=proxy").delivery == .proxy)
        let conditioned = try request("url=https://h/a&conditions=3G&link=abc&segments=redirect")
        #expect(conditioned.delivery == .proxy && conditioned.link?.id == "abc")
        let first = try request("url=https://h/a&conditions=3G")
        #expect(
            first.link?.id
                == LinkRegistry.identifier(.init(source: ResourceAddress("https://h/a"), conditions: "3G"))
        )
    }

    @Test(arguments: [
        ("url=https://h/a", "https://h/a"), ("url=https://h/a&_HLS_msn=4", "https://h/a?_HLS_msn=4"),
        ("url=https://h/a&_HLS_msn=4&_HLS_skip=YES", "https://h/a?_HLS_msn=4&_HLS_skip=YES"),
        ("url=https://h/a%3Fx%3D1&_HLS_msn=4", "https://h/a?x=1&_HLS_msn=4"),
        ("url=https://h/a%3F&_HLS_msn=4", "https://h/a?&_HLS_msn=4"),
        ("url=https://h/a&_HLS_primary_id=x&replace-breaks=https://h/ad@cues", "https://h/a?_HLS_primary_id=x"),
        // Other names are reserved, and an edit requires the full playlist.
        ("url=https://h/a&_HLS_x=4", "https://h/a"), ("url=https://h/a&_HLS_msn=4&_HLS_y=1", "https://h/a?_HLS_msn=4"),
        ("url=https://h/a&_HLS_msn=4&_HLS_skip=YES&start=30", "https://h/a?_HLS_msn=4"),
        ("url=https://h/a&_HLS_msn=4&_HLS_part=1&replace-breaks=https://h/ad@cues", "https://h/a"),
    ])
    func deliveryDirectivesArePassedToTheOrigin(query: String, address: String) throws {
        #expect(try request(query).address.text == address)
    }

    @Test func siblingInheritsEverythingExceptDeliveryDirectives() throws {
        var original = try request(
            "url=https://h/a&conditions=3G&link=abc&define=a%3D1&_HLS_msn=4&parent=https://h/top"
        )
        original.base = "http://server"
        original.mediaAddressing = .server(SegmentSigner(ServerSecret(bytes: [1])))
        let sibling = original.sibling(ResourceAddress("https://h/b"), EditPlan([.maxHeight(9)]))
        #expect(
            sibling.path == "http://server/play.m3u8?url=https://h/b&max-height=9&conditions=3G&link=abc"
                + "&define=a%3D1&parent=https://h/top"
        )
        #expect(sibling.address.text == "https://h/b" && sibling.delivery == .proxy)
        guard case .server = sibling.mediaAddressing else {
            Issue.record("the segments of the sibling would not come from this server")
            return
        }
    }

    @Test(arguments: [
        (["a": String(repeating: "x", count: 511)], true), (["a": String(repeating: "x", count: 512)], false),
        (["ab": String(repeating: "x", count: 253), "cd": String(repeating: "x", count: 255)], true),
        (["ab": String(repeating: "x", count: 254), "cd": String(repeating: "x", count: 255)], false),
        (["a": String(repeating: "ä", count: 256)], false), ([:], true),
    ])
    func onlyShortVariablesAreInherited(variables: [String: String], isShort: Bool) throws {
        var original = try request("url=https://h/a&duration=9&segments=proxy&define=z%3D1&parent=https://h/t")
        original.base = "http://server"
        let inheritance = original.inheritance(variables)
        #expect(inheritance.variables == (isShort ? variables : [:]))
        #expect(inheritance.parent?.text == (isShort ? nil : "https://h/a"))
        #expect(inheritance.source == original.source && inheritance.plan == original.plan)
        #expect(inheritance.delivery == .proxy && inheritance.base == "http://server" && inheritance.link == nil)
        guard case .origin = inheritance.mediaAddressing else {
            Issue.record("the segments would come from this server")
            return
        }
    }

    @Test func linkAndMediaAddressingAreInherited() throws {
        var original = try request("url=https://h/a&conditions=3G&link=abc")
        original.mediaAddressing = .server(SegmentSigner(ServerSecret(bytes: [1])))
        let inheritance = original.inheritance([:])
        #expect(inheritance.link?.id == "abc")
        guard case .server = inheritance.mediaAddressing else {
            Issue.record("the segments would not come from this server")
            return
        }
    }
}

/// Tests complete edited playlists.
@Suite struct EditedPlaylistTests {
    private static let playlists = [
        "https://h/v/media.m3u8": """
        #EXTM3U
        #EXT-X-VERSION:9
        #EXT-X-TARGETDURATION:4
        #EXT-X-PART-INF:PART-TARGET=2
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=6
        #EXT-X-KEY:METHOD=AES-128,URI="key"
        #EXT-X-MAP:URI="init.mp4"
        #EXTINF:4,
        0.m4s
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="x"
        #EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:00Z",X-ASSET-URI="ad.m3u8"
        #EXT-X-PART:DURATION=2,URI="1.0.m4s"
        #EXTINF:2,
        https://cdn/1.m4s?a=1&b=2
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="2.0.m4s"
        #EXT-X-RENDITION-REPORT:URI="other.m3u8?t=1",LAST-MSN=1

        """,
        "https://h/v/top.m3u8": """
        #EXTM3U
        #EXT-X-SESSION-DATA:DATA-ID="com.example",URI="data.json"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="key"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="D"
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="E",URI="en.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,AUDIO="a",VIDEO="v"
        360.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,URI="360.m3u8"

        """,
        "https://ads/top": """
        #EXTM3U
        #EXT-X-DEFINE:NAME="x",VALUE="y"
        #EXT-X-STREAM-INF:BANDWIDTH=900000
        large
        #EXT-X-STREAM-INF:BANDWIDTH=400000
        small

        """,
        "https://ads/small":
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-DEFINE:IMPORT=\"x\"\n#EXTINF:4,\n{$x}.ts\n#EXT-X-ENDLIST\n",
        "https://ads/none": "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",URI=\"e\"\n",
        "https://h/short": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n",
        "https://h/importing":
            "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"a\"\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n{$a}.ts\n#EXT-X-ENDLIST\n",
        "https://h/quoting?t=%22":
            "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"t\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv?t={$t}\n",
        "https://h/missing": "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"t\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv?t={$t}\n",
        "https://h/parameterized?t=1":
            "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"t\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\n{$t}\n",
        "https://h/parent":
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nimporting\n",
        "https://h/subtitled": """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="s.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,SUBTITLES="s"
        v.m3u8

        """,
        "https://h/plain": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\nv.m3u8\n",
    ]

    private let transport = ScriptedTransport(texts: playlists)

    private func play(
        _ query: String,
        isSigned: Bool = true,
        base: String = "",
        limits: ServerLimits = ServerLimits()
    ) async throws -> String {
        var request = try PlaybackRequest(QueryItems(query))
        if isSigned {
            request.mediaAddressing = .server(SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 7, count: 32))))
        }
        request.base = base
        let budget = try ServerCapacity(limits).admit()
        let policy = RecoveryPolicy(retries: 0)
        let loader = ResourceLoader(transport, policy: policy)
        let editing = PlaybackRequestHandler(loader: loader, budget: budget, workers: .callingTask)
        return String(decoding: try await editing.playlist(for: request), as: UTF8.self)
            .replacing(/signature=[A-Za-z0-9_-]{43}/, with: "signature=S")
    }

    private func error(_ query: String, limits: ServerLimits = ServerLimits()) async -> ServerError? {
        do {
            _ = try await play(query, limits: limits)
            return nil
        } catch {
            return ServerError(error)
        }
    }

    @Test func addressesInAMediaPlaylistAreRewritten() async throws {
        #expect(
            try await play("url=https://h/v/media.m3u8&segments=proxy", base: "http://me") == """
                #EXTM3U
                #EXT-X-VERSION:9
                #EXT-X-TARGETDURATION:4
                #EXT-X-PART-INF:PART-TARGET=2
                #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=6
                #EXT-X-KEY:METHOD=AES-128,URI="http://me/segment/key?url=https://h/v/key&signature=S&segments=proxy"
                #EXT-X-MAP:URI="http://me/segment/init.mp4?url=https://h/v/init.mp4&signature=S&segments=proxy"
                #EXTINF:4,
                http://me/segment/0.m4s?url=https://h/v/0.m4s&signature=S&segments=proxy
                #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="x"
                #EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:00Z",X-ASSET-URI="https://h/v/ad.m3u8"
                #EXT-X-PART:DURATION=2,URI="http://me/segment/1.0.m4s?url=https://h/v/1.0.m4s&signature=S&segments=proxy"
                #EXTINF:2,
                http://me/segment/1.m4s?url=https://cdn/1.m4s%3Fa%3D1%26b%3D2&signature=S&segments=proxy
                #EXT-X-PRELOAD-HINT:TYPE=PART,URI="http://me/segment/2.0.m4s?url=https://h/v/2.0.m4s&signature=S&segments=proxy"
                #EXT-X-RENDITION-REPORT:URI="http://me/play.m3u8?url=https://h/v/other.m3u8%3Ft%3D1&segments=proxy",LAST-MSN=1

                """
        )
    }

    @Test func mediaIsAddressedAtTheOriginWithoutASigner() async throws {
        let text = try await play("url=https://h/v/media.m3u8", isSigned: false, base: "http://me")
        #expect(text.contains("URI=\"https://h/v/key\"") && text.contains("URI=\"skd://key\""))
        #expect(text.contains("\nhttps://h/v/0.m4s\n") && text.contains("\nhttps://cdn/1.m4s?a=1&b=2\n"))
        #expect(text.contains("URI=\"http://me/play.m3u8?url=https://h/v/other.m3u8%3Ft%3D1\""))
    }

    @Test func addressesInAMultivariantPlaylistAreRewritten() async throws {
        #expect(
            try await play("url=https://h/v/top.m3u8&duration=8") == """
                #EXTM3U
                #EXT-X-SESSION-DATA:DATA-ID="com.example",URI="https://h/v/data.json"
                #EXT-X-SESSION-KEY:METHOD=AES-128,URI="/segment/key?url=https://h/v/key&signature=S"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="/play.m3u8?url=https://h/v/en.m3u8&duration=8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="D"
                #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="E",URI="/play.m3u8?url=https://h/v/en.m3u8&duration=8"
                #EXT-X-STREAM-INF:BANDWIDTH=500000,AUDIO="a",VIDEO="v"
                /play.m3u8?url=https://h/v/360.m3u8&duration=8
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,URI="/play.m3u8?url=https://h/v/360.m3u8&duration=8"

                """
        )
    }

    /// Each source is loaded once; for a multivariant playlist, only the variant with the lowest bit rate is loaded.
    @Test func sourcesAreLoadedOnce() async throws {
        _ = try await play("url=https://h/short&append=https://ads/top&prepend=https://ads/top&append=gap:4")
        #expect(transport.requestedAddresses == ["https://h/short", "https://ads/top", "https://ads/small"])
    }

    @Test func variablesOfAStitchedPresentationAreSubstituted() async throws {
        let text = try await play("url=https://h/short&append=https://ads/top", isSigned: false)
        #expect(text.split(separator: "\n").filter { !$0.hasPrefix("#") } == ["https://h/a.ts", "https://ads/y.ts"])
    }

    @Test func durationOfAnAdvertisementIsLoadedOnlyForSubtitles() async throws {
        _ = try await play("url=https://h/plain&append=https://ads/top&prepend=https://ads/top")
        #expect(transport.requestedAddresses == ["https://h/plain", "https://ads/top"])
        let text = try await play("url=https://h/subtitled&append=https://ads/top")
        #expect(text.contains("URI=\"/play.m3u8?url=https://h/s.m3u8&append=gap:4/4\""))
        #expect(
            transport.requestedAddresses.dropFirst(2) == [
                "https://h/subtitled", "https://ads/top", "https://ads/small",
            ]
        )
    }

    @Test func importedVariableIsReadFromTheParent() async throws {
        let text = try await play("url=https://h/importing&parent=https://h/parent", isSigned: false)
        #expect(text.contains("\nhttps://h/1.ts\n"))
        #expect(transport.requestedAddresses == ["https://h/importing", "https://h/parent"])
        _ = try await play("url=https://h/short&parent=https://h/parent")
        #expect(transport.requestedAddresses.last == "https://h/short")
        let own = try await play("url=https://h/importing&define=a%3D2", isSigned: false)
        #expect(own.contains("\nhttps://h/2.ts\n"))
    }

    /// A player can open the URL of a media playlist alone.
    @Test(arguments: ["&define=a%3D1", "&parent=https://h/parent", "&duration=4&define=a%3D1"])
    func importedVariableIsDefinedInTheMediaPlaylist(parameters: String) async throws {
        let text = try await play("url=https://h/importing\(parameters)", isSigned: false)
        #expect(text.contains("\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n") && !text.contains("IMPORT"), "\(text)")
        guard case .media(let media) = try Playlist.parse(Array(text.utf8)) else {
            Issue.record("not a media playlist")
            return
        }
        try media.checkImports()
    }

    /// The URL of the server has other parameters than that of the source.
    @Test func parameterOfTheSourceIsDefinedInThePlaylist() async throws {
        let text = try await play("url=https://h/parameterized%3Ft=1", isSigned: false)
        #expect(text.contains("\n#EXT-X-DEFINE:NAME=\"t\",VALUE=\"1\"\n") && !text.contains("QUERYPARAM"), "\(text)")
        #expect(text.contains("\n/play.m3u8?url=https://h/1&define=t%3D1\n"), "\(text)")
    }

    /// No quoted string can contain the value.
    @Test func parameterWithAQuotationMarkIsInTheAddresses() async throws {
        let text = try await play("url=https://h/quoting%3Ft=%2522", isSigned: false)
        #expect(!text.contains("EXT-X-DEFINE"), "\(text)")
        #expect(text.contains("\n/play.m3u8?url=https://h/v%3Ft%3D"), "\(text)")
    }

    @Test func importOfAnUnknownVariableStays() async throws {
        let text = try await play("url=https://h/importing", isSigned: false)
        #expect(text.contains("\n#EXT-X-DEFINE:IMPORT=\"a\"\n"))
    }

    @Test(arguments: [
        ("url=https://h/none", HTTPResponse.Status.badGateway, "http-status"),
        ("url=https://h/missing", .badGateway, "query-parameter-missing"),
        ("url=https://h/short&append=https://ads/none", .badRequest, "cannot-stitch"),
        ("url=https://h/importing&parent=https://h/short", .badGateway, "unexpected-playlist-kind"),
        ("url=https://h/short&start=9", .badRequest, "time-outside"),
        ("url=https://h/plain&max-height=9&bandwidth=1...2", .badRequest, "nothing-left"),
    ])
    func playlistThatCannotBeEditedIsAnError(query: String, status: HTTPResponse.Status, code: String) async {
        let failure = await error(query)
        #expect(failure?.status == status && failure?.code == code)
    }

    @Test(arguments: [
        ("<html>", HTTPResponse.Status.badGateway, "not-a-playlist"),
        ("<?xml version=\"1.0\"?><MPD></MPD>", .unsupportedMediaType, "dash"),
        ("\u{0}\u{0}\u{0}\u{18}ftypiso6", .unsupportedMediaType, "not-a-playlist"),
        (
            String(repeating: "G" + String(repeating: "x", count: 187), count: 3), .unsupportedMediaType,
            "not-a-playlist"
        ),
        ("{\"a\":1}", .badGateway, "not-a-playlist"), ("", .badGateway, "not-a-playlist"),
    ])
    func statusDistinguishesUnsupportedFormatsFromOriginErrors(
        text: String,
        status: HTTPResponse.Status,
        code: String
    ) async {
        transport.setResponses(for: "https://h/x", .text(text))
        let failure = await error("url=https://h/x")
        #expect(failure?.status == status && failure?.code == code)
        #expect(failure?.message.hasPrefix("https://h/x: ") == true)
    }

    @Test func inspectionReturnsTheCompleteReport() async throws {
        let budget = try ServerCapacity(ServerLimits()).admit()
        let editing = PlaybackRequestHandler(loader: ResourceLoader(transport), budget: budget, workers: .callingTask)
        let report = try await editing.report(of: ResourceAddress("https://h/short"))
        let text = try #require(Self.playlists["https://h/short"])
        let context = PlaylistContext(address: ResourceAddress("https://h/short"))
        #expect(
            try String(decoding: report, as: UTF8.self)
                == Playlist.parse(Array(text.utf8), context: context).report.json
        )
    }
}

/// Tests playlists that are edited without a server.
@Suite struct EditedTransportTests {
    private let time = ManualTime()
    private let source = ScriptedTransport(texts: [
        "https://h/a.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n",
        "file:///a.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n",
        "https://h/top.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n", "https://h/page": "<html>",
        "\(EditedTransport.defaultOrigin).example/play.m3u8": "other", EditedTransport.defaultOrigin: "none",
        "http://edited.invalid/play.m3u8?url=file:///a.m3u8": "other",
    ])
    private let transport: EditedTransport

    /// A transport that takes two seconds for each response.
    private struct SlowTransport: Transport {
        let base: any Transport
        let time: ManualTime

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            time.advance(by: .seconds(2))
            return try await base.send(request)
        }
    }

    init() {
        transport = EditedTransport(
            SlowTransport(base: source, time: time),
            policy: RecoveryPolicy(retries: 0),
            time: time
        )
    }

    private func load(_ address: ResourceAddress) async throws -> (response: TransportResponse, text: String) {
        let response = try await transport.send(TransportRequest(address, kind: .playlist))
        var text = ""
        for try await buffer in response.body { text += String(buffer: buffer) }
        return (response, text)
    }

    @Test func editedPlaylistHasAnAddress() {
        let address = EditedTransport.address(
            of: ResourceAddress("https://h/a.m3u8?x"),
            EditPlan([.duration(MediaTime(seconds: 4))])
        )
        #expect(address.text == "\(EditedTransport.defaultOrigin)/play.m3u8?url=https://h/a.m3u8%3Fx&duration=4")
    }

    @Test func playlistAtTheEditedAddressIsEdited() async throws {
        let address = EditedTransport.address(
            of: ResourceAddress("https://h/a.m3u8"),
            EditPlan([.duration(MediaTime(seconds: 4))])
        )
        let (response, text) = try await load(address)
        #expect(text == "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nhttps://h/0.ts\n#EXT-X-ENDLIST\n")
        #expect(response.status == 200 && response.headers.isEmpty && response.address == address)
        #expect(response.expectedLength == Int64(text.utf8.count))
        #expect(
            response.record.measurement.requestStart == .zero
                && response.record.measurement.timeToFirstByte == .seconds(2)
        )
        #expect(response.record.measurement.bytes == ByteCount(Int64(text.utf8.count)))
    }

    @Test func mediaPlaylistsAreEditedThroughTheSameTransport() async throws {
        let top = EditedTransport.address(
            of: ResourceAddress("https://h/top.m3u8"),
            EditPlan([.duration(MediaTime(seconds: 4))])
        )
        let (_, text) = try await load(top)
        #expect(
            text == "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n"
                + "\(EditedTransport.defaultOrigin)/play.m3u8?url=https://h/a.m3u8&duration=4\n"
        )
    }

    @Test func filesMayBeEdited() async throws {
        let address = EditedTransport.address(of: ResourceAddress("file:///a.m3u8"), EditPlan([]))
        #expect(try await load(address).text.contains("\nfile:///0.ts\n"))
    }

    /// A local playlist can be inserted into a remote one, which must not name files itself.
    @Test func remotePlaylistsNameNoFiles() async throws {
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n"
        let source = ScriptedTransport(texts: [
            "https://h/good.m3u8": media + "1.ts\n#EXT-X-ENDLIST\n",
            "https://h/bad.m3u8": media + "file:///x\n#EXT-X-ENDLIST\n",
            "file:///a.m3u8": media + "0.ts\n#EXT-X-ENDLIST\n",
        ])
        let transport = EditedTransport(source, policy: RecoveryPolicy(retries: 0), time: time)
        let plan = EditPlan([try PlaylistEdit(name: "append", value: "file:///a.m3u8")])
        let address = EditedTransport.address(of: ResourceAddress("https://h/good.m3u8"), plan)
        let response = try await transport.send(TransportRequest(address, kind: .playlist))
        #expect(response.mayNameFiles)
        #expect(try await load(address, from: transport).contains("\nfile:///0.ts\n"))
        let refused = EditedTransport.address(of: ResourceAddress("https://h/bad.m3u8"), plan)
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.send(TransportRequest(refused, kind: .playlist))
        }
        #expect(error?.code.rawValue == "not-a-playlist" && error?.message.contains("local file") == true)
    }

    private func load(_ address: ResourceAddress, from transport: EditedTransport) async throws -> String {
        let loaded = try await ResourceLoader(transport).load(TransportRequest(address, kind: .playlist))
        return String(decoding: loaded.bytes, as: UTF8.self)
    }

    /// A remote document cannot name a special address, because it does not know the origin.
    @Test(
        arguments: [
            "\(EditedTransport.defaultOrigin).example/play.m3u8", EditedTransport.defaultOrigin,
            "http://edited.invalid/play.m3u8?url=file:///a.m3u8",
        ]
    )
    func otherAddressesAreRequestedFromTheOrigin(address: String) async throws {
        _ = try await load(ResourceAddress(address))
        #expect(source.requestedAddresses == [address])
    }

    @Test(
        arguments: [
            ("\(EditedTransport.defaultOrigin)/other", TransportError.Code.wrongContent, nil),
            ("\(EditedTransport.defaultOrigin)/play.m3u8", TransportError.Code(rawValue: "missing-url"), nil),
            (
                "\(EditedTransport.defaultOrigin)/play.m3u8?url=https://h/page",
                TransportError.Code(rawValue: "not-a-playlist"),
                "https://h/page"
            ),
            (
                "\(EditedTransport.defaultOrigin)/play.m3u8?url=https://h/a.m3u8&start=9",
                TransportError.Code(rawValue: "time-outside"),
                "https://h/a.m3u8"
            ),
            ("\(EditedTransport.defaultOrigin)/play.m3u8?url=https://h/none", .status, "https://h/none"),
        ] as [(String, TransportError.Code, String?)]
    )
    func errorsContainTheAddressOfTheSource(address: String, code: TransportError.Code, source: String?) async throws {
        let error = await #expect(throws: TransportError.self) { try await load(ResourceAddress(address)) }
        #expect(error?.code == code)
        #expect(error?.address?.text == source ?? address)
    }

    @Test func playlistThatIsTooLargeIsReported() async throws {
        let line = "#" + String(repeating: "x", count: 1 << 20) + "\n"
        source.setResponses(for: "https://h/large", .text("#EXTM3U\n" + String(repeating: line, count: 32)))
        let address = EditedTransport.address(of: ResourceAddress("https://h/large"), EditPlan([]))
        let error = await #expect(throws: TransportError.self) { try await load(address) }
        #expect(error?.code == .tooLarge)
    }

    /// Each request releases its share of the capacity.
    @Test func capacityIsReleasedAfterEachPlaylist() async throws {
        let address = EditedTransport.address(of: ResourceAddress("https://h/a.m3u8"), EditPlan([]))
        for _ in 0..<80 { _ = try await load(address) }
        #expect(source.requests.count == 80)
    }
}
