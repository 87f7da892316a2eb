import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests options, transports and the loading of an asset that no other suite reaches.
@Suite struct AssetFaultTests {
    /// A transport that records the requests, and responds with a status.
    private struct RefusingTransport: Transport {
        let asked = Collected<TransportRequest>()
        var status = 404

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            asked.add(request)
            throw TransportError(.status, "refused", address: request.address, status: status)
        }
    }

    private final class PlainAuthorizer: RequestAuthorizer {}

    /// An authorizer that waits for longer than its time limit.
    private final class SlowAuthorizer: RequestAuthorizer {
        let time: any TimeSource
        init(_ time: any TimeSource) { self.time = time }
        var responseTimeLimit: Duration? { .seconds(5) }
        func authorize(_ request: TransportRequest) async throws -> TransportRequest {
            try await time.sleep(for: .seconds(30))
            return request
        }
    }

    private static let address = ResourceAddress("https://a.example/main.m3u8")

    // MARK: Options

    @Test(arguments: [NetworkCost.cellular, .expensive, .constrained])
    func onlyTheForbiddenNetworksAreRefused(forbidden: NetworkCost) async {
        var options = AssetOptions()
        #expect(options.translatesDASH && options.referenceRestrictions.isEmpty)
        options.allowsCellularAccess = forbidden != .cellular
        options.allowsExpensiveNetworkAccess = forbidden != .expensive
        options.allowsConstrainedNetworkAccess = forbidden != .constrained
        for cost in [NetworkCost.cellular, .expensive, .constrained] {
            for (options, isRefused) in [(options, cost == forbidden), (AssetOptions(), false)] {
                let loader = options.restricting(
                    ResourceLoader(ScriptedTransport(texts: [Self.address.text: "text"])),
                    of: Self.address,
                    network: NetworkStatus(cost: cost)
                )
                let response = try? await loader.transport.send(TransportRequest(Self.address, kind: .playlist))
                #expect((response == nil) == isRefused, "\(cost)")
            }
        }
    }

    @Test func restrictionsHaveTheValuesOfAVFoundation() {
        let restrictions: [ReferenceRestrictions] = [
            .forbidLocalReferenceToRemote, .forbidCrossSiteReference, .forbidLocalReferenceToLocal, .forbidAll,
        ]
        #expect(restrictions.map(\.rawValue) == [2, 4, 8, 0xFFFF])
    }

    @Test func aLocalFileIsNoOtherSite() {
        let file = ResourceAddress("file:///films/x.ts")
        let restrictions = ReferenceRestrictions.forbidCrossSiteReference
        #expect(restrictions.refusalReason(from: Self.address, to: file) == nil)
        #expect(restrictions.refusalReason(from: Self.address, to: ResourceAddress("https://b.test/")) != nil)
        #expect(restrictions.refusalReason(from: file, to: ResourceAddress("https://b.test/")) == nil)
        #expect(ReferenceRestrictions.forbidAll.refusalReason(from: file, to: ResourceAddress("data:,x")) == nil)
    }

    @Test func aRefusedReferenceIsNotRequested() async {
        let transport = RefusingTransport()
        var options = AssetOptions()
        options.referenceRestrictions = .forbidCrossSiteReference
        let loader = options.restricting(ResourceLoader(transport), of: Self.address, network: NetworkStatus())
        let request = TransportRequest(ResourceAddress("https://b.test/x"), kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await loader.transport.send(request) }
        #expect(error?.code == .addressRefused && transport.asked.all.isEmpty)
    }

    // MARK: Authorization

    @Test func headerFieldsAreInTheOrderOfTheirNames() async throws {
        let transport = RefusingTransport()
        let names = (0..<8).map { "X-\($0)" }
        let options = AssetOptions(headerFields: Dictionary(uniqueKeysWithValues: names.map { ($0, "1") }))
        let authorized = options.authorizing(transport, for: Self.address)
        _ = try? await authorized.send(TransportRequest(Self.address, kind: .segment))
        #expect(transport.asked.all.map { $0.allHeaders.map(\.name) } == [names])
    }

    @Test func headerFieldsOfHostsAreSentWithoutOthers() async throws {
        let transport = RefusingTransport()
        var options = AssetOptions()
        options.headerFieldsByHost[try #require(HeaderFieldScope("https://a.example"))] = ["X-Scheme": "1"]
        options.headerFieldsByHost[try #require(HeaderFieldScope("a.example"))] = ["X-Host": "1"]
        let authorized = options.authorizing(transport, for: ResourceAddress("https://b.example/"))
        _ = try? await authorized.send(TransportRequest(Self.address, kind: .segment))
        #expect(transport.asked.all.map { $0.allHeaders.map(\.name) } == [["X-Host", "X-Scheme"]])
    }

    @Test func anAuthorizerHasDefaults() async throws {
        let (authorizer, transport) = (PlainAuthorizer(), RefusingTransport(status: 403))
        #expect(authorizer.responseTimeLimit == .seconds(60))
        let error = TransportError(.status, "refused", address: Self.address, status: 403)
        let isRenewed = try await authorizer.renewCredentials(after: error)
        #expect(!isRenewed)
        var options = AssetOptions()
        options.authorizer = authorizer
        let authorized = options.authorizing(transport, for: Self.address)
        _ = try? await authorized.send(TransportRequest(Self.address, kind: .segment))
        #expect(transport.asked.all.map(\.address) == [Self.address])
    }

    @Test func theTimeLimitOfAnAuthorizerApplies() async throws {
        let simulation = Simulation()
        try await simulation.run {
            let transport = RefusingTransport()
            var options = AssetOptions()
            options.authorizer = SlowAuthorizer(simulation)
            let authorized = options.authorizing(transport, for: Self.address, time: simulation)
            await #expect(throws: (any Error).self) {
                try await authorized.send(TransportRequest(Self.address, kind: .segment))
            }
            #expect(simulation.now == .seconds(5) && transport.asked.all.isEmpty)
        }
    }

    @Test func responsesToSignedRequestsAreNotCached() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = AssetOptions()
        #expect(!(SharedHTTPTransport.transport(for: Self.address, options) is CachedTransport))
        options.cache = try DiskCache(directory: folder)
        #expect(SharedHTTPTransport.transport(for: Self.address, options) is CachedTransport)
        options.authorizer = PlainAuthorizer()
        #expect(!(SharedHTTPTransport.transport(for: Self.address, options) is CachedTransport))
    }

    @Test func nothingIsAuthorizedWithoutFieldsAndAuthorizer() {
        #expect(AssetOptions().authorizing(RefusingTransport(), for: Self.address) is RefusingTransport)
    }

    @Test func differentObjectsHaveDifferentHashes() {
        let assets = (0..<8).map { _ in Asset(Self.address, environment: World().environment) }
        let items = assets.map { PlayerItem(asset: $0) }
        let authorizers = assets.map { _ in AuthorizerReference(authorizer: PlainAuthorizer()) }
        #expect(Set(assets.map(\.hashValue)).count == assets.count)
        #expect(Set(items.map(\.hashValue)).count == items.count)
        #expect(Set(authorizers.map(\.hashValue)).count == authorizers.count)
    }

    // MARK: Loading

    @Test func aRunningInspectionIsSharedByAFailedProperty() {
        let failure = Result<AssetInspection, PlayerError>.failure(PlayerError(.notLoaded, "no"))
        var loading = AssetLoading()
        _ = loading.load([.duration])
        loading.finish(1, failure)
        let other = loading.load([.tracks])
        #expect(other.action == .inspect(2) && other.run == 2)
        let joined = loading.load([.duration])
        #expect(joined.action == .none && joined.run == 2)
        loading.finish(2, .success(.film))
        let loaded = loading.load([.duration])
        #expect(loaded.action == .none && loaded.run == nil && loading.inspection != nil)
    }

    @Test func aCanceledInspectionEnds() async throws {
        let ended = Collected<Bool>()
        let world = World { world, _ in
            do { try await world.sleep(.seconds(100)) } catch { ended.add(true) }
            return .film
        }
        try await simulated(world) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            async let duration = asset.load(.duration)
            try await world.sleep(.seconds(1))
            #expect(ended.all.isEmpty)
            asset.cancelLoading()
            _ = try? await duration
            try await world.sleep(.seconds(1))
            #expect(ended.all == [true])
        }
    }

    @Test func valuesAreLoadedByTheirKeys() async throws {
        try await simulated { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            try await asset.loadValues(for: [.duration])
            #expect(asset.loadedValue(.duration) == MediaTime(seconds: 10) && world.inspections == 1)
            // A task that was canceled does not receive what is loaded.
            let isCanceled = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        _ = try await asset.load(.duration)
                        return false
                    } catch { return error is CancellationError }
                }
                group.cancelAll()
                return await group.next() ?? false
            }
            #expect(isCanceled)
        }
    }

    @Test func updatesOfTheAssetEndWithIt() async throws {
        try await simulated { world in
            var asset: Asset? = Asset(ResourceAddress("a"), environment: world.environment)
            let playability = try #require(asset?.playability)
            asset = nil
            var values: [Bool] = []
            for await value in playability { values.append(value) }
            #expect(values == [false])
        }
    }

    // MARK: Tracks and options

    private static func presentation(_ tags: String) throws -> Presentation {
        let context = PlaylistContext(address: ResourceAddress("https://a.example/main.m3u8"))
        return Presentation(try MultivariantPlaylist(parsing: Array("#EXTM3U\n\(tags)\n".utf8), context: context))
    }

    @Test(
        arguments: [
            ("avc1.42c01e", ["video avc1.42c01e -"]), ("mp4a.40.2", ["audio mp4a.40.2 -"]),
            ("avc1.42c01e,mp4a.40.2", ["video avc1.42c01e -", "audio mp4a.40.2 -"]), (nil, ["video - -", "audio - -"]),
        ] as [(String?, [String])]
    )
    func tracksFollowFromTheCodecs(codecs: String?, expected: [String]) throws {
        let attribute = codecs.map { ",CODECS=\"\($0)\"" } ?? ""
        let presentation = try Self.presentation("#EXT-X-STREAM-INF:BANDWIDTH=1\(attribute)\nv.m3u8")
        let tracks = AssetTrack.tracks(of: try variant(presentation), presentation.groups, media: [])
        #expect(Self.describe(tracks) == expected)
    }

    private func variant(_ presentation: Presentation) throws -> Presentation.Variant {
        try #require(presentation.variants.first)
    }

    private static func describe(_ tracks: [AssetTrack]) -> [String] {
        tracks.map { "\($0.mediaType) \($0.codec ?? "-") \($0.language ?? "-")" }
    }

    @Test func tracksFollowFromTheRenditions() throws {
        let presentation = try Self.presentation(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="S",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.42c01e",AUDIO="a",SUBTITLES="s"
            v.m3u8
            """
        )
        let tracks = AssetTrack.tracks(of: try variant(presentation), presentation.groups, media: [])
        #expect(Self.describe(tracks) == ["video avc1.42c01e -", "audio - en", "subtitles - de"])
    }

    @Test func renditionsReplaceTheAudioOfTheSegments() async throws {
        let silence: [UInt8] = (0..<10).flatMap { _ in [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413) }
        let main = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="b.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            a.m3u8
            """
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.25,\na.mp3\n#EXT-X-ENDLIST\n"
        let responses: [String: [ScriptedTransport.Response]] = [
            PlayedOrigin.origin + "main.m3u8": [.text(main)], PlayedOrigin.origin + "a.m3u8": [.text(media)],
            PlayedOrigin.origin + "a.mp3": [.bytes(silence)],
        ]
        try await PlayedOrigin(responses: responses).run { world in
            let tracks = try await world.item().asset.load(.tracks)
            #expect(tracks == [AssetTrack(mediaType: .audio, language: "en")])
        }
    }

    @Test func optionsHaveTheCharacteristicsOfTheirRenditions() throws {
        let presentation = try Self.presentation(
            """
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="F",FORCED=YES,AUTOSELECT=YES,URI="f.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",CHARACTERISTICS="public.easy-to-read",URI="e.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES="s"
            v.m3u8
            """
        )
        let options = try #require(presentation.group(for: .legible)?.options)
        #expect(options.map(\.name) == ["F", "E"] && presentation.group(for: .audible) == nil)
        #expect(options.map { $0.has(.containsOnlyForcedSubtitles) } == [true, false])
        #expect(options.map { $0.has(.easyToRead) } == [false, true])
        #expect(options.allSatisfy { $0.has(.legible) && !$0.has(.audible) && !$0.has(.visual) })
    }
}
