import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests what a download chooses from playlists, the estimate of its size, and what a repair reports.
@Suite struct DownloadChoiceTests {
    private static let origin = "https://origin.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    // MARK: I-frames

    private static func multivariant(_ text: String) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n\(text)".utf8),
            context: PlaylistContext(address: ResourceAddress(origin + "top.m3u8"))
        )
    }

    private static func resolver(_ selection: DownloadSelection, _ texts: [String: String] = [:]) -> DownloadResolver {
        DownloadResolver(loader: ResourceLoader(ScriptedTransport(texts: texts)), selection: selection)
    }

    /// Returns the positions of the chosen I-frame variants of a presentation whose variant has a resolution.
    private func iFrames(
        _ variant: String,
        _ variants: DownloadSelection.Variants = .best,
        _ change: (inout DownloadResolver) -> Void = { _ in }
    ) throws -> [Int] {
        let playlist = try Self.multivariant(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=3000000\(variant)
            v.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,RESOLUTION=640x360,URI="0.m3u8"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=30,RESOLUTION=1280x720,CODECS="hvc1.1.6.L93.B0",URI="1.m3u8"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=20,RESOLUTION=1280x720,CODECS="avc1.4d401f",URI="2.m3u8"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90,RESOLUTION=1920x1080,CODECS="avc1.640028",URI="3.m3u8"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=99,RESOLUTION=1280x720,URI=""

            """
        )
        var resolver = Self.resolver(DownloadSelection(variants: variants))
        change(&resolver)
        return try resolver.choose(from: playlist).filter { $0.role == .iFrames }.map(\.position)
    }

    /// The I-frames are the best that are not higher than the variant, otherwise the lowest.
    @Test(arguments: [
        (",RESOLUTION=1280x720", 1), (",RESOLUTION=1280x719", 0), (",RESOLUTION=640x360", 0), (",RESOLUTION=160x90", 0),
        (",RESOLUTION=1920x1080", 3), ("", 3),
    ])
    func iFramesAreThoseOfTheVariant(resolution: String, position: Int) throws {
        #expect(try iFrames(resolution) == [position])
    }

    @Test func iFramesDependOnTheSelection() throws {
        let resolution = ",RESOLUTION=1280x720"
        let all = try iFrames(resolution, .all)
        #expect(all.prefix(4) == [0, 1, 2, 3])
        let decodable = try iFrames(resolution) { $0.canDecode = { !$0.hasPrefix("hvc1") } }
        #expect(decodable == [2])
        // A live stream is recorded without I-frames.
        let recorded = try iFrames(resolution) { $0.acceptsLive = true }
        #expect(recorded.isEmpty)
    }

    @Test(arguments: [("two", 1), ("three", 0)]) func iFramesAreThoseOfTheInitialPathway(
        pathway: String,
        position: Int
    ) throws {
        let playlist = try Self.multivariant(
            """
            #EXT-X-CONTENT-STEERING:SERVER-URI="steering.json",PATHWAY-ID="\(pathway)"
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720
            v.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=30,RESOLUTION=1280x720,PATHWAY-ID="one",URI="0.m3u8"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=20,RESOLUTION=1280x720,PATHWAY-ID="two",URI="1.m3u8"

            """
        )
        let choices = try Self.resolver(DownloadSelection()).choose(from: playlist)
        #expect(choices.filter { $0.role == .iFrames }.map(\.position) == [position])
    }

    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"

    @Test func playlistThatHasNotOnlyIFramesIsLeftOut() async throws {
        let texts = [
            Self.origin + "top.m3u8":
                "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=3\nv.m3u8\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i.m3u8\"\n",
            Self.origin + "v.m3u8": Self.media, Self.origin + "i.m3u8": Self.media,
        ]
        let found = try await Self.resolver(DownloadSelection(), texts).resolve(
            ResourceAddress(Self.origin + "top.m3u8")
        )
        #expect(found.renditions.map(\.role) == [.variant])
    }

    // MARK: Without video

    @Test func selectionWithoutVariantsHasOnlyAudioAndSubtitles() throws {
        let playlist = try Self.multivariant(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Angle",URI="angle.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO="a",VIDEO="v"
            v.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,URI="i.m3u8"

            """
        )
        let choices = try Self.resolver(DownloadSelection(variants: .none)).choose(from: playlist)
        #expect(choices.map(\.role) == [.audio] && choices.map(\.position) == [0])
        let all = try Self.resolver(DownloadSelection()).choose(from: playlist)
        #expect(all.map(\.role) == [.variant, .audio, .video, .iFrames])
    }

    @Test func selectionOfNothingIsRefused() async throws {
        let playlist = try Self.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=3000000\nv.m3u8\n")
        let resolver = Self.resolver(DownloadSelection(variants: .none), [Self.origin + "v.m3u8": Self.media])
        let nothing = #expect(throws: DownloadError.self) { try resolver.choose(from: playlist) }
        #expect(nothing?.code == .nothingSelected)
        // A media playlist has nothing but the variant.
        let media = await #expect(throws: DownloadError.self) {
            _ = try await resolver.resolve(ResourceAddress(Self.origin + "v.m3u8"))
        }
        #expect(media?.code == .nothingSelected && media?.address?.text == Self.origin + "v.m3u8")
    }

    // MARK: Loading

    /// A playlist of a translated manifest is named by the fragment of the URL.
    @Test func fragmentNamesTheNextVersion() throws {
        let playlist = try MediaPlaylist(parsing: Array(Self.media.utf8))
        let loaded = ResourceAddress("https://cdn.example/b.mpd")
        for (text, expected) in [
            ("https://origin.example/a.mpd#audio", "https://origin.example/a.mpd#audio"),
            ("https://origin.example/a.m3u8", "https://cdn.example/b.mpd"),
        ] {
            let found = DownloadPlaylistLoader.LoadedPlaylist(
                playlist,
                requestedAt: ResourceAddress(text),
                loadedFrom: loaded
            )
            #expect(found.reloadAddress.text == expected && found.address == loaded)
        }
    }

    @Test(arguments: [false, true]) func cacheIsBypassedOnRequest(isBypassed: Bool) async throws {
        let transport = ScriptedTransport(texts: [Self.origin + "v.m3u8": Self.media])
        var resolver = DownloadResolver(loader: ResourceLoader(transport), selection: DownloadSelection())
        resolver.bypassesCache = isBypassed
        _ = try await resolver.resolve(ResourceAddress(Self.origin + "v.m3u8"))
        let fields = try #require(transport.requests.first).headers.filter { $0.name == "Cache-Control" }
        #expect(fields.map(\.value) == (isBypassed ? ["no-cache"] : []))
    }

    // MARK: Estimate

    private static func variants(_ rates: [String]) -> String {
        rates.enumerated().map { index, rate in
            "#EXT-X-STREAM-INF:\(rate),AUDIO=\"a\"\n\(index).m3u8\n"
        }.joined()
    }

    /// Two segments of four seconds, and a gap; the limits of the library leave no space at all.
    @Test(
        arguments: [
            (["BANDWIDTH=4000,AVERAGE-BANDWIDTH=800"], [:], 800), (["BANDWIDTH=1600"], [:], 800),
            (["BANDWIDTH=4000,AVERAGE-BANDWIDTH=800", "BANDWIDTH=800"], [:], 800),
            (["BANDWIDTH=1600"], ["0": 100, "1": 99], 601), (["BANDWIDTH=1600"], ["0": 799], 1),
            (["BANDWIDTH=1600"], ["0": 800], nil), (["FRAME-RATE=25"], [:], nil),
        ] as [([String], [String: Int64], Int64?)]
    )
    func sizeOfADownloadIsEstimated(rates: [String], unfinished: [String: Int64], expected: Int64?) async throws {
        let media =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n"
            + "#EXT-X-GAP\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
        let audio = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",URI=\"a.m3u8\"\n"
        let texts = [
            Self.origin + "top.m3u8": "#EXTM3U\n" + audio + Self.variants(rates), Self.origin + "a.m3u8": media,
            Self.origin + "0.m3u8": media, Self.origin + "1.m3u8": media,
        ]
        let address = ResourceAddress(Self.origin + "top.m3u8")
        let found = try await Self.resolver(DownloadSelection(variants: .all), texts).resolve(address)
        let id = try library.addAsset(source: address, title: "A", selection: "")
        try library.planDownload(of: id, source: found.playlist, at: found.address, renditions: found.renditions)
        let asset = try library.asset(id)
        // Without limits, nothing is refused.
        try library.checkSpace(for: found.renditions, of: asset, besides: unfinished)
        try library.setStorageLimits(StorageLimits(quota: ByteCount(1)))
        guard let expected else {
            return try library.checkSpace(for: found.renditions, of: asset, besides: unfinished)
        }
        let error = #expect(throws: StorageError.self) {
            try library.checkSpace(for: found.renditions, of: asset, besides: unfinished)
        }
        #expect(error?.code == .full)
        #expect(error?.message.contains("needs about \(ByteCount(expected)):") == true, "\(error?.message ?? "")")
    }

    // MARK: Repair

    private static let texts = [
        origin + "top.m3u8": """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
        v.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,RESOLUTION=640x360,URI="i.m3u8"

        """,
        origin + "v.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n",
        origin + "i.m3u8": """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-TARGETDURATION:4
        #EXT-X-I-FRAMES-ONLY
        #EXTINF:4,
        #EXT-X-BYTERANGE:3@0
        frames.ts
        #EXTINF:4,
        #EXT-X-BYTERANGE:3@3
        frames.ts
        #EXT-X-ENDLIST

        """,
        origin + "0.ts": "zero", origin + "1.ts": "one", origin + "frames.ts": "abcdef",
    ]

    /// The presentation is played without I-frames, so that their requests do not fail; a repair reports them nevertheless.
    @Test(arguments: [1, 2]) func iFramesThatCannotBeRepairedAreReported(count: Int) async throws {
        let asset = try await AssetDownload(
            ResourceAddress(Self.origin + "top.m3u8"),
            into: library,
            loader: ResourceLoader(ScriptedTransport(texts: Self.texts), policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(asset.renditions.map(\.role) == [.variant, .iFrames] && asset.state == .complete)
        let paths = (0..<count).map { "i-frames-0/00000\($0).ts" }
        for path in paths {
            try FileManager.default.removeItem(at: library.packageDirectory(asset.id).appendingPathComponent(path))
        }
        var texts = Self.texts
        texts[Self.origin + "frames.ts"] = nil
        let result = try await AssetRepair(
            asset.id,
            in: library,
            loader: ResourceLoader(ScriptedTransport(texts: texts), policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(result.damaged == paths && result.repaired.isEmpty)
        #expect(result.failure?.code == .storage && result.failure?.detail == StorageError.Code.incomplete.rawValue)
        let expected =
            count == 1
            ? "1 file could not be fetched again: \(paths[0])"
            : "2 files could not be fetched again: \(paths[0]) and others"
        #expect(result.failure?.message == expected)
    }

    // MARK: Queue

    /// I-frames are fetched when all other files are stored, several at a time.
    @Test func deferredFilesAreFetchedLast() async throws {
        let address = ResourceAddress(Self.origin + "top.m3u8")
        let found = try await Self.resolver(DownloadSelection(), Self.texts).resolve(address)
        let id = try library.addAsset(source: address, title: "A", selection: "")
        try library.planDownload(of: id, source: found.playlist, at: found.address, renditions: found.renditions)
        let files = try library.missingResources(id)
        #expect(files.map(\.isDeferred) == [false, false, true, true])
        var queue = FetchQueue()
        queue.append(files)
        queue.append([])
        let first = [queue.next(), queue.next(), queue.next()]
        #expect(first == [.fetch(files[0]), .fetch(files[1]), .wait])
        queue.fetchSucceeded(files[0])
        #expect(queue.next() == .wait)
        queue.fetchSucceeded(files[1])
        let last = [queue.next(), queue.next(), queue.next()]
        #expect(last == [.fetch(files[2]), .fetch(files[3]), .wait])
        queue.fetchSucceeded(files[2])
        queue.fetchSucceeded(files[3])
        #expect(queue.next() == .finish)
    }

    // MARK: Media files

    private static func waveFile() throws -> MediaFileSource {
        let bytes: [UInt8] = Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8)
        let address = ResourceAddress(origin + "a.wav")
        let response = TransportResponse(
            status: 200,
            headers: [],
            address: address,
            expectedLength: 44,
            body: TransportBody(bytes)
        )
        return try #require(MediaFileSource(bytes, response, isWhole: false))
    }

    @Test(arguments: [("0", 1), ("2", 2), ("2.5", 3), ("1000000000", 1_000_000_000)] as [(String, Int64)])
    func playlistOfAFileHasItsDuration(duration: String, target: Int64) throws {
        let playlist = try Self.waveFile().playlist(duration: try #require(MediaTime(decimal: duration)))
        #expect(playlist.targetDuration == MediaTime(seconds: target) && playlist.segments.count == 1)
        #expect(playlist.duration == MediaTime(decimal: duration) && !playlist.isLive)
        #expect(playlist.segments[0].address.text == Self.origin + "a.wav")
    }

    @Test func excessiveDurationOfAFileIsRefused() throws {
        let file = try Self.waveFile()
        let error = #expect(throws: DownloadError.self) {
            try file.playlist(duration: MediaTime(value: 1_000_000_000_001, timescale: 1_000))
        }
        #expect(error?.code == .notAPlaylist && error?.address == file.address)
    }
}
