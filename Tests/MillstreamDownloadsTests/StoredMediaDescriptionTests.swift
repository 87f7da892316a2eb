import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests what downloads store of the media of sources without variants.
@Suite(.timeLimit(.minutes(5))) struct StoredMediaDescriptionTests {
    private static let base = "https://films.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// A track with the given sample entry; its language has five bits for each letter.
    private static func track(_ id: UInt8, _ handler: String, _ entry: [UInt8], language: [UInt8]) -> [UInt8] {
        let table = box("stbl", box("stsd", zeros(4), [0, 0, 0, 1], entry))
        let header = box("mdhd", zeros(12), [0, 0, 3, 232], zeros(4), language, zeros(2))
        return box(
            "trak",
            box("tkhd", zeros(12), [0, 0, 0, id], zeros(68)),
            box("mdia", header, box("hdlr", zeros(8), Array(handler.utf8), zeros(13)), box("minf", table))
        )
    }

    /// An initialization section with video of 640 by 360 pixels, and English audio.
    private static var initialization: [UInt8] { initializationSection(width: [2, 128]) }

    /// Returns an initialization section with video of a height of 360 pixels, and English audio.
    ///
    /// - Parameters:
    ///   - width: The two bytes of the width of the video.
    ///   - padding: The size of the box before the movie, in bytes.
    /// - Returns: The section.
    private static func initializationSection(width: [UInt8], padding: Int = 0) -> [UInt8] {
        let video = box("avc1", zeros(6), [0, 1], zeros(16), width, [1, 104], zeros(50))
        let audio = box("mp4a", zeros(6), [0, 1], zeros(8), [0, 2], zeros(6), [0xBB, 0x80, 0, 0])
        let free: [UInt8] = padding > 0 ? box("free", zeros(padding)) : []
        return box("ftyp", Array("iso6".utf8), zeros(4)) + free
            + box(
                "moov",
                box("mvhd", zeros(12), [0, 0, 3, 232], zeros(84)),
                track(1, "vide", video, language: zeros(2)),
                track(2, "soun", audio, language: [0x15, 0xC7])
            )
    }

    private func transport(_ initialization: [UInt8], last: String? = "media 1") -> ScriptedTransport {
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="i.mp4"
            #EXTINF:4,
            s0.m4s
            #EXTINF:4,
            s1.m4s
            #EXT-X-ENDLIST

            """
        var texts = [Self.base + "main.m3u8": playlist, Self.base + "s0.m4s": "media 0"]
        texts[Self.base + "s1.m4s"] = last
        let transport = ScriptedTransport(texts: texts)
        transport.setResponses(for: Self.base + "i.mp4", .bytes(initialization))
        return transport
    }

    private func download(_ transport: ScriptedTransport, records: Bool = false) async throws -> StoredAsset {
        var configuration = DownloadConfiguration()
        if records { configuration.recording = RecordingOptions() }
        return try await AssetDownload(
            ResourceAddress(Self.base + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        ).run()
    }

    @Test(arguments: [false, true]) func mediaOfASourceWithoutVariantsIsDescribed(records: Bool) async throws {
        let asset = try await download(transport(Self.initialization), records: records)
        let rendition = try #require(asset.renditions.first)
        #expect(rendition.width == 640 && rendition.height == 360)
        #expect(rendition.audioLanguages == ["eng"] && rendition.subtitleLanguages.isEmpty)
        let summary = try temporary.library.summary(asset.id)
        #expect(summary.quality == "360p" && summary.languages == "eng")
        #expect(try temporary.library.summaries() == [summary])
    }

    /// All of an initialization section is read, in contrast to a segment.
    @Test func largeInitializationSectionIsDescribed() async throws {
        let asset = try await download(transport(Self.initializationSection(width: [2, 128], padding: 300_000)))
        let rendition = try #require(asset.renditions.first)
        #expect(rendition.width == 640 && rendition.height == 360 && rendition.audioLanguages == ["eng"])
    }

    @Test func videoWithoutAWidthHasNoResolution() async throws {
        let asset = try await download(transport(Self.initializationSection(width: [0, 0])))
        let rendition = try #require(asset.renditions.first)
        #expect(rendition.width == nil && rendition.height == nil && rendition.audioLanguages == ["eng"])
    }

    @Test func mediaThatDescribesNoTracksIsListedWithItsBitRate() async throws {
        let asset = try await download(transport(Array("initialization".utf8)))
        let summary = try temporary.library.summary(asset.id)
        #expect(summary.quality == "14 bit/s" && summary.languages.isEmpty)
    }

    @Test func failedDownloadIsListedWithWhatIsStored() async throws {
        await #expect(throws: DownloadError.self) { try await download(transport(Self.initialization, last: nil)) }
        let summary = try #require(try temporary.library.summaries().first)
        #expect(summary.state == .partial && summary.quality == "360p" && summary.languages == "eng")
    }
}
