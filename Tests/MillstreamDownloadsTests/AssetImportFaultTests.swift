import Foundation
import MillstreamDownloads
import Testing

/// Tests which playlist of a folder is imported.
@Suite struct AssetImportFaultTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    @Test(
        arguments: [
            (["multivariant.m3u8", "other.m3u8"], "multivariant.m3u8"), (["other.m3u8"], "other.m3u8"),
            (["a.m3u8", "b.m3u8"], nil),
        ] as [([String], String?)]
    )
    func playlistOfAPackageHasPrecedence(names: [String], expected: String?) throws {
        let folder = temporary.directory.appendingPathComponent("Film")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in names {
            let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=8\nv/media.m3u8\n"
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        if let expected {
            #expect(try AssetImport(folder, into: temporary.library).playlist.lastPathComponent == expected)
        } else {
            let error = #expect(throws: DownloadError.self) {
                _ = try AssetImport(folder, into: temporary.library).playlist
            }
            #expect(error?.code == .notAPlaylist && error?.hint == "name one of them in place of the folder")
        }
    }
}
