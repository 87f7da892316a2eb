import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import SegmentFormat
import Testing

@testable import MillstreamDownloads

/// A transport whose bodies arrive in parts of 10,000 bytes.
private struct PartedTransport: Transport {
    let bytes: [UInt8]

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let (buffers, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        for start in stride(from: 0, to: bytes.count, by: 10_000) {
            continuation.yield(ByteBuffer(bytes: bytes[start..<min(start + 10_000, bytes.count)]))
        }
        continuation.finish()
        return TransportResponse(to: request, expectedLength: Int64(bytes.count), body: TransportBody(buffers))
    }
}

/// Tests what is chosen from playlists and texts, and which documents and files are accepted.
@Suite(.timeLimit(.minutes(5))) struct SelectionCaseTests {
    private static let base = "https://films.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    // MARK: Choices

    /// More than two channels are multichannel audio, also 2.1.
    @Test(arguments: [(true, 0), (false, 1)]) func threeChannelsAreMultichannelAudio(
        isPreferred: Bool,
        position: Int
    ) throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="three",NAME="English",CHANNELS="3",URI="three.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="two",NAME="English",CHANNELS="2",URI="two.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="three"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO="two"
            high.m3u8

            """
        let playlist = try MultivariantPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(Self.base + "top.m3u8"))
        )
        var selection = DownloadSelection()
        selection.prefersMultichannelAudio = isPreferred
        let resolver = DownloadResolver(loader: ResourceLoader(ScriptedTransport()), selection: selection)
        let choices = try resolver.choose(from: playlist)
        #expect(choices.filter { $0.role == .variant }.map(\.position) == [position])
    }

    /// Of several values of an attribute, the last one counts.
    @Test(
        arguments: [
            ("variants=lowest&variants=best", .best), ("variants=best&variants=lowest", .lowest),
            ("max-height=360&variants=best", .best), ("variants=all&max-height=360", .maximumHeight(360)),
            ("variants=all&variants=none", DownloadSelection.Variants.none),
            ("variants=all&min-bandwidth=7", .minimumBandwidth(BitRate(bitsPerSecond: 7))),
        ] as [(String, DownloadSelection.Variants)]
    )
    func lastValueOfAnAttributeCounts(text: String, variants: DownloadSelection.Variants) throws {
        let selection = try #require(DownloadSelection(text))
        #expect(selection.variants == variants)
    }

    // MARK: Documents

    private func fetch(_ bytes: [UInt8], limit: Int64) async throws -> DownloadPlaylistLoader.FetchedResource {
        let loader = DownloadPlaylistLoader(
            loader: ResourceLoader(PartedTransport(bytes: bytes), policy: RecoveryPolicy(retries: 0)),
            playlistSize: ByteCount(10_000_000),
            bypassesCache: false,
            acceptsLive: false
        )
        return try await loader.fetch(ResourceAddress(Self.base + "a"), limit: ByteCount(limit))
    }

    /// The limit is that of playlists; whether a resource is one is known after its first 64 KiB, or at its end.
    @Test(arguments: [16, 30_000, 100_000]) func mediaFileCanBeLargerThanAPlaylist(size: Int) async throws {
        let header: [UInt8] = Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8)
        let bytes = header + [UInt8](repeating: 0, count: size - header.count)
        let resource = try await fetch(bytes, limit: 10)
        guard case .mediaFile(let file) = resource else {
            Issue.record("the media file is not recognized")
            return
        }
        #expect(file.container == .wave)
    }

    @Test(arguments: [20, 30_000, 100_000]) func documentHasAtMostTheSizeOfAPlaylist(size: Int) async throws {
        let bytes = Array("#EXTM3U\n".utf8) + [UInt8](repeating: UInt8(ascii: "\n"), count: size - 8)
        let resource = try await fetch(bytes, limit: Int64(size))
        guard case .document(let document) = resource else {
            Issue.record("the playlist is not recognized")
            return
        }
        #expect(document.bytes == bytes)
        let error = await #expect(throws: DownloadError.self) { _ = try await fetch(bytes, limit: Int64(size - 1)) }
        #expect(error?.code == .tooLarge)
    }

    // MARK: Imports

    /// The name of the other folder begins with that of the folder of the playlist.
    @Test func fileOfASiblingFolderIsNotImported() async throws {
        let folders = ["Film", "Film 2"].map { temporary.directory.appendingPathComponent($0) }
        for folder in folders {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("media".utf8).write(to: folder.appendingPathComponent("0.ts"))
        }
        let playlist = folders[0].appendingPathComponent("media.m3u8")
        for (uri, isRefused) in [("../Film%202/0.ts", true), ("../Film/0.ts", false)] {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(uri)\n#EXT-X-ENDLIST\n"
            try Data(text.utf8).write(to: playlist)
            do {
                let asset = try await AssetImport(playlist, into: library).run()
                #expect(!isRefused && asset.state == .complete)
            } catch let error as DownloadError {
                #expect(isRefused && error.detail == "address-refused", "\(error)")
            }
        }
    }

    // MARK: Initialization sections

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// Returns an initialization section of a size, with a clear and an encrypted video track.
    private static func initialization(_ size: Int) -> [UInt8] {
        func track(_ id: UInt8, _ entry: [UInt8]) -> [UInt8] {
            box(
                "trak",
                box("tkhd", zeros(12), [0, 0, 0, id], zeros(68)),
                box(
                    "mdia",
                    box("mdhd", zeros(12), [0, 0, 3, 232], zeros(8)),
                    box("hdlr", zeros(8), Array("vide".utf8), zeros(13)),
                    box("minf", box("stbl", box("stsd", zeros(4), [0, 0, 0, 1], entry)))
                )
            )
        }
        let video = zeros(6) + [0, 1] + zeros(16) + [2, 128, 1, 104] + zeros(50)
        let scheme = box("schm", zeros(4), Array("cbcs".utf8), [0, 1, 0, 0])
        let tenc = box("tenc", [1, 0, 0, 0, 0, 0x19, 1, 0], zeros(16), [16], zeros(16))
        let protection = box("sinf", box("frma", Array("avc1".utf8)), scheme, box("schi", tenc))
        let bytes =
            box("ftyp", Array("iso6".utf8), zeros(4))
            + box(
                "moov",
                box("mvhd", zeros(12), [0, 0, 3, 232], zeros(84)),
                track(1, box("avc1", video)),
                track(2, box("encv", video, protection))
            )
        return bytes + box("free", zeros(size - bytes.count - 8))
    }

    /// Initialization sections with real tracks have a few kilobytes; those of more than 4 MiB are not read.
    @Test(arguments: [(4_194_304, true), (4_194_305, false)])
    func largeInitializationSectionsAreNotRead(size: Int, isRead: Bool) throws {
        let address = ResourceAddress(Self.base + "film.m3u8")
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:4,\n0.m4s\n#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: address))
        let id = try temporary.plan(playlist, at: address)
        let section = try #require(try library.missingResources(id).first { $0.kind == .initialization })
        let bytes = Self.initialization(size)
        #expect(bytes.count == size)
        try temporary.store(bytes, as: section, of: id)
        try library.describeMedia(of: id)
        let rendition = try #require(try library.asset(id).renditions.first)
        #expect(rendition.width == (isRead ? 640 : nil) && rendition.height == (isRead ? 360 : nil))
        #expect(try ProtectedMedia.scheme(of: id, in: library) == (isRead ? "cbcs" : nil))
    }

    // MARK: Repairs

    /// The presentation has no audio renditions any more.
    @Test func assetWhoseRenditionsWereRemovedIsRepaired() async throws {
        let source = ResourceAddress(Self.base + "main.m3u8")
        func origin(_ media: String, _ attribute: String, token: String) -> ScriptedTransport {
            func list(_ name: String) -> String {
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name)?t=\(token)\n#EXT-X-ENDLIST\n"
            }
            let transport = ScriptedTransport(texts: [
                source.text: "#EXTM3U\n\(media)#EXT-X-STREAM-INF:BANDWIDTH=800000\(attribute)\nv.m3u8\n",
                Self.base + "v.m3u8": list("v.ts"), Self.base + "en.m3u8": list("en.aac"),
                Self.base + "v.ts?t=\(token)": "video", Self.base + "en.aac?t=\(token)": "english",
            ])
            transport.setResponses(
                for: Self.base + "v.ts?t=\(token == "1" ? "2" : "1")",
                .failure(TransportError(.status, "expired", status: 403))
            )
            return transport
        }
        let media = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",LANGUAGE=\"en\",URI=\"en.m3u8\"\n"
        let asset = try await AssetDownload(
            source,
            into: library,
            loader: ResourceLoader(origin(media, ",AUDIO=\"a\"", token: "1"), policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: DownloadSelection())
        ).run()
        #expect(asset.renditions.map(\.folder) == ["variant-0", "audio-0"])
        let lost = "variant-0/000000.ts"
        try FileManager.default.removeItem(at: library.packageDirectory(asset.id).appendingPathComponent(lost))
        let changed = origin("", "", token: "2")
        let result = try await AssetRepair(
            asset.id,
            in: library,
            loader: ResourceLoader(changed, policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(result.damaged == [lost])
        #expect(changed.requestedAddresses.contains(source.text))
    }

    /// The advice is for downloads: the subtitles of a stored asset were selected already.
    @Test func missingSubtitlesOfARepairAreReportedWithoutAdvice() async throws {
        func list(_ name: String) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name)\n#EXT-X-ENDLIST\n"
        }
        let source = ResourceAddress(Self.base + "main.m3u8")
        let media = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"English\",LANGUAGE=\"en\",URI=\"en.m3u8\"\n"
        let texts = [
            source.text: "#EXTM3U\n\(media)#EXT-X-STREAM-INF:BANDWIDTH=800000,SUBTITLES=\"s\"\nv.m3u8\n",
            Self.base + "v.m3u8": list("v.ts"), Self.base + "en.m3u8": list("en.vtt"), Self.base + "v.ts": "video",
        ]
        let transport = ScriptedTransport(texts: texts)
        transport.setResponses(for: Self.base + "en.vtt", .text("WEBVTT\n"))
        let asset = try await AssetDownload(
            source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: DownloadSelection())
        ).run()
        let file = try #require(try library.resources(asset.id).first { $0.kind == .subtitle })
        try FileManager.default.removeItem(at: library.packageDirectory(asset.id).appendingPathComponent(file.path))
        let result = try await AssetRepair(
            asset.id,
            in: library,
            loader: ResourceLoader(ScriptedTransport(texts: texts), policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(result.damaged == [file.path] && result.repaired.isEmpty)
        #expect(result.failure?.code == .transport && result.failure?.detail == "http-status")
        #expect(result.failure?.hint == nil)
    }
}
