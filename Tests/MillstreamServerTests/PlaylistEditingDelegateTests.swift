import Dispatch
import MediaTiming
import MediaTransport
import MillstreamServer
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests playlists that a delegate of a resource loader edits.
@Suite(.timeLimit(.minutes(10))) struct PlaylistEditingDelegateTests {
    private let source = ScriptedTransport(texts: [
        "https://h/top": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\nhigh\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.ts?x=.mp4\n",
        "https://h/a.ts?x=.mp4": """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-KEY:METHOD=AES-128,URI="key.m3u8"
        #EXTINF:4,
        0.m3u8
        #EXTINF:4,
        1.m3u8
        #EXT-X-ENDLIST

        """, "https://h/0.m3u8": "media", "https://h/movie.m3u8": "ftyp",
    ])

    private func loading(_ delegate: PlaylistEditingDelegate, _ loader: AssetResourceLoader) -> ResourceLoader {
        loader.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
        let transport = DelegatedTransport(source, loader: loader, time: SystemTimeSource())
        return ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
    }

    private func text(
        _ loading: ResourceLoader,
        _ address: String,
        _ kind: TransportRequest.Kind = .playlist
    ) async throws -> (text: String, address: String) {
        let loaded = try await loading.load(TransportRequest(ResourceAddress(address), kind: kind))
        return (String(decoding: loaded.bytes, as: UTF8.self), loaded.address.text)
    }

    @Test func presentationIsEditedByContentWhateverItsNamesAre() async throws {
        let lowest = PartialRange(low: BitRate(bitsPerSecond: 1), high: BitRate(bitsPerSecond: 2))
        let plan = EditPlan([.bandwidth(lowest), .duration(MediaTime(seconds: 4))])
        let delegate = PlaylistEditingDelegate(plan, loadingFrom: source, policy: RecoveryPolicy(retries: 0))
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        let resources = loading(delegate, loader)
        let top = try await text(resources, "custom://h/top").text
        let lines = top.split(separator: "\n").map { String($0) }
        #expect(lines.prefix(2) == ["#EXTM3U", "#EXT-X-STREAM-INF:BANDWIDTH=1"] && lines.count == 3)
        let child = try await text(resources, try #require(lines.last)).text
        #expect(
            child == """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-KEY:METHOD=AES-128,URI="https://h/key.m3u8"
                #EXTINF:4,
                https://h/0.m3u8
                #EXT-X-ENDLIST

                """
        )
    }

    /// The file of a subtitle rendition is divided where media is inserted, and its parts reach the delegate.
    @Test func partsOfSubtitlesHaveTheirOwnCues() async throws {
        let source = ScriptedTransport(texts: [
            "https://h/subtitles": "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\nall.vtt\n#EXT-X-ENDLIST\n",
            "https://h/all.vtt":
                "WEBVTT\n\n00:01.000 --> 00:02.000\nfirst\n\n00:15.000 --> 00:16.000\nsecond\n",
        ])
        let ranges = MediaTimeRange(start: MediaTime(seconds: 10), end: MediaTime(seconds: 20))
        let plan = EditPlan([.split([MediaTime(seconds: 10)]), .trim(ranges)])
        let delegate = PlaylistEditingDelegate(plan, loadingFrom: source, policy: RecoveryPolicy(retries: 0))
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        loader.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
        let transport = DelegatedTransport(source, loader: loader, time: SystemTimeSource())
        let resources = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        let playlist = try await text(resources, "custom://h/subtitles").text
        let part = try #require(playlist.split(separator: "\n").first { !$0.hasPrefix("#") })
        let cues = try await text(resources, String(part), .segment).text
        #expect(cues.contains("second") && !cues.contains("first"), "\(cues)")
    }

    @Test func segmentsAndKeysAreRedirected() async throws {
        let plan = EditPlan([.duration(MediaTime(seconds: 4))])
        let delegate = PlaylistEditingDelegate(plan, loadingFrom: source)
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        let resources = loading(delegate, loader)
        let segment = try await text(resources, "custom://h/0.m3u8", .segment)
        #expect(segment == ("media", "https://h/0.m3u8"))
    }

    @Test func fileThatIsNoPlaylistIsLoadedFromItsOrigin() async throws {
        let plan = EditPlan([.duration(MediaTime(seconds: 4))])
        let delegate = PlaylistEditingDelegate(plan, loadingFrom: source, policy: RecoveryPolicy(retries: 0))
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        let resources = loading(delegate, loader)
        #expect(try await text(resources, "custom://h/movie.m3u8").text == "ftyp")
    }

    @Test func withoutEditsEveryByteStays() async throws {
        let delegate = PlaylistEditingDelegate(EditPlan([]), loadingFrom: source)
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        let resources = loading(delegate, loader)
        let top = try await text(resources, "custom://h/top")
        #expect(top.text.hasSuffix("\nhigh\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.ts?x=.mp4\n"))
        #expect(top.address == "custom://h/top")
    }

    @Test func editThatLeavesNothingFails() async throws {
        let none = PartialRange(low: BitRate(bitsPerSecond: 100), high: BitRate(bitsPerSecond: 200))
        let plan = EditPlan([.bandwidth(none)])
        let delegate = PlaylistEditingDelegate(plan, loadingFrom: source, policy: RecoveryPolicy(retries: 0))
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        let resources = loading(delegate, loader)
        let error = await #expect(throws: TransportError.self) { _ = try await text(resources, "custom://h/top") }
        #expect(error?.code == TransportError.Code(rawValue: "nothing-left"))
    }
}
