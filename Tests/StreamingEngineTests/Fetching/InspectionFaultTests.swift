import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// A transport that responds to requests for segments after two seconds.
private struct SlowSegments: Transport {
    let base: any Transport
    let time: any TimeSource

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.kind == .segment { try await time.sleep(for: .seconds(2)) }
        return try await base.send(request)
    }
}

/// Tests of the properties of streams and files that are read without playing them.
@Suite struct InspectionFaultTests {
    private static let root = "https://origin.example/"
    private static let address = ResourceAddress(root + "main.m3u8")

    private static func film(_ lines: String = "", end: String = "#EXT-X-ENDLIST\n") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + lines + String(repeating: "#EXTINF:6,\ns.ts\n", count: 5) + end
    }

    private static func inspect(
        _ responses: [String: ScriptedTransport.Response],
        mimeType: String? = nil,
        canDecode: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async throws -> SourceInspection {
        var all: [String: [ScriptedTransport.Response]] = [:]
        for (name, response) in responses { all[root + name] = [response] }
        return try await SourceInspection(
            of: address,
            loader: FileBytes.fetcher(ScriptedTransport(all)).loader,
            mimeType: mimeType,
            capabilities: PlaybackCapabilities(canDecode: canDecode)
        )
    }

    @Test func mediaPlaylistIsInspected() async throws {
        let film = try await Self.inspect(["main.m3u8": .text(Self.film())])
        #expect(film.duration == MediaTime(seconds: 30) && film.liveStart == nil && film.playbackType == .vod)
        #expect(film.variant?.id.text == "media" && film.error == nil && film.tracks.isEmpty)
        #expect(film.metadata == MediaFileMetadata())
        let live = try await Self.inspect(["main.m3u8": .text(Self.film(end: ""))])
        #expect(live.duration == nil && live.playbackType == .live && live.liveStart == MediaTime(seconds: 12))
    }

    @Test func fileIsInspected() async throws {
        let file = try await Self.inspect(["main.m3u8": .bytes(FileBytes.wave(600))])
        #expect(file.playbackType == .file && file.duration == MediaTime(seconds: 6) && file.liveStart == nil)
        #expect(file.tracks.map(\.codec) == ["pcm"] && file.error == nil && file.presentation.variants.count == 1)
        await #expect(throws: StreamingError.self) {
            _ = try await Self.inspect(["main.m3u8": .text(Self.film())], mimeType: "video/mp4")
        }
    }

    private static func main(_ attributes: String, _ lines: String = "") -> String {
        "#EXTM3U\n\(lines)#EXT-X-STREAM-INF:BANDWIDTH=1\(attributes)\nv.m3u8\n"
    }

    @Test func playlistOfTheFirstVariantIsInspected() async throws {
        let start = "#EXT-X-START:TIME-OFFSET=6\n"
        let live = try await Self.inspect([
            "main.m3u8": .text(Self.main("", start)), "v.m3u8": .text(Self.film(end: "")), "s.ts": .text("media"),
        ])
        #expect(live.variant?.address.text == Self.root + "v.m3u8" && live.liveStart == MediaTime(seconds: 6))
        let imported = try await Self.inspect([
            "main.m3u8": .text(Self.main(",CODECS=\"avc1.42c01e\"", "#EXT-X-DEFINE:NAME=\"v\",VALUE=\"1\"\n")),
            "v.m3u8": .text(Self.film("#EXT-X-DEFINE:IMPORT=\"v\"\n")),
        ])
        #expect(imported.duration == MediaTime(seconds: 30) && imported.playbackType == .vod && imported.error == nil)
    }

    @Test func variantThatIsNoMediaPlaylistIsAnError() async {
        let error = await #expect(throws: StreamingError.self) {
            _ = try await Self.inspect(["main.m3u8": .text(Self.main("")), "v.m3u8": .text(Self.main(""))])
        }
        #expect(error?.code == .unreadablePlaylist && error?.address?.text == Self.root + "v.m3u8")
        #expect(error?.message == "expected a media playlist, but received another resource")
    }

    @Test func playlistWithoutAVariantIsAnError() async {
        let text = "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"A\",URI=\"a.m3u8\"\n"
        let error = await #expect(throws: StreamingError.self) {
            _ = try await Self.inspect(["main.m3u8": .text(text)])
        }
        #expect(error?.code == .unreadablePlaylist)
    }

    @Test func variantThatCannotBePlayedIsInspectedWithTheReason() async throws {
        let found = try await Self.inspect(
            [
                "main.m3u8": .text(Self.main(",CODECS=\"avc1.42c01e\"")), "v.m3u8": .text(Self.film()),
                "s.ts": .bytes(Self.audio),
            ],
            canDecode: { _ in false }
        )
        #expect(found.error?.code == .unsupported && found.error?.address == Self.address)
        #expect(found.variant?.address.text == Self.root + "v.m3u8" && found.tracks.isEmpty)
        #expect(found.duration == MediaTime(seconds: 30))
    }

    // MARK: Tracks

    private static let audio = FileBytes.wave(600)

    private static func tracks(
        _ lines: String,
        _ responses: [String: ScriptedTransport.Response] = ["s.ts": .bytes(audio)]
    ) async throws -> [MediaTrack] {
        var all: [String: [ScriptedTransport.Response]] = [:]
        for (name, response) in responses { all[root + name] = [response] }
        let finder = MediaTrackFinder(fetch: FileBytes.fetcher(ScriptedTransport(all)))
        return await finder.tracks(of: PresentationTimeline(try media(film(lines), at: root + "v.m3u8")))
    }

    @Test func tracksAreThoseOfTheFirstSegmentWithMedia() async throws {
        #expect(try await Self.tracks("").map(\.mediaType) == [.audio])
        #expect(try await Self.tracks("#EXT-X-GAP\n#EXTINF:6,\ngap.ts\n").map(\.mediaType) == [.audio])
        #expect(try await Self.tracks("", [:]).isEmpty)
    }

    @Test func inspectionThatIsCanceledHasNoResult() async throws {
        let simulation = Simulation()
        let texts = ["main.m3u8": Self.main(""), "v.m3u8": Self.film()]
        var responses: [String: [ScriptedTransport.Response]] = [Self.root + "s.ts": [.bytes(Self.audio)]]
        for (name, text) in texts { responses[Self.root + name] = [.text(text)] }
        let loader = ResourceLoader(
            SlowSegments(base: ScriptedTransport(responses, time: simulation), time: simulation),
            policy: RecoveryPolicy(retries: 0),
            time: simulation,
            jitter: { 0 }
        )
        let isCanceled = try await simulation.run {
            await withTaskGroup(of: Bool.self, returning: Bool.self) { group in
                group.addTask {
                    do {
                        _ = try await SourceInspection(
                            of: Self.address,
                            loader: loader,
                            capabilities: PlaybackCapabilities(),
                            time: simulation
                        )
                        return false
                    } catch {
                        return error is CancellationError
                    }
                }
                try? await simulation.sleep(for: .seconds(1))
                group.cancelAll()
                return await group.next() ?? false
            }
        }
        #expect(isCanceled)
    }

    @Test func tracksOfEncryptedSegmentsAreUnknown() async throws {
        #expect(try await Self.tracks("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n").isEmpty)
        #expect(try await Self.tracks("#EXT-X-KEY:METHOD=ROT13,URI=\"k\"\n").isEmpty)
        let samples = try await Self.tracks("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n")
        #expect(samples.map(\.mediaType) == [.audio])
    }

    @Test func tracksAreThoseOfTheInitializationSection() async throws {
        let responses = ["s.ts": ScriptedTransport.Response.text("media"), "init.mp4": .bytes(FileBytes.wave(10))]
        let map = "#EXT-X-MAP:URI=\"init.mp4\"\n"
        #expect(try await Self.tracks(map, responses).map(\.codec) == ["pcm"])
        #expect(try await Self.tracks("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n" + map, responses).isEmpty)
        #expect(try await Self.tracks(map).isEmpty)
    }

    /// The body ends before the announced length, so that its end is an error.
    @Test(arguments: [(65_535, 0), (65_536, 1)])
    func tracksAreReadFromSixtyFourKibibytes(size: Int, count: Int) async throws {
        let bytes = FileBytes.wave(size - 44)
        let tracks = try await Self.tracks("", ["s.ts": .truncated(bytes, announced: 100_000)])
        #expect(tracks.count == count)
    }

    @Test func tracksOfAVariantWithoutCodecsAreRead() async throws {
        func inspect(_ attributes: String) async throws -> SourceInspection {
            try await Self.inspect([
                "main.m3u8": .text(Self.main(attributes)), "v.m3u8": .text(Self.film()), "s.ts": .bytes(Self.audio),
            ])
        }
        let bare = try await inspect("")
        #expect(bare.tracks.map(\.mediaType) == [.audio] && bare.error == nil)
        let named = try await inspect(",CODECS=\"mp4a.40.2\"")
        #expect(named.tracks.isEmpty && named.error == nil)
    }
}
