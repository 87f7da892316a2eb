import AssetStorage
import Foundation
import GRDB
import MediaTiming
import MediaTransport
import MillstreamDownloads
import ResourceAddressing
import Testing

/// Tests the import of local presentations.
@Suite struct AssetImportTests {
    private let temporary: TemporaryLibrary
    private let folder: URL

    init() throws {
        temporary = try TemporaryLibrary()
        folder = temporary.directory.appendingPathComponent("Film")
        let main = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",LANGUAGE="en",URI="audio/media.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=900000,AUDIO="a"
            low/media.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO="a"
            high/media.m3u8

            """
        try write(main, "multivariant.m3u8")
        for name in ["low", "high", "audio"] {
            try write(
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\ndeep/1.ts\n#EXT-X-ENDLIST\n",
                "\(name)/media.m3u8"
            )
            try write("\(name) 0", "\(name)/0.ts")
            try write("\(name) 1", "\(name)/deep/1.ts")
        }
    }

    private var library: AssetLibrary { temporary.library }

    private func write(_ text: String, _ path: String) throws {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func add(_ path: String = "") async throws -> StoredAsset {
        try await AssetImport(folder.appendingPathComponent(path), into: library).run()
    }

    @Test func allFilesOfAFolderAreStoredWithChecksums() async throws {
        let asset = try await add()
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.title == "Film")
        #expect(asset.renditions.map(\.folder) == ["variant-0", "variant-1", "audio-0"])
        #expect(try temporary.text("variant-1/000001.ts", of: asset.id) == "high 1")
        let verified = try library.verify(asset.id)
        #expect(verified.damaged.isEmpty && verified.withoutChecksum == 0)
        // The copy does not depend on the folder.
        try FileManager.default.removeItem(at: folder)
        #expect(try library.verify(asset.id).damaged.isEmpty)
    }

    /// A folder can have a key of another presentation, with which its segments cannot be played.
    @Test(arguments: [("0123456789abcdef", true), ("fedcba9876543210", false)])
    func keyMustMatchTheSegments(key: String, isAccepted: Bool) async throws {
        try write(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x7\n#EXTINF:4,\ns.ts\n#EXT-X-ENDLIST\n",
            "encrypted/media.m3u8"
        )
        try write(key, "encrypted/k")
        // One block, encrypted with the first key.
        let bytes: [UInt8] = [
            0x62, 0x5a, 0x06, 0xb3, 0x14, 0x12, 0x63, 0x44, 0x25, 0x35, 0x56, 0x5a, 0xa8, 0x58, 0xd3, 0x22,
        ]
        try Data(bytes).write(to: folder.appendingPathComponent("encrypted/s.ts"))
        guard isAccepted else {
            let error = await #expect(throws: DownloadError.self) { try await add("encrypted") }
            #expect(error?.code == .damaged && error?.message.hasPrefix("the key does not match: ") == true)
            #expect(error?.address?.lastPathComponent == "s.ts")
            #expect(try library.assets().isEmpty)
            return
        }
        let asset = try await add("encrypted")
        #expect(asset.state == .complete && asset.isPlayableOffline)
    }

    // MARK: Artwork

    /// Returns a JPEG image of 2×3 pixels that ends with its name.
    private static func image(_ name: String) -> Data {
        Data([0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2]) + Data(name.utf8)
    }

    @Test(
        arguments: [
            (["poster.jpg", "folder.jpg", "cover.webp", "cover.png"], "cover.png"),
            (["cover.jpeg", "cover.jpg"], "cover.jpg"), (["poster.jpg", "folder.jpg"], "folder.jpg"),
            (["cover.gif", "poster.jpg"], "cover.gif"), (["poster.jpg"], "poster.jpg"), (["other.jpg"], nil),
        ] as [([String], String?)]
    )
    func firstImageInTheFolderIsTheArtwork(names: [String], expected: String?) async throws {
        for name in names { try Self.image(name).write(to: folder.appendingPathComponent(name)) }
        let asset = try await add()
        #expect(try library.artwork(of: asset.id)?.data == expected.map { Self.image($0) })
        #expect((asset.artworkFormat == .jpeg) == (expected != nil))
    }

    /// A folder with several playlists can have the image of another one.
    @Test func imageIsNotUsedForAPlaylistThatIsNamed() async throws {
        try Self.image("cover").write(to: folder.appendingPathComponent("cover.jpg"))
        let asset = try await add("multivariant.m3u8")
        #expect(asset.artworkFormat == nil)
    }

    @Test func linksAndOtherFilesAreNoArtwork() async throws {
        let outside = temporary.directory.appendingPathComponent("outside.jpg")
        try Self.image("outside").write(to: outside)
        let link = folder.appendingPathComponent("cover.jpg")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
        try write("no image", "cover.jpeg")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("cover.png"),
            withIntermediateDirectories: false
        )
        let large = Self.image("large") + Data(count: Int(clamping: AssetArtwork.maximumSize.bytes))
        try large.write(to: folder.appendingPathComponent("cover.webp"))
        try Self.image("poster").write(to: folder.appendingPathComponent("poster.jpg"))
        let asset = try await add()
        #expect(try library.artwork(of: asset.id)?.data == Self.image("poster"))
    }

    @Test func presentationThatIsAddedAgainKeepsItsArtwork() async throws {
        let first = try await add()
        try library.setArtwork(AssetArtwork(Self.image("first")), of: first.id)
        try Self.image("cover").write(to: folder.appendingPathComponent("cover.jpg"))
        let again = try await add()
        #expect(again.id == first.id)
        #expect(try library.artwork(of: again.id)?.data == Self.image("first"))
    }

    /// The user has removed the image of the folder.
    @Test func artworkThatWasRemovedStaysRemoved() async throws {
        try Self.image("cover").write(to: folder.appendingPathComponent("cover.jpg"))
        let first = try await add()
        #expect(first.artworkFormat == .jpeg)
        try library.setArtwork(nil, of: first.id)
        let again = try await add()
        #expect(again.id == first.id && again.artworkFormat == nil)
    }

    @Test func assetStaysIfOnlyItsArtworkCannotBeStored() async throws {
        try Self.image("cover").write(to: folder.appendingPathComponent("cover.jpg"))
        let queue = try DatabaseQueue(path: temporary.directory.appendingPathComponent("catalogue.sqlite").path)
        try await queue.write { database in
            try database.execute(
                sql: "CREATE TRIGGER refusal BEFORE INSERT ON artwork BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        }
        try queue.close()
        let error = await #expect(throws: DownloadError.self) { try await add() }
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.artworkFormat == nil)
        #expect(error?.code == .storage && error?.message.contains("refused") == true)
        #expect(error?.message.hasPrefix("the asset \(asset.id) is stored, but not its artwork: ") == true)
    }

    @Test func exportedAssetCanBeAddedAgain() async throws {
        let first = try await add()
        let exported = temporary.directory.appendingPathComponent("exported")
        try library.export(first.id, to: exported)
        let second = try await AssetImport(exported, into: library, title: "Copy").run()
        #expect(second.id != first.id && second.title == "Copy")
        #expect(second.duration == first.duration && second.bytes == first.bytes)
        let exportedAgain = temporary.directory.appendingPathComponent("again")
        try library.export(second.id, to: exportedAgain)
        for path in try FileManager.default.subpathsOfDirectory(atPath: exported.path) {
            let contents = [exported, exportedAgain].map { try? Data(contentsOf: $0.appendingPathComponent(path)) }
            #expect(contents[0] == contents[1], "\(path)")
        }
    }

    @Test func missingSegmentIsNamedAndNothingIsAdded() async throws {
        try FileManager.default.removeItem(at: folder.appendingPathComponent("high/deep/1.ts"))
        let error = await #expect(throws: DownloadError.self) { try await add() }
        #expect(
            error?.message.contains(folder.path + "/high/deep/1.ts does not exist") == true,
            "\(error?.message ?? "")"
        )
        #expect(try library.assets().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path + "/packages").isEmpty)
    }

    @Test func playlistIsChosenByNameAndKind() async throws {
        #expect(try await add("low/media.m3u8").renditions.map(\.folder) == ["media"])
        try FileManager.default.moveItem(
            at: folder.appendingPathComponent("multivariant.m3u8"),
            to: folder.appendingPathComponent("Main.M3U8")
        )
        try write("#EXTM3U\n", "other.m3u8")
        #expect(try AssetImport(folder, into: library).playlist.lastPathComponent == "Main.M3U8")
        try FileManager.default.removeItem(at: folder.appendingPathComponent("Main.M3U8"))
        try write("#EXTM3U\n", "third.m3u8")
        let error = #expect(throws: DownloadError.self) { try AssetImport(folder, into: library) }
        #expect(error?.message.contains("several playlists: other.m3u8, third.m3u8") == true)
        let none = #expect(throws: DownloadError.self) {
            try AssetImport(folder.appendingPathComponent("low/deep"), into: library)
        }
        #expect(none?.message.contains("has no playlist") == true)
    }

    /// Returns a static DASH manifest with two segments, the first of which has a given URL.
    private static func manifest(_ first: String = "0.m4s") -> String {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" minBufferTime="PT2S" mediaPresentationDuration="PT8S">
        <Period><AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">
        <Representation id="low" bandwidth="500000" codecs="avc1.42c01e" width="640" height="360">
        <SegmentList duration="4"><Initialization sourceURL="low.mp4"/><SegmentURL media="\(first)"/>
        <SegmentURL media="1.m4s"/></SegmentList></Representation></AdaptationSet></Period></MPD>
        """
    }

    @Test(arguments: ["dash/Film.MPD", "dash"]) func manifestIsStoredAsItsTranslation(path: String) async throws {
        try write(Self.manifest(), "dash/Film.MPD")
        for name in ["low.mp4", "0.m4s", "1.m4s"] { try write("bytes of \(name)", "dash/\(name)") }
        let asset = try await add(path)
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.duration == MediaTime(seconds: 8))
        #expect(asset.renditions.map(\.role) == [.variant] && asset.renditions.first?.height == 360)
        let folder = try #require(asset.renditions.first?.folder)
        #expect(try temporary.text("\(folder)/000001.m4s", of: asset.id) == "bytes of 1.m4s")
        #expect(try library.verify(asset.id).damaged.isEmpty)
    }

    @Test func manifestIsChosenOnlyWithoutPlaylists() async throws {
        try write(Self.manifest(), "a.mpd")
        #expect(try AssetImport(folder, into: library).playlist.lastPathComponent == "multivariant.m3u8")
        try write(Self.manifest(), "dash/a.mpd")
        try write(Self.manifest(), "dash/b.mpd")
        let error = #expect(throws: DownloadError.self) {
            try AssetImport(folder.appendingPathComponent("dash"), into: library)
        }
        #expect(error?.message.contains("several DASH manifests: a.mpd, b.mpd") == true)
        let none = #expect(throws: DownloadError.self) {
            try AssetImport(folder.appendingPathComponent("low/deep"), into: library)
        }
        #expect(none?.message.contains("no playlist (.m3u8) and no DASH manifest (.mpd)") == true)
    }

    @Test(arguments: ["../secret.ts", "https://origin.example/0.m4s"])
    func manifestCannotNameFilesOutsideOfTheFolder(name: String) async throws {
        try Data("secret".utf8).write(to: temporary.directory.appendingPathComponent("secret.ts"))
        try write(Self.manifest(name), "hostile.mpd")
        for name in ["low.mp4", "1.m4s"] { try write("bytes of \(name)", name) }
        let error = await #expect(throws: DownloadError.self) { try await add("hostile.mpd") }
        #expect(error?.detail == "address-refused", "\(error?.message ?? "")")
        #expect(try library.assets().isEmpty)
    }

    @Test(arguments: ["../secret.ts", "link.ts", "%2e%2e/secret.ts", "https://origin.example/0.ts"])
    func filesOutsideOfTheFolderAreRefused(name: String) async throws {
        let secret = temporary.directory.appendingPathComponent("secret.ts")
        try Data("secret".utf8).write(to: secret)
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("link.ts"),
            withDestinationURL: secret
        )
        try write("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name)\n#EXT-X-ENDLIST\n", "hostile.m3u8")
        let error = await #expect(throws: DownloadError.self) { try await add("hostile.m3u8") }
        #expect(error?.detail == "address-refused", "\(error?.message ?? "")")
        #expect(try library.assets().isEmpty)
    }

    /// The first file would fit after the deletion of the other asset, but not the second one.
    @Test func presentationThatDoesNotFitDeletesNothing() async throws {
        try write(String(repeating: "a", count: 2_000_000), "low/0.ts")
        let asset = try await add("low/media.m3u8")
        try write(String(repeating: "b", count: 2_000_000), "high/0.ts")
        try write(String(repeating: "c", count: 2_000_000), "high/deep/1.ts")
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(1_000_000)))
        let error = await #expect(throws: DownloadError.self) { try await add("high/media.m3u8") }
        #expect(error?.detail == "disk-full", "\(error?.message ?? "")")
        #expect(try library.assets().map(\.id) == [asset.id])
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(3_000_000)))
        let other = try await add("high/media.m3u8")
        #expect(try library.assets().map(\.id) == [other.id])
    }

    @Test func storedAssetSurvivesAFailedImport() async throws {
        let asset = try await add()
        try FileManager.default.removeItem(at: folder.appendingPathComponent("low/0.ts"))
        try FileManager.default.removeItem(
            at: library.packageDirectory(asset.id).appendingPathComponent("variant-0/000000.ts")
        )
        await #expect(throws: DownloadError.self) { try await add() }
        #expect(try library.asset(asset.id).state == .partial)
    }
}
