import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// Tests what downloads leave in the catalog: the next selections, the progress of records, and assets that stay complete.
@Suite(.timeLimit(.minutes(5))) struct DownloadCatalogDetailTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "main.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func media(_ segment: String, tags: String = "") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tags)#EXTINF:4,\n\(segment)\n#EXT-X-ENDLIST\n"
    }

    private func download(
        _ texts: [String: String],
        _ selection: DownloadSelection = DownloadSelection(),
        limits: DownloadLimits = DownloadLimits()
    ) -> (run: AssetDownload, origin: ScriptedTransport) {
        let named = texts.map { (Self.base + $0.key, $0.value) }
        let origin = ScriptedTransport(texts: Dictionary(uniqueKeysWithValues: named))
        let run = AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: selection, limits: limits)
        )
        return (run, origin)
    }

    // MARK: Next selections

    private static let presentation = [
        "main.m3u8": """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="French",LANGUAGE="fr",URI="fr.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,VIDEO-RANGE=SDR,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a",SUBTITLES="s"
        v.m3u8

        """,
        "v.m3u8": media("v.ts"), "en.m3u8": media("en.aac"), "ko.m3u8": media("ko.aac"), "fr.m3u8": media("fr.vtt"),
        "v.ts": "video", "en.aac": "english", "ko.aac": "korean", "fr.vtt": "WEBVTT\n",
    ]

    /// The next selection has one rendition of the stored variant, and no preferences; audio precedes subtitles.
    @Test func nextSelectionsHaveOneRenditionEach() async throws {
        var first = DownloadSelection(audio: .defaults, subtitles: .none)
        first.prefersLosslessAudio = true
        first.prefersMultichannelAudio = true
        let id = try await download(Self.presentation, first).run.run().id
        var expected = DownloadSelection(variants: .none, audio: .some(["ko:Korean"]), subtitles: .none)
        expected.qualifiers = [
            .peakBitRate(.equal, BitRate(bitsPerSecond: 800_000)), .width(.equal, 640), .height(.equal, 360),
            .videoRange(.sdr), .codec("avc1.4d401e"), .codec("mp4a.40.2"),
        ]
        let audio = try #require(try library.nextMediaSelection(of: id))
        #expect(audio.characteristic == .audible && audio.language == "ko" && audio.name == "Korean")
        #expect(audio.selection == expected, "\(audio.selection)")
        _ = try await download(Self.presentation, audio.selection).run.run()
        expected.audio = .none
        expected.subtitles = .some(["fr:French"])
        let subtitles = try #require(try library.nextMediaSelection(of: id))
        #expect(subtitles.characteristic == .legible && subtitles.language == "fr" && subtitles.name == "French")
        #expect(subtitles.selection == expected, "\(subtitles.selection)")
        _ = try await download(Self.presentation, subtitles.selection).run.run()
        let last = try library.nextMediaSelection(of: id)
        #expect(last == nil)
    }

    // MARK: Progress of records

    /// A download that failed before its files were known, or whose media playlists are not planned, has no progress, although the
    /// asset is complete.
    @Test(
        arguments: [
            (.suspended, nil, 100), (.failed, nil, 0), (.failed, ["media"], 100), (.suspended, ["variant-9"], 0),
            (.suspended, ["media", "variant-9"], 0), (.suspended, ["media", "i-frames-0"], 100), (.suspended, [], 0),
        ] as [(DownloadRecord.State, [String]?, Double)]
    )
    func progressIsThatOfThePlaylistsOfTheDownload(
        state: DownloadRecord.State,
        folders: [String]?,
        percent: Double
    ) async throws {
        let asset = try await download(["main.m3u8": Self.media("0.ts"), "0.ts": "zero"]).run.run()
        #expect(asset.renditions.map(\.folder) == ["media"])
        try library.addDownload(
            DownloadRecord(
                id: "first",
                session: "films",
                assetID: asset.id,
                source: Self.source,
                details: "",
                options: try DownloadConfiguration().stored,
                artwork: nil,
                state: state,
                priority: 0,
                creationTime: 0
            )
        )
        if let folders { try library.changeDownload("first", .folders(Set(folders), selection: 0)) }
        let progress = try #require(try library.progressOfDownloads()[asset.id])
        #expect(progress.percent == percent)
    }

    // MARK: Refused downloads

    /// A file that is too large refuses the selection, and leaves what was complete as it is.
    @Test func assetStaysCompleteIfAFileIsTooLarge() async throws {
        let texts = [
            "main.m3u8":
                "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=900000\nhigh.m3u8\n",
            "low.m3u8": Self.media("low.ts"), "high.m3u8": Self.media("high.ts"), "low.ts": "low",
            "high.ts": String(repeating: "x", count: 2_000),
        ]
        let former = try await download(texts, DownloadSelection(variants: .lowest)).run.run()
        let limits = DownloadLimits(fileSize: ByteCount(1_000))
        let best = download(texts, DownloadSelection(variants: .best), limits: limits).run
        let error = await #expect(throws: DownloadError.self) { try await best.run() }
        #expect(error?.code == .transport && error?.detail == "too-large")
        let asset = try library.asset(former.id)
        #expect(asset.state == .complete && asset.renditions.map(\.folder) == ["variant-0"])
        #expect(asset.selection == former.selection)
    }

    // MARK: Keys

    private static let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"

    /// The asset has everything that its selection needs without the key, so that the same selection is complete.
    @Test(arguments: [15, 17]) func keyOfAnotherSizeLeavesTheAssetComplete(size: Int) async throws {
        let former = try await download(["main.m3u8": Self.media("0.ts"), "0.ts": "zero"]).run.run()
        let texts = ["main.m3u8": Self.media("0.ts", tags: Self.key), "key": String(repeating: "k", count: size)]
        let events = Mutex<[String]>([])
        let same = download(texts)
        let asset = try await same.run.run { event in
            let name =
                switch event {
                case .resolved(_, let progress, let folders): "resolved \(progress.percent) \(folders?.count ?? -1)"
                case .progress(_, let progress): "progress \(progress.percent)"
                case .completed(let asset): "completed \(asset.id == former.id)"
                case .waiting, .lost, .metadataOmitted, .keyNotVerified, .ended: "other"
                }
            events.withLock { $0.append(name) }
        }
        #expect(asset.id == former.id && asset.state == .complete)
        #expect(events.withLock { $0 } == ["resolved 100.0 -1", "progress 100.0", "completed true"])
        #expect(same.origin.requestedAddresses == [Self.source.text, Self.base + "key"])
        #expect(try !temporary.text("media/media.m3u8", of: asset.id).contains("EXT-X-KEY"))
        let other = download(texts, DownloadSelection(variants: .lowest)).run
        let error = await #expect(throws: DownloadError.self) { try await other.run() }
        #expect(error?.detail == "wrong-content")
        #expect(error?.message.hasPrefix("the key has \(size) bytes instead of 16") == true)
    }

    /// The catalog has the start of a segment as a decimal number, which can be just before that of the segment.
    @Test(arguments: [0, 1] as [Int64]) func segmentIsFoundByItsStart(early: Int64) throws {
        let segments = ["s0.ts", "s1.ts"].map { "#EXTINF:4,\n\($0)\n" }.joined()
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,IV=0x0A,URI=\"key\"\n\(segments)#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: Self.source))
        let id = try temporary.plan(playlist, at: Self.source)
        let files = try library.missingResources(id)
        let key = try #require(files.first { $0.kind == .key })
        try temporary.store(Array("fedcba9876543210".utf8), as: key, of: id)
        let planned = try #require(files.first { $0.address.lastPathComponent == "s1.ts" })
        let start = MediaTime(value: 4_000 - early, timescale: 1_000)
        let resource = StoredResource(
            id: planned.id,
            assetID: id,
            kind: planned.kind,
            address: planned.address,
            byteRange: nil,
            path: planned.path,
            folder: planned.folder,
            timeRange: MediaTimeRange(start: start, duration: planned.timeRange.duration),
            order: planned.order,
            bytes: nil
        )
        let file = library.makePackageFile(for: resource, of: id)
        defer { file.discard() }
        // The segment is not encrypted with the key.
        try Array("0123456789abcdef".utf8).withUnsafeBytes { try file.write($0) }
        let verification = KeyVerification([PlannedRendition(only: playlist, at: Self.source)], of: id, in: library)
        let error = #expect(throws: DownloadError.self) { try verification.check(file, of: resource) }
        #expect(error?.code == .damaged && error?.address == resource.address)
    }
}
