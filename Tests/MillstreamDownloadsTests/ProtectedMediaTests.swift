import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests of downloads of movie fragments whose initialization section says that they are encrypted.
@Suite(.timeLimit(.minutes(5))) struct ProtectedMediaTests {
    private static let base = "https://films.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    /// Returns an initialization section with a video track that is encrypted with Common Encryption.
    ///
    /// - Parameters:
    ///   - isProtected: Whether samples are encrypted by default.
    ///   - hasClearEntry: Whether the track also has a sample entry without protection.
    /// - Returns: The bytes of the section.
    private static func initialization(isProtected: Bool = true, hasClearEntry: Bool = false) -> [UInt8] {
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let scheme = box("schm", zeros(4), Array("cbcs".utf8), [0, 1, 0, 0])
        let tenc = box("tenc", [1, 0, 0, 0, 0, 0x19, isProtected ? 1 : 0, 0], zeros(16), [16], zeros(16))
        let protection = box("sinf", box("frma", Array("avc1".utf8)), scheme, box("schi", tenc))
        let video = zeros(6) + [0, 1] + zeros(16) + [2, 128, 1, 104] + zeros(50)
        let entries = box("encv", video, protection) + (hasClearEntry ? box("avc1", video) : [])
        let table = box("stbl", box("stsd", zeros(4), [0, 0, 0, hasClearEntry ? 2 : 1], entries))
        let header = box("mdhd", zeros(12), [0, 0, 3, 232], zeros(8))
        let handler = box("hdlr", zeros(8), Array("vide".utf8), zeros(13))
        let track = box(
            "trak",
            box("tkhd", zeros(12), [0, 0, 0, 1], zeros(68)),
            box("mdia", header, handler, box("minf", table))
        )
        return box("ftyp", Array("iso6".utf8), zeros(4))
            + box("moov", box("mvhd", zeros(12), [0, 0, 3, 232], zeros(84)), track)
    }

    /// Downloads, or records, a stream of two segments.
    private func download(
        _ initialization: [UInt8],
        firstKey: String = "",
        secondKey: String = "",
        end: Int64? = nil,
        records: Bool = false
    ) async throws -> StoredAsset {
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            \(firstKey)#EXT-X-MAP:URI="i.mp4"
            #EXTINF:4,
            s0.m4s
            \(secondKey)#EXTINF:4,
            s1.m4s
            #EXT-X-ENDLIST

            """
        let transport = ScriptedTransport(texts: [
            Self.base + "main.m3u8": playlist, Self.base + "k": String(repeating: "k", count: 16),
            Self.base + "s0.m4s": "media 0", Self.base + "s1.m4s": "media 1",
        ])
        transport.setResponses(for: Self.base + "i.mp4", .bytes(initialization))
        var selection = DownloadSelection()
        if let end { selection.timeRange = PartialRange(low: nil, high: MediaTime(seconds: end)) }
        var configuration = DownloadConfiguration(selection: selection)
        if records { configuration.recording = RecordingOptions() }
        return try await AssetDownload(
            ResourceAddress(Self.base + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        ).run()
    }

    private static let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n"

    @Test func protectedMediaWithoutAKeyIsRefused() async throws {
        let error = await #expect(throws: DownloadError.self) { try await download(Self.initialization()) }
        #expect(
            error?.code == .contentProtected && error?.message.contains("cbcs") == true,
            "\(String(describing: error))"
        )
        #expect(try temporary.library.assets().map(\.state) == [.partial])
    }

    @Test func protectedMediaWithAKeyIsStored() async throws {
        #expect(try await download(Self.initialization(), firstKey: Self.key).state == .complete)
    }

    /// The key of the playlist applies to none of the segments.
    @Test func clearMediaBeforeProtectedMediaIsStored() async throws {
        let asset = try await download(Self.initialization(), secondKey: Self.key, end: 3)
        #expect(asset.state == .complete)
        #expect(try temporary.library.resources(asset.id).map(\.kind) == [.initialization, .segment])
    }

    @Test func clearMediaWithAProtectedSampleEntryIsStored() async throws {
        #expect(try await download(Self.initialization(hasClearEntry: true)).state == .complete)
    }

    @Test func mediaThatIsClearByDefaultIsStored() async throws {
        #expect(try await download(Self.initialization(isProtected: false)).state == .complete)
    }

    /// The key could appear in a later version of the playlist, so the recording goes on, and its end reports what is missing.
    @Test func recordingOfProtectedMediaWithoutAKeyIsKeptAndReported() async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await download(Self.initialization(), records: true)
        }
        #expect(error?.code == .contentProtected, "\(String(describing: error))")
        #expect(error?.message.hasPrefix("the recording is stored, but its media is protected (cbcs)") == true)
        #expect(try temporary.library.assets().map(\.state) == [.complete])
    }

    @Test func playlistWithAKeyExcusesAllOfItsInitializationSections() async throws {
        let asset = try await download(Self.initialization(), firstKey: Self.key)
        #expect(try ProtectedMedia.scheme(of: asset.id, in: temporary.library) == nil)
    }

    @Test func recordingOfMediaWithAKeyOrWithoutProtectionIsComplete() async throws {
        #expect(try await download(Self.initialization(), firstKey: Self.key, records: true).state == .complete)
    }

    @Test func recordingOfClearMediaIsComplete() async throws {
        #expect(try await download(Self.initialization(isProtected: false), records: true).state == .complete)
    }
}
