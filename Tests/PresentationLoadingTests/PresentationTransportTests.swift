import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import ResourceAddressing
import Testing

struct PresentationTransportTests {
    private static let media = TestOrigin.address + "#millstream-playlist=video-v1.m3u8"

    @Test func manifestIsAnsweredWithPlaylistsWhoseSegmentsStayAtTheOrigin() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.staticManifest()])
        let multivariant = try await origin.multivariant()
        #expect(multivariant.variants.map(\.address.text) == [Self.media, Self.media.replacing("v1", with: "v2")])
        let audio = try #require(multivariant.renditions.first { $0.type == .audio }?.address)
        #expect(try await origin.media(audio.text).segments.count == 5)
        let playlist = try await origin.media(Self.media)
        #expect(playlist.hasEndMarker && playlist.segments.count == 5)
        #expect(playlist.segments[1].address.text == "https://example.test/a/v1/2.m4s")
        // One load is enough for all playlists of a static presentation.
        #expect(origin.transport.requestedAddresses == [TestOrigin.address])
    }

    @Test func contentOtherThanManifestsIsPassedOnUnchanged() async throws {
        let playlist = "#EXTM3U\n# <MPD>\n#EXTINF:4,\na.ts\n"
        let long = "<!-- " + String(repeating: "long ", count: 40_000) + "--><html></html>"
        let texts = ["https://h/a.mpd": playlist, "https://h/b.mpd": "", "https://h/c.mpd": long]
        let origin = TestOrigin(texts)
        for (address, text) in texts {
            let loaded = try await origin.loader.load(TransportRequest(ResourceAddress(address), kind: .playlist))
            #expect(loaded.bytes == Array(text.utf8) && loaded.address.text == address)
        }
        // Only playlists are translated.
        let manifest = TestOrigin([TestOrigin.address: TestOrigin.staticManifest()])
        let request = TransportRequest(ResourceAddress(TestOrigin.address), kind: .other)
        #expect(try await manifest.loader.load(request).bytes == Array(TestOrigin.staticManifest().utf8))
    }

    @Test func interruptedBodyIsResumed() async throws {
        let clock = TestClock(isMovedBySleeping: true)
        let text = "#EXTM3U\n#EXTINF:4,\na.ts\n"
        let transport = ScriptedTransport([
            TestOrigin.address: [.truncated(Array(text.utf8.prefix(9)), announced: 24), .text(text)]
        ])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 1), time: clock)
            .translatingPresentations(in: PresentationStore(options: PresentationOptions(time: clock)))
        let request = TransportRequest(ResourceAddress(TestOrigin.address), kind: .playlist)
        #expect(try await loader.load(request).bytes == Array(text.utf8))
        #expect(transport.requests.count == 2)
    }

    @Test func truncatedManifestIsRequestedAgain() async throws {
        let clock = TestClock(isMovedBySleeping: true)
        let bytes = Array(TestOrigin.staticManifest().utf8)
        let transport = ScriptedTransport([
            TestOrigin.address: [.truncated(Array(bytes.prefix(200)), announced: Int64(bytes.count)), .bytes(bytes)]
        ])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 1), time: clock)
            .translatingPresentations(in: PresentationStore(options: PresentationOptions(time: clock)))
        let loaded = try await loader.load(TransportRequest(ResourceAddress(TestOrigin.address), kind: .playlist))
        #expect(loaded.bytes.starts(with: "#EXTM3U".utf8))
    }

    @Test func addressAfterARedirectIsTheBaseOfSegments() async throws {
        let bytes = Array(TestOrigin.staticManifest().utf8)
        let origin = TestOrigin()
        origin.transport.setResponses(
            for: TestOrigin.address,
            .redirected(to: ResourceAddress("https://cdn.test/x/y.mpd?token=1"), bytes)
        )
        #expect(try await origin.multivariant().variants.first?.address.text == Self.media)
        #expect(try await origin.media(Self.media).segments.first?.address.text == "https://cdn.test/x/v1/1.m4s")
    }

    @Test func playlistThatTheTranslationDoesNotHaveIsMissing() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.staticManifest()])
        let error = await #expect(throws: TransportError.self) {
            try await origin.media(TestOrigin.address + "#millstream-playlist=other.m3u8")
        }
        #expect(error?.status == 404)
    }

    @Test(arguments: [
        ("<MPD", TransportError.Code.unreadableManifest),
        (#"<!DOCTYPE MPD [<!ENTITY a "a">]><MPD>&a;</MPD>"#, .unreadableManifest),
        ("<MPD><Period></MPD>", .unreadableManifest), ("<MPD><Period/></MPD>", .untranslatable),
    ])
    func manifestsThatCannotBePlayedFailWithTheReason(_ text: String, _ code: TransportError.Code) async throws {
        let origin = TestOrigin([TestOrigin.address: text + " "])
        let error = await #expect(throws: TransportError.self) { try await origin.playlist() }
        #expect(error?.code == code)
        #expect(error?.cause != nil)
    }

    @Test func manifestThatExceedsALimitIsRefused() async throws {
        let text = TestOrigin.staticManifest()
        let origin = TestOrigin([TestOrigin.address: text]) { $0.manifest.byteCount = text.utf8.count - 1 }
        let error = await #expect(throws: TransportError.self) { try await origin.playlist() }
        #expect(error?.code == .tooLarge)
        let other = TestOrigin([TestOrigin.address: text]) { $0.translation.byteCount = 100 }
        let second = await #expect(throws: TransportError.self) { try await other.playlist() }
        #expect(second?.code == .tooLarge)
    }

    @Test func headerFieldsOfARequestAreSentToTheirHostsOnly() async throws {
        let clock = """
            <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="https://other.test/time"/>
            """
        let origin = TestOrigin([
            TestOrigin.address: TestOrigin.liveManifest(clock), "https://other.test/time": "2024-01-01T00:10:00Z",
        ])
        var request = TransportRequest(ResourceAddress(TestOrigin.address), kind: .playlist)
        let scope = try #require(HeaderFieldScope("example.test"))
        request.scopedHeaders = [ScopedHeaderField(HeaderField("X-Secret", "1"), for: scope)]
        _ = try await origin.loader.load(request)
        let fields = origin.transport.requests.map { $0.allHeaders.map(\.name) }
        #expect(fields == [["X-Secret"], []])
    }

    @Test func leastRecentlyUsedPresentationsAreRemoved() async throws {
        let addresses = (0..<5).map { "https://example.test/\($0)" }
        let origin = TestOrigin(Dictionary(uniqueKeysWithValues: addresses.map { ($0, TestOrigin.staticManifest()) })) {
            $0.presentationCount = 2
        }
        for address in addresses { _ = try await origin.multivariant(address) }
        for address in addresses.suffix(2) {
            _ = try await origin.media(address + "#millstream-playlist=video-v1.m3u8")
            #expect(origin.requestCount(address) == 1)
        }
        _ = try await origin.media(addresses[0] + "#millstream-playlist=video-v1.m3u8")
        #expect(origin.requestCount(addresses[0]) == 2)
    }
}
