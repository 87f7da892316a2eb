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

    /// For example, the connection was lost before all files of the second variant were received.
    @Test func completeVariantOfAnIncompleteAssetIsExported() throws {
        let id = try temporary.enter()
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=800000",
            "low.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=3000000",
            "high.m3u8"
        )
        let media = try ["low", "high"].map { name in
            try TemporaryLibrary.media(#"#EXT-X-MAP:URI="\#(name).mp4""#, "#EXTINF:4,", "\(name).m4s")
        }
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 0, media[0]),
            TemporaryLibrary.rendition(.variant, 1, media[1])
        )
        let missing = try library.missingResources(id)
        try temporary.store(missing.filter { $0.folder == "variant-0" || $0.kind != .initialization }, of: id)
        let asset = try library.asset(id)
        #expect(asset.state == .partial && asset.isPlayableOffline && library.isPlayableOffline(id))
        let exported = try library.export(id, to: folder)
        #expect(exported.lastPathComponent == "multivariant.m3u8")
        let playlist = try MultivariantPlaylist(parsing: [UInt8](Data(contentsOf: exported)))
        #expect(playlist.variants.map(\.uri) == ["variant-0/media.m3u8"])
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        #expect(names.count == 5 && names.filter { $0.hasPrefix("variant-1") } == [], "\(names)")
        // Files of the other variant are not needed to play the asset.
        try FileManager.default.removeItem(at: temporary.url("variant-1/000000.m4s", of: id))
        #expect(library.isPlayableOffline(id))
        try FileManager.default.removeItem(at: temporary.url("variant-0/000000.m4s", of: id))
        #expect(!library.isPlayableOffline(id))
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
