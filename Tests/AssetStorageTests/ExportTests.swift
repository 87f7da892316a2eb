import AssetStorage
import Foundation
import HLSPlaylist
import Testing

/// Tests the export of assets to a plain directory.
@Suite struct ExportTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }
    private var folder: URL { temporary.directory.appendingPathComponent("exports/deep/film") }
    /// The temporary directory in which the copy is made before it is renamed.
    private var partial: URL {
        temporary.directory.appendingPathComponent("exports/deep/.film.\(ProcessInfo.processInfo.processIdentifier)")
    }

    private func completeAsset() throws -> String {
        let id = try temporary.planned(
            try TemporaryLibrary.media(
                #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
                "#EXTINF:4,",
                "0.ts",
                "#EXTINF:4,",
                "1.ts"
            )
        )
        try temporary.complete(id)
        return id
    }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    private let key = "media/key-9f521ab0ec29d751f6cd7f04fad35df8.key"

    @Test func exportContainsTheStoredFilesWithTheModesOfNewFiles() throws {
        let id = try completeAsset()
        try Data("x".utf8).write(to: temporary.url("media/stray.ts", of: id))
        try library.export(id, to: folder)
        let names = ["media", "media/000000.ts", "media/000001.ts", key, "media/media.m3u8", "multivariant.m3u8"]
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == names)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/..") == ["film"])
        for name in names.dropFirst() {
            let original = try Data(contentsOf: temporary.url(name, of: id))
            #expect(try Data(contentsOf: folder.appendingPathComponent(name)) == original)
        }
        // The mode that this process gives to new directories.
        let probe = temporary.directory.appendingPathComponent("probe")
        try FileManager.default.createDirectory(at: probe, withIntermediateDirectories: false)
        let folderMode = try #require(try mode(probe))
        #expect(folderMode & 0o007 != 0)
        for name in names {
            let expected = name == key ? 0o600 : name == "media" ? folderMode : folderMode & 0o666
            #expect(try mode(folder.appendingPathComponent(name)) == expected, "\(name)")
        }
        #expect(try mode(folder) == folderMode)
    }

    @Test func incompleteAssetIsNotExported() throws {
        let id = try completeAsset()
        try FileManager.default.removeItem(at: temporary.url("media/000001.ts", of: id))
        var error = storageError { try library.export(id, to: folder) }
        #expect(error?.code == "package-damaged")
        #expect(error?.message == "media/000001.ts is missing or damaged; repair the asset first")
        #expect(!PathCheck.exists(folder) && !PathCheck.exists(partial))
        try library.removeMissingFilesFromCatalog(id)
        error = storageError { try library.export(id, to: folder) }
        #expect(error?.code == "asset-incomplete")
        #expect(error?.message == "the asset \(id) is not complete; download it again first")
    }

    @Test func existingDirectoryIsNotChanged() throws {
        let id = try completeAsset()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let error = storageError { try library.export(id, to: folder) }
        #expect(error?.code == "already-exists")
        #expect(error?.message == "\(folder.path) already exists")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func exportErrorNamesTheDirectory() throws {
        let id = try completeAsset()
        try Data().write(to: temporary.directory.appendingPathComponent("exports"))
        let error = storageError { try library.export(id, to: folder) }
        #expect(error?.code == "disk-failed")
        #expect(error?.message.hasPrefix("\(folder.path) cannot be written (") == true)
    }

    /// The files of an interrupted export do not become part of a later export.
    @Test func filesOfAnInterruptedExportAreRemoved() throws {
        let id = try completeAsset()
        try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: partial.appendingPathComponent("stray"))
        let error = storageError { try library.export(id, to: folder) }
        #expect(error?.code == "disk-failed")
        #expect(error?.message.hasPrefix("\(folder.path) cannot be written (") == true)
        #expect(!PathCheck.exists(partial) && !PathCheck.exists(folder))
        try library.export(id, to: folder)
        #expect(!PathCheck.exists(folder.appendingPathComponent("stray")))
    }
}
