import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests playback addresses whose source is a DASH manifest.
@Suite struct DASHRequestTests {
    private static let videoSet = """
        <AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">
        <SegmentTemplate duration="4" initialization="$RepresentationID$.mp4" media="$RepresentationID$-$Number$.m4s"/>
        <Representation id="low" bandwidth="500000" codecs="avc1.42c01e" width="640" height="360"/>
        <Representation id="high" bandwidth="2000000" codecs="avc1.42c01e" width="1280" height="720"/></AdaptationSet>
        """
    private static let film = """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT20S">\
        <Period>\(videoSet)</Period></MPD>
        """
    private static let live = """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z"
        timeShiftBufferDepth="PT20S" minimumUpdatePeriod="PT8S"><Period id="1" start="PT0S">\(videoSet)</Period></MPD>
        """

    private let time = ManualTime()
    private let transport: ScriptedTransport

    init() { transport = ScriptedTransport(texts: ["https://h/a": Self.film, "https://h/live": Self.live]) }

    private func store(_ limits: ServerLimits = ServerLimits()) -> PresentationStore {
        var options = PresentationStore(limits, workers: .callingTask, time: time).options
        let time = time
        options.date = { .seconds(1_704_067_800) + time.now }
        return PresentationStore(options: options)
    }

    private func text(
        _ path: String,
        _ store: PresentationStore?,
        limits: ServerLimits = ServerLimits()
    ) async throws -> String {
        let query = path.hasPrefix("/play.m3u8?") ? String(path.dropFirst("/play.m3u8?".count)) : path
        let handler = PlaybackRequestHandler(
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0), time: time),
            budget: try ServerCapacity(limits).admit(),
            workers: .callingTask,
            presentations: store
        )
        return String(decoding: try await handler.playlist(for: PlaybackRequest(QueryItems(query))), as: UTF8.self)
    }

    private func multivariant(_ path: String, _ store: PresentationStore?) async throws -> MultivariantPlaylist {
        try MultivariantPlaylist(parsing: Array(await text(path, store).utf8))
    }

    private func media(_ path: String, _ store: PresentationStore?) async throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(await text(path, store).utf8))
    }

    @Test func playlistsAreTranslatedAndKeepTheEdits() async throws {
        let store = store()
        let playlist = try await multivariant("url=https://h/a&max-height=400&duration=10", store)
        let address = "/play.m3u8?url=https://h/a%23millstream-playlist%3Dvideo-low.m3u8&duration=10"
        #expect(playlist.variants.map(\.uri) == [address])
        let media = try await media(address, store)
        #expect(media.segments.map(\.uri) == (1...2).map { "https://h/low-\($0).m4s" })
        #expect(media.segments.first?.map?.uri == "https://h/low.mp4")
        #expect(media.hasEndMarker)
        #expect(transport.requestedAddresses == ["https://h/a"])
    }

    @Test func mediaPlaylistIsAnsweredWithoutARequestForTheMultivariantPlaylist() async throws {
        let address = "url=https://h/a%23millstream-playlist%3Dvideo-high.m3u8"
        let media = try await media(address, store())
        #expect(media.segments.count == 5)
    }

    @Test func staticManifestIsLoadedAgainAfterAWhile() async throws {
        let store = store()
        let address = try await multivariant("url=https://h/a", store).variants[0].uri
        time.advance(by: .seconds(29))
        _ = try await media(address, store)
        #expect(transport.requests.count == 1)
        time.advance(by: .seconds(2))
        _ = try await media(address, store)
        #expect(transport.requests.count == 2)
    }

    @Test func presentationsCanBeInserted() async throws {
        transport.setResponses(
            for: "https://h/b.m3u8",
            .text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n")
        )
        let media = try await media("url=https://h/b.m3u8&append=https://h/a", store())
        let expected = ["https://h/b.ts"] + (1...5).map { "https://h/low-\($0).m4s" }
        #expect(media.segments.map(\.uri) == expected)
    }

    /// A presentation on demand becomes a live stream for tests, also together with one of HLS.
    @Test func simulatedChannelHasPresentationsOfBothFormats() async throws {
        transport.setResponses(
            for: "https://h/b.m3u8",
            .text(
                "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"b.mp4\"\n"
                    + "#EXTINF:4,\nb-1.m4s\n#EXTINF:4,\nb-2.m4s\n#EXT-X-ENDLIST\n"
            )
        )
        let request = try PlaybackRequest(QueryItems("url=https://h/b.m3u8&append=https://h/a&live=loop"))
        // A second after the end of a repetition, which has 8 and 20 seconds, and a segment later.
        var versions: [MediaPlaylist] = []
        for seconds in [Int64(2_801), 2_805] {
            let handler = PlaybackRequestHandler(
                loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0), time: time),
                budget: try ServerCapacity(ServerLimits()).admit(),
                workers: .callingTask,
                presentations: store(),
                date: { SimulatedChannel.defaultStart.advanced(by: MediaTime(seconds: seconds)) }
            )
            versions.append(try MediaPlaylist(parsing: try await handler.playlist(for: request)))
        }
        let names = ["b-1", "b-2"] + (1...5).map { "low-\($0)" }
        let (first, second) = (versions[0], versions[1])
        #expect(Set(first.segments.map(\.uri)) == Set(names.map { "https://h/\($0).m4s" }))
        #expect(first.isLive && first.segments.last?.uri == "https://h/low-5.m4s")
        #expect(second.segments.last?.uri == "https://h/b-1.m4s" && second.mediaSequence == first.mediaSequence + 1)
        for segment in first.segments.dropFirst() {
            let isFirst = ["https://h/b-1.m4s", "https://h/low-1.m4s"].contains(segment.uri)
            #expect(segment.hasDiscontinuity == isFirst, "\(segment.uri)")
            #expect(segment.map?.uri == (segment.uri.contains("/b-") ? "https://h/b.mp4" : "https://h/low.mp4"))
        }
    }

    @Test func numbersAreContinuousAcrossRequestsAndServers() async throws {
        let (first, second) = (store(), store())
        var last: Int64 = 0
        for step in 0..<8 {
            let address = try await multivariant("url=https://h/live", first).variants[0].uri
            let playlist = try await media(address, first)
            #expect(try await media(address, second).bytes == playlist.bytes, "\(step)")
            let segment = try #require(playlist.segments.last)
            #expect(segment.sequence >= last && !playlist.hasEndMarker)
            #expect(segment.uri == "https://h/low-\(segment.sequence + 1).m4s")
            last = segment.sequence
            time.advance(by: .seconds(3))
        }
        #expect(last == 149 + 21 / 4)
        // In 21 seconds, each server may load the manifest at 0, 8 and 16 seconds, rounded up to the next request.
        #expect(transport.requests.count == 6)
    }

    @Test func bridgeThatIsOffRefusesManifests() async throws {
        let error = await #expect(throws: ServerError.self) { try await text("url=https://h/a", nil) }
        #expect(error?.status == .unsupportedMediaType && error?.code == "dash")
        #expect(error?.hint?.contains("DASH bridge") == true)
    }

    @Test func manifestCountsAgainstTheBudgetOfTheRequest() async throws {
        var limits = ServerLimits()
        limits.editing.loadedBytes = ByteCount(Int64(Self.film.utf8.count) - 1)
        let error = await #expect(throws: (any Error).self) {
            try await text("url=https://h/a", store(limits), limits: limits)
        }
        #expect(ServerError(try #require(error)).status == .contentTooLarge)
        limits.editing.loadedBytes = ByteCount(1 << 20)
        limits.editing.entries = 4
        let second = await #expect(throws: (any Error).self) {
            try await text("url=https://h/a", store(limits), limits: limits)
        }
        #expect(ServerError(try #require(second)).status == .contentTooLarge)
    }

    @Test(arguments: [
        ("<MPD", HTTPResponse.Status.badGateway, "unreadable-manifest"),
        ("<MPD><Period/></MPD> ", .unsupportedMediaType, "untranslatable-presentation"),
    ])
    func manifestsThatCannotBePlayedAreRefusedWithTheReason(
        _ manifest: String,
        _ status: HTTPResponse.Status,
        _ code: String
    ) async throws {
        transport.setResponses(for: "https://h/a", .text(manifest + " "))
        let error = await #expect(throws: (any Error).self) { try await text("url=https://h/a", store()) }
        let failure = ServerError(try #require(error))
        #expect(failure.status == status && failure.code == code, "\(failure)")
    }

    /// An address in a manifest is loaded through the transport of the request, with its guards.
    @Test func addressesInManifestsAreCheckedAsThoseInPlaylists() async throws {
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }.restrictedToPublicAddresses
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z"
            minimumUpdatePeriod="PT1S"><Location>http://10.0.0.1/location</Location>
            <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="http://10.0.0.2/time"/>
            <Period start="PT0S"><AdaptationSet mimeType="video/mp4"><BaseURL>http://10.0.0.3/</BaseURL>
            <Representation id="a" bandwidth="1" codecs="avc1.42c01e"><SegmentBase indexRange="0-9"/></Representation>
            </AdaptationSet>\(Self.videoSet)</Period></MPD>
            """
        transport.setResponses(for: "https://93.184.216.34/a", .text(manifest))
        let guarded = PermittedTransport(base: transport, policy: policy, hosts: nil)
        let loader = ResourceLoader(guarded, policy: RecoveryPolicy(retries: 0), time: time)
            .translatingPresentations(in: store())
        let request = TransportRequest(ResourceAddress("https://93.184.216.34/a"), kind: .playlist)
        _ = try? await loader.load(request)
        time.advance(by: .seconds(2))
        _ = try? await loader.load(request)
        #expect(!transport.requests.isEmpty)
        #expect(transport.requestedAddresses.allSatisfy { $0 == "https://93.184.216.34/a" })
    }

    /// The addresses by which a live manifest is updated lead to private hosts no more than those of its segments.
    @Test(arguments: ["<Location>http://%/other</Location>", "<PatchLocation>http://%/other</PatchLocation>"])
    func addressesOfUpdatesAreCheckedAsWell(element: String) async throws {
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }
        let source = "http://93.184.216.34/a"
        for (host, isPublic) in [("93.184.216.35", true), ("10.0.0.1", false)] {
            let transport = ScriptedTransport(texts: [
                source: Self.live.replacing("<MPD", with: #"<MPD id="m" publishTime="2024-01-01T00:10:00Z""#)
                    .replacing("<Period", with: element.replacing("%", with: host) + "<Period")
            ])
            let guarded = PermittedTransport(base: transport, policy: policy, hosts: nil)
            let loader = ResourceLoader(guarded, policy: RecoveryPolicy(retries: 0), time: time)
                .translatingPresentations(in: store())
            // A media playlist is updated from the location, and the multivariant playlist from the source.
            for address in [source, "\(source)#millstream-playlist=video-low.m3u8"] {
                _ = try? await loader.load(TransportRequest(ResourceAddress(address), kind: .playlist))
                time.advance(by: .seconds(9))
            }
            let requested = transport.requestedAddresses
            #expect(requested.first == source && requested.contains("http://\(host)/other") == isPublic, "\(requested)")
        }
    }

    @Test func deliveryDirectivesAreSentInTheQuery() throws {
        let request = try PlaybackRequest(QueryItems("url=https://h/a%3Fx%23y&_HLS_msn=5"))
        #expect(request.address.text == "https://h/a?x&_HLS_msn=5#y")
    }
}
