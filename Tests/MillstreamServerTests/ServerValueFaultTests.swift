import Foundation
import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import Metrics
import MillstreamTesting
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests small values of the server at their boundaries.
@Suite struct ServerValueFaultTests {
    /// A timeline that was stored before the program started can exceed the limits, and goes on while it does not grow.
    @Test func timelineOfTheSameSizeIsStored() throws {
        var shares = BreakShares(BreakShares.Limits(size: 100))
        shares.use("a", size: 300, at: .zero)
        let removed = try shares.store(300, of: "a", for: nil, at: .zero)
        #expect(removed.isEmpty)
        var refusal: ServerError?
        do {
            _ = try shares.store(301, of: "a", for: nil, at: .zero)
        } catch { refusal = error as? ServerError }
        #expect(refusal?.status == .serviceUnavailable)
    }

    @Test(
        arguments: [
            (5, "0.005"), (10, "0.01"), (25, "0.025"), (50, "0.05"), (100, "0.1"), (250, "0.25"), (500, "0.5"),
            (1_000, "1"), (2_500, "2.5"), (5_000, "5"), (10_000, "10"),
        ] as [(Int64, String)]
    )
    func bucketContainsItsBound(milliseconds: Int64, bound: String) {
        let metrics = PrometheusMetrics([.init(name: "times", type: .histogram, help: "Times.")])
        let times = metrics.makeTimer(label: "times", dimensions: [])
        times.recordNanoseconds(milliseconds * 1_000_000)
        times.recordNanoseconds(milliseconds * 1_000_000 + 1)
        #expect(metrics.text.contains("times_bucket{le=\"\(bound)\"} 1\n"))
    }

    @Test(
        arguments: [
            ("198.51.100.7 , 10.0.0.2", nil, "198.51.100.7"), ("\t198.51.100.7\t", nil, "198.51.100.7"),
            ("198.51.100.7 \t ", nil, "198.51.100.7"), (nil, " for = 198.51.100.7 ", "198.51.100.7"),
            // One quotation mark or one bracket is no part of an address.
            ("\"198.51.100.77", nil, nil), ("1198.51.100.7\"", nil, nil), ("x198.51.100.7]", nil, nil),
        ] as [(String?, String?, String?)]
    )
    func spaceAroundAnAddressIsIgnored(forwardedFor: String?, forwarded: String?, expected: String?) throws {
        let proxies = [try #require(TrustedProxy("10.0.0.0/8"))]
        let client = proxies.client(forwardedFor: forwardedFor, forwarded: forwarded)
        #expect(client?.description == expected)
    }

    /// The page that a user left is of no importance if the browser says where a request comes from.
    @Test(arguments: [("Sec-Fetch-Site", "same-origin"), ("Origin", "http://127.0.0.1:8080")])
    func referrerIsTheLastToDecide(name: String, value: String) throws {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:8080", path: "/")
        let field = try #require(HTTPField.Name(name))
        head.headerFields[field] = value
        head.headerFields[.referer] = "https://other.example/"
        #expect(RequestInitiator(head, names: ServerNames([]), isForwarded: false) == .ownPage)
    }

    /// A client sends the beginning of the list, and a proxy appends to it.
    @Test func noCharacterJoinsTheCommaAfterIt() throws {
        let proxies = [try #require(TrustedProxy("10.0.0.0/8"))]
        let forged = "\u{600}, 198.51.100.7"
        #expect(proxies.client(forwardedFor: forged, forwarded: nil)?.description == "198.51.100.7")
        let forgedElement = "for=\u{600}, for=198.51.100.7"
        #expect(proxies.client(forwardedFor: nil, forwarded: forgedElement)?.description == "198.51.100.7")
    }

    /// A combining character after a separator does not hide it.
    @Test func separatorsOfAQueryAreBytes() {
        let items = QueryItems("a=1&\u{301}b=\u{301}2\u{600}&c=3").items
        #expect(items.map(\.name) == ["a", "\u{301}b", "c"])
        #expect(items.map(\.value) == ["1", "\u{301}2\u{600}", "3"])
    }

    @Test func itemsHaveNames() {
        #expect(QueryItems("=1&=&a=2").items == [QueryItems.Item(name: "a", value: "2")])
    }

    @Test(arguments: [
        ("gzip;q=1", true), ("gzip;a=0", true), ("gzip\t;\tq=0", false), ("identity;q=0, *", true),
    ])
    func onlyAQualityOfZeroRefusesGzip(field: String, isAccepted: Bool) {
        #expect(GzipEncoding.isAccepted(by: [.acceptEncoding: field]) == isAccepted)
    }

    @Test func addressExpiresOnce() {
        let error = #expect(throws: ServerError.self) { try AddressExpiry(QueryItems("expires=1&expires=1")) }
        #expect(error?.status == .badRequest && error?.code == "invalid-value")
    }

    @Test func numbersInSeveralPlaylistsAreKnown() throws {
        let settings = FaultSettings([try #require(ResponseFault("sequence=7&status=503"))])
        for name in ["a", "b"] {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n#EXTINF:4,\n\(name).ts\n"
            settings.recordSequences(of: Array(text.utf8), at: ResourceAddress("http://h/\(name).m3u8"))
        }
        for path in ["/a.ts", "/b.ts"] {
            let fault = settings.fault(forRequestOf: path)
            #expect(fault != nil, "\(path)")
        }
    }

    @Test(arguments: ["truncate=x", "corrupt=x", "stall=-1", "reset=-1", "requests=1", "requests=1&path=*.ts"])
    func faultHasAnEffectWithANumber(text: String) {
        #expect(ResponseFault(text) == nil)
    }

    @Test(arguments: [
        ("url=https://h/a.ts&segments=direct", "invalid-value"), ("url=https://h/a.ts&expires=x", "invalid-value"),
        ("url=https://h/a.ts&segments=proxy&segments=proxy", "repeated-item"), ("segments=proxy", "missing-url"),
        ("url=https://h/a.ts&segments=proxy", "invalid-signature"),
    ])
    func addressOfASegmentIsRefusedWithACode(query: String, code: String) {
        let signer = SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 7, count: 16)))
        let error = #expect(throws: ServerError.self) {
            try SegmentAddress(name: "a.ts", query: QueryItems(query + "&signature=x"), signer: signer)
        }
        #expect(error?.code == code)
    }

    /// A media file has no playlist that could be edited.
    @Test(
        arguments: [
            ("url=https://h/a.mp4", false, "redirect"), ("url=https://h/a.mp4&segments=proxy", false, "proxy"),
            ("url=https://h/a.mp4&segments=direct", false, "redirect"),
            ("url=https://h/a.mp4&absolute", false, "redirect"),
            ("url=https://h/a.mp4&absolute&duration=4", false, "not-a-playlist"), ("url=https://h/a", false, nil),
            ("url=https://h/a", true, "redirect"), ("segments=proxy", true, nil),
        ] as [(String, Bool, String?)]
    )
    func mediaFileIsDeliveredAsASegment(query: String, isKnownFile: Bool, expected: String?) {
        var found: String?
        do {
            let address = try SegmentAddress(
                mediaFileIn: QueryItems(query),
                limits: EditLimits(),
                expiry: nil,
                isKnownFile: isKnownFile
            )
            found = address?.delivery.rawValue
        } catch { found = ServerError(error).code }
        #expect(found == expected)
    }

    /// The addresses in a playlist are admitted as long as that of the playlist.
    @Test func permissionIsInherited() throws {
        let secret = ServerSecret(bytes: [UInt8](repeating: 7, count: 16))
        var request = try PlaybackRequest(QueryItems("url=https://h/a"))
        request.permission = PlaybackPermission(signer: PlaybackSigner(secret), expiry: AddressExpiry(UnixSeconds(9)))
        let sibling = request.sibling(ResourceAddress("https://h/b"), EditPlan([]))
        for child in [sibling, request.inheritance([:])] {
            #expect(child.path.contains("&expires=9&signature="), "\(child.path)")
        }
    }
}

/// Tests what is known of redundant variants at the boundaries of its use.
@Suite(.timeLimit(.minutes(2))) struct RedundantVariantFaultTests {
    private static let target = MediaTime(seconds: 4)

    @Test func stateOfALiveVariantIsKnownForThreeTargetDurations() {
        var observation = VariantObservation()
        observation.record(.live(VariantObservation.End(sequence: 2), targetDuration: Self.target), at: .seconds(1))
        let live = VariantAvailability.live(LiveVariant(targetDuration: Self.target, endSequence: 2))
        #expect(observation.availability(at: .seconds(13)) == live)
        #expect(observation.availability(at: .milliseconds(13_001)) == .unknown)
    }

    /// A playlist whose last segment became longer has changed.
    @Test func anotherDateIsAChange() {
        var observation = VariantObservation()
        let steps: [(now: Int64, date: Int64, unchanged: Int64, hasChanged: Bool)] = [
            (0, 10, 0, false), (4, 10, 4, false), (8, 12, 0, true), (12, 12, 4, true),
        ]
        for step in steps {
            let date = MediaTime(seconds: step.date)
            let end = VariantObservation.End(sequence: 2, date: date)
            observation.record(.live(end, targetDuration: Self.target), at: .seconds(step.now))
            let expected = LiveVariant(
                targetDuration: Self.target,
                endSequence: 2,
                endDate: date,
                unchangedTime: .seconds(step.unchanged),
                hasChanged: step.hasChanged
            )
            #expect(observation.availability(at: .seconds(step.now)) == .live(expected), "\(step.now)")
        }
    }

    @Test func playlistOfSeveralVariantsIsLoadedOnce() async throws {
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let transport = ScriptedTransport(texts: ["https://h/a.m3u8": media, "https://h/b.m3u8": media])
        let time = Simulation()
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0), time: time)
        let removal = RedundantVariantRemoval(
            loader: OriginPlaylistLoader(loader: loader, workers: .callingTask),
            budget: try ServerCapacity(ServerLimits()).admit(),
            workers: .callingTask,
            monitor: VariantMonitor(time: time)
        )
        let variants = ["a", "b", "a"].map { "#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://h/\($0).m3u8\n" }.joined()
        let playlist = try MultivariantPlaylist(parsing: Array(("#EXTM3U\n" + variants).utf8))
        let count = try await time.run { try await removal.removeUnavailableVariants(of: playlist).variants.count }
        #expect(count == 3)
        #expect(transport.requestedAddresses.sorted() == ["https://h/a.m3u8", "https://h/b.m3u8"])
    }
}

/// Tests the positions of subtitles that are outside the video.
@Suite(.timeLimit(.minutes(2))) struct BrowserCueFaultTests {
    @Test func positionsAreThoseOfTheVideo() async throws {
        let text = """
            WEBVTT

            REGION
            id:before
            width:40%
            lines:5
            regionanchor:100%,100%
            viewportanchor:0%,0%

            REGION
            id:after
            width:40%
            lines:5
            regionanchor:0%,0%
            viewportanchor:100%,100%

            00:01.000 --> 00:02.000 region:before align:left
            low

            00:02.000 --> 00:03.000 region:after align:right
            high

            """
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\na.vtt\n#EXT-X-ENDLIST\n"
        try await ServerStage.run { (stage: ServerStage) async throws in
            for (path, text) in [("/t.m3u8", list), ("/a.vtt", text)] {
                stage.origin.set(path, .init(Array(text.utf8), contentType: "application/octet-stream"))
                stage.origin.behave(path, .proper)
            }
            let playback = "/play.m3u8?url=\(stage.origin.address("/t.m3u8"))"
            let address = playback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let cues = try await stage.ask("/api/playback/cues?address=\(address)&segment=0&start=0")
            #expect(cues.body.contains(#""text":"low","line":0,"position":0,"#), "\(cues.body)")
            #expect(cues.body.contains(#""text":"high","line":100,"position":100,"#), "\(cues.body)")
        }
    }
}

/// Tests the sizes of segments and keys at their limits.
@Suite(.timeLimit(.minutes(2))) struct ResourceSizeFaultTests {
    /// An origin that announces a size, and sends nothing.
    private struct Origin: Transport {
        let size: Int64

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(to: request, expectedLength: size, body: TransportBody([UInt8]()))
        }
    }

    private static let date = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    @Test(arguments: [(33_554_432, false), (33_554_433, true)] as [(Int64, Bool)])
    func dividedSegmentHas32MebibytesAtMost(size: Int64, isTooLarge: Bool) async throws {
        let store = PartStore(workers: .callingTask, capacity: ServerCapacity(ServerLimits()), date: { Self.date })
        let loader = ResourceLoader(Origin(size: size), policy: RecoveryPolicy(retries: 0))
        let fragment = "part=0&count=4&target=0.5&duration=2&date=\(Self.date.sinceEpoch)"
        let part = try #require(SegmentPart(of: ResourceAddress("http://h/a.aac#\(fragment)")))
        var code: TransportError.Code?
        do {
            _ = try await store.bytes(of: part, isForeign: false, loader)
        } catch { code = (error as? TransportError)?.code }
        #expect((code == .tooLarge) == isTooLarge)
    }

    @Test(arguments: [("truncate=15", true), ("truncate=16", true), ("truncate=17", false), ("corrupt=16", false)])
    func keyThatEndsIsNotReceived(fault: String, isLost: Bool) async throws {
        let settings = FaultSettings([try #require(ResponseFault(fault))])
        let key = [UInt8](repeating: 7, count: 16)
        let base = ScriptedTransport(["https://h/k": [.bytes(key)]])
        let transport = KeyFaultTransport(base: base, settings: settings, path: { $0.path })
        var code: TransportError.Code?
        var received: [UInt8] = []
        do {
            let response = try await transport.send(TransportRequest(ResourceAddress("https://h/k"), kind: .key))
            for try await buffer in response.body { received += Array(buffer.readableBytesView) }
        } catch { code = (error as? TransportError)?.code }
        #expect((code == .connectionLost) == isLost && received == (isLost ? [] : key))
    }
}
