import AssetStorage
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOEmbedded
import NetworkConditioning
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the media routes with scripted transports.
@Suite struct MediaRouterTests {
    private let transport = ScriptedTransport()
    private let foreignTransport = ScriptedTransport()
    private let signer = SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 1, count: 32)))
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")

    private func ask(
        _ target: String,
        _ fields: [(HTTPField.Name, String)] = [],
        as initiator: RequestInitiator = .player,
        conditions: LinkProfile = .off
    ) async throws -> Response {
        defer { try? FileManager.default.removeItem(at: folder) }
        let policy = SourcePolicy(allowedHosts: ["10.0.0.1"], catalog: []) { _ in false }
        let hosts = HostCache()
        let environment = PlaybackEnvironment(
            sources: SourceAccess(
                trusted: (ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)), policy, hosts),
                foreign: (
                    ResourceLoader(foreignTransport, policy: RecoveryPolicy(retries: 0)),
                    policy.restrictedToPublicAddresses, hosts
                )
            ),
            signer: signer,
            capacity: ServerCapacity(ServerLimits()),
            workers: .callingTask,
            // No time passes, so that no limit is exceeded on a busy machine.
            time: Simulation()
        )
        let routes = MediaRoutes(
            environment,
            library: try AssetLibrary(directory: folder),
            links: LinkRegistry(shared: conditions),
            faults: FaultSettings([])
        )
        let router = Router(context: ServerRequestContext.self)
        routes.add(to: router)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var context = ServerRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
        )
        context.initiator = initiator
        return try await router.buildResponder().respond(to: .get(target, fields: fields), context: context)
    }

    private func segment(_ target: String, _ delivery: PlaybackRequest.SegmentDelivery = .proxy) -> String {
        SegmentAddress(ResourceAddress(target), delivery: delivery, link: nil).path(signedBy: signer)
    }

    private static let stitched = "/play.m3u8?url=http://10.0.0.1/main.m3u8&append=http://10.0.0.1/ad.m3u8"

    private func setPresentation(low: String?, high: String?) {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh.m3u8\n"
        transport.setResponses(for: "http://10.0.0.1/main.m3u8", .text(text))
        transport.setResponses(for: "http://10.0.0.1/ad.m3u8", .text(Self.media("ad.ts")))
        for (name, media) in [("low", low), ("high", high)] {
            if let media { transport.setResponses(for: "http://10.0.0.1/\(name).m3u8", .text(media)) }
        }
    }

    private static func media(_ segment: String, map: String = "") -> String {
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n\(map)#EXTINF:4,\n\(segment)\n#EXT-X-ENDLIST\n"
    }

    private static let fragmented = media("0.m4s", map: "#EXT-X-MAP:URI=\"init.mp4\"\n")

    /// A player would otherwise receive a multivariant playlist, and then errors.
    @Test func sourceThatCannotBeStitchedIsRefusedAtTheMultivariantPlaylist() async throws {
        setPresentation(low: Self.fragmented, high: Self.fragmented)
        let refused = try await ask(Self.stitched)
        let refusal = try await refused.body.recorded().text
        #expect(refused.status == .badRequest && refusal.contains("cannot-stitch"), "\(refusal)")
        let child = try await ask(Self.stitched.replacingOccurrences(of: "main.m3u8", with: "low.m3u8"))
        #expect(try await child.body.recorded().text == refusal)
        // Before them, segments without a map can be played.
        let prepended = Self.stitched.replacingOccurrences(of: "append=", with: "prepend=")
        #expect(try await ask(prepended).status == .ok)
    }

    @Test(
        arguments: [(fragmented, media("0.ts")), (media("0.ts"), fragmented), (nil, fragmented)] as [(String?, String?)]
    )
    func presentationWithAVariantThatCanBeStitchedIsDelivered(low: String?, high: String?) async throws {
        setPresentation(low: low, high: high)
        #expect(try await ask(Self.stitched).status == .ok)
    }

    /// The server tries a limited number of variants, those that come first.
    @Test(arguments: [(15, HTTPResponse.Status.ok), (16, .badRequest)])
    func onlyTheFirstVariantsAreVerified(count: Int, status: HTTPResponse.Status) async throws {
        setPresentation(low: nil, high: nil)
        let names = (0...count).map { "v\($0).m3u8" }
        let variants = names.map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0)\n" }.joined()
        transport.setResponses(for: "http://10.0.0.1/main.m3u8", .text("#EXTM3U\n" + variants))
        for name in names.dropLast() {
            transport.setResponses(for: "http://10.0.0.1/\(name)", .text(Self.fragmented))
        }
        // The last variant is the only one that the advertisement can follow.
        transport.setResponses(for: "http://10.0.0.1/v\(count).m3u8", .text(Self.media("0.ts")))
        #expect(try await ask(Self.stitched).status == status)
        #expect(transport.requestedAddresses.count { $0.contains("/v") } == 16)
    }

    /// The media of a playlist without an end is not known when the multivariant playlist is requested.
    @Test(arguments: [
        ("insert=http://10.0.0.1/ad.m3u8@4", HTTPResponse.Status.badRequest),
        ("append=http://10.0.0.1/ad.m3u8&live=loop", .ok), ("replace-breaks=http://10.0.0.1/ad.m3u8@cues", .ok),
        ("duration=4", .ok),
    ])
    func onlyStitchedPresentationsAreVerified(edits: String, status: HTTPResponse.Status) async throws {
        setPresentation(low: Self.fragmented, high: Self.fragmented)
        #expect(try await ask("/play.m3u8?url=http://10.0.0.1/main.m3u8&" + edits).status == status)
    }

    /// ffmpeg, mpv, VLC and GStreamer load no keys from `data` URLs.
    @Test(arguments: ["", "&segments=direct", "&segments=proxy"])
    func keyOfAnEditIsReceivedFromTheServer(delivery: String) async throws {
        let text = Self.media("0.ts", map: "#EXT-X-KEY:METHOD=AES-128,URI=\"k.key\"\n")
        transport.setResponses(for: "http://10.0.0.1/main.m3u8", .text(text))
        let bytes = (1...16).map { UInt8($0) }
        let value = "0102030405060708090a0b0c0d0e0f10"
        let edited = try await ask("/play.m3u8?url=http://10.0.0.1/main.m3u8&key=\(value)\(delivery)")
        let playlist = try await edited.body.recorded().text
        let path = String(
            try #require(playlist.firstMatch(of: /METHOD=AES-128,URI="([^"]+)"/)?.output.1, "\(playlist)")
        )
        #expect(path.hasPrefix("/segment/key?"))
        let key = try await ask(path)
        #expect(key.status == .ok && key.headers[.contentType] == "application/octet-stream")
        #expect(try await key.body.recorded().bytes == bytes)
        // The server lends its name to no other content.
        let other = path.replacingOccurrences(of: "AQID", with: "BQID")
        #expect(other != path)
        #expect(try await ask(other).status == .forbidden)
        #expect(!transport.requests.contains { $0.address.text.contains("k.key") })
    }

    /// Additional bytes would be taken for the response to the next request, and missing ones for the end of the segment.
    @Test(
        arguments: [
            (9, 9, nil), (10, 10, nil), (11, 10, .wrongContent), (9, 10, .connectionLost),
        ] as [(Int, Int64, TransportError.Code?)]
    )
    func onlyTheAnnouncedLengthIsWritten(count: Int, announced: Int64, code: TransportError.Code?) async throws {
        transport.setResponses(
            for: "http://10.0.0.1/a.ts",
            .truncated([UInt8](repeating: 1, count: count), announced: announced)
        )
        let response = try await ask(segment("http://10.0.0.1/a.ts"))
        #expect(response.status == .ok && response.body.contentLength == Int(announced))
        let (body, error) = await response.body.recordedWithError()
        #expect((error as? TransportError)?.code == code)
        #expect(body.bytes.count == (code == .wrongContent ? 0 : count) && body.isFinished == (code == nil))
    }

    @Test func rangeFieldIsPassedOnUnchanged() async throws {
        transport.setResponses(for: "http://10.0.0.1/a.ts", .bytes([1, 2, 3], contentType: "video/mp2t"))
        _ = try await ask(segment("http://10.0.0.1/a.ts"), [(.range, "bytes=1-x")])
        #expect(transport.requests.last?.headers == [HeaderField("Range", "bytes=1-x")])
        #expect(transport.requests.last?.byteRange == nil && transport.requests.last?.kind == .segment)
        _ = try await ask(segment("http://10.0.0.1/a.ts"))
        #expect(transport.requests.last?.headers == [])
    }

    @Test(arguments: [
        (RequestInitiator.player, true), (.ownPage, true), (.foreignPage, false), (.foreignHost, false),
    ])
    func initiatorDeterminesTheTransportOfASource(initiator: RequestInitiator, isOwn: Bool) async throws {
        let playlist = ScriptedTransport.Response.text(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        )
        for transport in [transport, foreignTransport] {
            transport.setResponses(for: "http://10.0.0.1/a.m3u8", playlist)
            transport.setResponses(for: "http://10.0.0.1/a.ts", .bytes([1]))
        }
        #expect(try await ask("/play.m3u8?url=http://10.0.0.1/a.m3u8", as: initiator).status == .ok)
        #expect(try await ask(segment("http://10.0.0.1/a.ts"), as: initiator).status == .ok)
        let (used, unused) = isOwn ? (transport, foreignTransport) : (foreignTransport, transport)
        #expect(
            used.requestedAddresses == ["http://10.0.0.1/a.m3u8", "http://10.0.0.1/a.ts"] && unused.requests.isEmpty
        )
        let redirect = try await ask(segment("http://10.0.0.1/a.ts", .redirect), as: initiator)
        #expect(redirect.status == (isOwn ? .found : .forbidden))
        #expect(redirect.headers[.location] == (isOwn ? "http://10.0.0.1/a.ts" : nil))
    }

    @Test(
        arguments: [
            ("document", false), ("DOCUMENT", false), ("embed", false), ("fencedframe", false), ("frame", false),
            ("iframe", false), ("object", false), ("video", true), ("empty", true), ("", true), (nil, true),
        ] as [(String?, Bool)]
    )
    func navigationsAreNotRedirected(destination: String?, isRedirected: Bool) async throws {
        let fields = destination.map { [(HTTPField.Name.secFetchDestination, $0)] } ?? []
        let response = try await ask(segment("http://10.0.0.1/a.ts", .redirect), fields)
        #expect(response.status == (isRedirected ? .found : .forbidden))
        #expect(response.headers[.location] == (isRedirected ? "http://10.0.0.1/a.ts" : nil))
    }

    @Test(arguments: [
        ("a%20b.ts?x=~", "a%20b.ts?x=~"), ("a b.ts", "a%20b.ts"), ("a\tb.ts", "a%09b.ts"),
        ("a\r\nX: b.ts", "a%0D%0AX:%20b.ts"),
        ("a\u{7F}b.ts", "a%7Fb.ts"), ("ä.ts", "%C3%A4.ts"), ("!.ts", "!.ts"), ("~.ts", "~.ts"),
    ])
    func locationHasPercentEncodedSpacesAndControlCharacters(name: String, expected: String) async throws {
        let response = try await ask(segment("http://10.0.0.1/" + name, .redirect))
        #expect(response.status == .found)
        #expect(response.headers[.location] == "http://10.0.0.1/" + expected)
    }

    /// A segment that is sent over a conditioned link cannot be redirected.
    @Test func sharedConditionsApplyToEverySegment() async throws {
        transport.setResponses(for: "http://10.0.0.1/a.ts", .bytes([1, 2]))
        let outage = LinkProfile(name: "outage", outages: [.init(start: .zero, duration: .milliseconds(1))])
        let response = try await ask(segment("http://10.0.0.1/a.ts", .redirect), conditions: outage)
        #expect(response.status == .ok)
        #expect(try await response.body.recorded().bytes == [1, 2])
    }
}

/// Tests the shutdown of a server with pending requests.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerEndTests {
    @Test func shutdownDoesNotWaitForALinkWithTotalLoss() async throws {
        var connection: RawConnection?
        try await ServerStage.run { (stage: ServerStage) async throws in
            let waiting = try RawConnection(port: stage.port)
            waiting.send(
                "GET /play.m3u8?url=\(stage.privateSource)&conditions=100%25+Loss HTTP/1.1\r\n"
                    + "Host: 127.0.0.1:\(stage.port)\r\n\r\n"
            )
            while try await stage.ask("/api/conditions").body.contains(#""links":[]"#) { await Task.yield() }
            connection = waiting
        }
        #expect(try await connection?.readToEnd().contains("200 OK") == false)
    }

    @Test func shutdownDoesNotWaitForABodyOnASlowLink() async throws {
        var connection: RawConnection?
        try await ServerStage.run { options, _ in
            options.conditions = LinkProfile(name: "slow", down: .init(bandwidth: .init(bitsPerSecond: 8)))
        } _: { (stage: ServerStage) async throws in
            let waiting = try RawConnection(port: stage.port)
            waiting.send(
                "GET /play.m3u8?url=\(stage.privateSource) HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\n\r\n"
            )
            #expect(try await waiting.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
            connection = waiting
        }
        #expect(try await connection?.readToEnd().contains("#EXT-X-ENDLIST") == false)
    }
}
