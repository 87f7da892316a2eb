import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests what happens to packages without an entry in the catalog.
@Suite struct LibraryRecoveryTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }
    private var recovered: String { temporary.directory.path + "/recovered" }

    /// Creates a package that the catalog does not list.
    private func addPackage(_ name: String, playlist: String?) throws {
        let folder = library.packageDirectory(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = playlist == nil ? "file" : "multivariant.m3u8"
        try Data((playlist ?? "").utf8).write(to: folder.appendingPathComponent(file))
    }

    private func opened() throws -> AssetLibrary { try AssetLibrary(directory: temporary.directory) }

    @Test func keptPackageReplacesNoOther() throws {
        for (number, name) in ["film", "film-2", "film-3"].enumerated() {
            try addPackage("film", playlist: "#EXTM3U \(number)")
            #expect(try opened().packagesWithoutEntry?.path == recovered)
            let text = try String(contentsOfFile: "\(recovered)/\(name)/multivariant.m3u8", encoding: .utf8)
            #expect(text == "#EXTM3U \(number)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: recovered).sorted()
        #expect(names == ["film", "film-2", "film-3"])
        #expect(try temporary.packages.isEmpty)
        #expect(try opened().packagesWithoutEntry == nil)
    }

    @Test func packageThatAnotherTaskHoldsStays() throws {
        try addPackage("film", playlist: "#EXTM3U")
        try addPackage("rest", playlist: nil)
        let locks = try ["film", "rest"].map { try PackageLock(library.packageDirectory($0)) }
        #expect(try opened().packagesWithoutEntry == nil)
        #expect(try temporary.packages == ["film", "rest"])
        withExtendedLifetime(locks) {}
    }

    /// Only a library with packages, whose catalog is missing or empty, lacks its catalog.
    @Test func lostCatalogIsRecognized() throws {
        let directory = temporary.directory.appendingPathComponent("other")
        let package = directory.appendingPathComponent("packages/film")
        #expect(!AssetLibrary.lacksCatalog(directory))
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        #expect(!AssetLibrary.lacksCatalog(directory))
        try Data().write(to: package.appendingPathComponent("multivariant.m3u8"))
        #expect(AssetLibrary.lacksCatalog(directory))
        let catalog = directory.appendingPathComponent("catalogue.sqlite")
        try Data().write(to: catalog)
        #expect(AssetLibrary.lacksCatalog(directory))
        try Data("x".utf8).write(to: catalog)
        #expect(!AssetLibrary.lacksCatalog(directory))
    }

    @Test func onlyALibraryThatCanBeChangedIsWritable() throws {
        #expect(library.isWritable)
        let reader = try AssetLibrary(reading: temporary.directory)
        #expect(!reader.isWritable && reader.packagesWithoutEntry == nil)
    }

    @Test func reasonIsThatOfTheDatabaseOrTheLibrary() {
        #expect(AssetLibrary.reason(DatabaseError(resultCode: .SQLITE_FULL, message: "no space")) == "no space")
        #expect(AssetLibrary.reason(StorageError(.busy, "in use")) == "in use")
    }

    @Test func permissionsAreReportedOnlyIfTheyPreventReading() {
        #expect(AssetLibrary.permissionError(for: temporary.directory) == nil)
        #expect(AssetLibrary.permissionError(for: temporary.directory.appendingPathComponent("none")) == nil)
    }

    // MARK: Exports

    /// The exported media file has the name of its origin if that is usual.
    @Test(
        arguments: [
            ("film.mp4", "film.mp4"), ("a%20film.MP4?token=1", "a film.MP4"), ("film.php", nil), (".film.mp4", nil),
            ("a%2Ffilm.mp4", nil), ("a%0Afilm.mp4", nil), ("film.mp4.exe", nil),
            (String(repeating: "a", count: 195) + ".mp4", String(repeating: "a", count: 195) + ".mp4"),
            (String(repeating: "a", count: 196) + ".mp4", nil),
        ] as [(String, String?)]
    )
    func mediaFileIsExportedUnderItsName(name: String, exported: String?) throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", name)
        let lock = try library.lock(id)
        try library.planDownload(
            of: id,
            source: .media(playlist),
            at: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
            renditions: [
                PlannedRendition(
                    role: .variant,
                    position: -1,
                    language: nil,
                    variant: nil,
                    playlist: playlist,
                    address: ResourceAddress(TemporaryLibrary.origin + name),
                    mediaFileExtension: ".mp4",
                    audioLanguages: ["en", "und"],
                    subtitleLanguages: ["de"]
                )
            ]
        )
        withExtendedLifetime(lock) {}
        #expect(try library.mediaFile(of: id)?.path == "file/000000.mp4")
        let target = temporary.directory.appendingPathComponent("exported")
        #expect(storageError { try library.export(id, to: target) }?.code == "asset-incomplete")
        try temporary.complete(id)
        let file = try library.export(id, to: target)
        #expect(file.path == target.path + "/" + (exported ?? "000000.mp4"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == [exported ?? "000000.mp4"])
        #expect(try Data(contentsOf: file) == Data(contentsOf: temporary.url("file/000000.mp4", of: id)))
        let asset = try library.asset(id)
        #expect(asset.isMediaFile && asset.renditions.first?.audioLanguages == ["en", "und"])
        #expect(try library.summary(id).languages == "en (subtitles de)" && library.outline(of: id).isMediaFile)
    }

    @Test func damagedMediaFileAndMovedPackageAreNotExported() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        try temporary.complete(id)
        let target = temporary.directory.appendingPathComponent("exported")
        let moved = temporary.directory.appendingPathComponent("moved")
        try FileManager.default.moveItem(at: library.packageDirectory(id), to: moved)
        #expect(storageError { try library.export(id, to: target) }?.code == "package-moved")
        #expect(!PathCheck.exists(target))
        try FileManager.default.moveItem(at: moved, to: library.packageDirectory(id))
        #expect(try library.export(id, to: target).path == target.path + "/multivariant.m3u8")
    }
}
