import Foundation
import HLSPlaylist
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the names of exported media files, and which playlists an export reduces.
@Suite struct ExportFaultTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }
    private var folder: URL { temporary.directory.appendingPathComponent("exported") }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    /// The longest name that a copy has: 199 bytes.
    private static let longest = String(repeating: "x", count: 195) + ".mp4"

    private static let names: [(String, String)] = [
        ("film.mp4", "film.mp4"), ("FILM.MP4", "FILM.MP4"), ("a%20film.mp4", "a film.mp4"),
        (".film.mp4", "000000.mp4"), ("a%2Fb.mp4", "000000.mp4"), ("a%0Ab.mp4", "000000.mp4"),
        ("film.bin", "000000.mp4"), (longest, longest), ("x\(longest)", "000000.mp4"),
    ]

    /// A name that is hidden, too long, of another kind of file, or that is none, is replaced by that in the package.
    @Test(arguments: names)
    func mediaFileHasTheNameOfItsOrigin(uri: String, name: String) throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", uri)
        let rendition = PlannedRendition(
            role: .variant,
            position: -1,
            language: nil,
            variant: nil,
            playlist: media,
            address: ResourceAddress(TemporaryLibrary.origin + uri),
            mediaFileExtension: ".mp4"
        )
        try temporary.plan(id, .media(media), rendition)
        try temporary.complete(id)
        let file = try library.export(id, to: folder)
        #expect(file.lastPathComponent == name)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
        let folderMode = try #require(try mode(folder))
        #expect(try mode(file) == folderMode & 0o666)
    }

    @Test func downloadWithoutFilesIsNoRecording() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let error = storageError { try library.export(id, to: folder) }
        #expect(error?.code == "asset-incomplete")
        #expect(error?.message == "the asset \(id) is not complete; download it again first")
    }

    @Test func reducedPlaylistHasTheIFramesAndKeysOfItsDirectories() throws {
        let lines = [
            "#EXTM3U", #"#EXT-X-SESSION-KEY:METHOD=AES-128,URI="variant-0/a.key""#,
            #"#EXT-X-SESSION-KEY:METHOD=AES-128,URI="variant-1/b.key""#, "#EXT-X-STREAM-INF:BANDWIDTH=8",
            "variant-0/media.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=9", "variant-1/media.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i-frames-0/media.m3u8""#,
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,URI="i-frames-1/media.m3u8""#, "",
        ]
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let reduced = try AssetLibrary.playlist(bytes, in: ["variant-0", "i-frames-0"])
        #expect(reduced.variants.map(\.uri) == ["variant-0/media.m3u8"])
        #expect(reduced.iFrameVariants.map(\.uri) == ["i-frames-0/media.m3u8"])
        let text = String(decoding: reduced.bytes, as: UTF8.self)
        #expect(text.contains("variant-0/a.key") && !text.contains("b.key"), "\(text)")
    }
}
