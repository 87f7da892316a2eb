import AssetStorage
import Foundation
import ResourceAddressing
import Testing

@Suite struct AssetLibraryTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")

    @Test func openingRemovesPackagesThatAreNotInTheCatalog() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let id = try library.addAsset(source: ResourceAddress("https://h/a.m3u8"), title: "A", selection: "")
        let orphan = library.packageDirectory("orphan")
        try FileManager.default.createDirectory(at: orphan, withIntermediateDirectories: true)
        let again = try AssetLibrary(directory: directory)
        #expect(!FileManager.default.fileExists(atPath: orphan.path))
        #expect(try again.assets().map(\.id) == [id])
        #expect(FileManager.default.fileExists(atPath: again.packageDirectory(id).path))
    }

    @Test func sameSourceIsAddedOnlyOnce() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let first = try library.addAsset(source: ResourceAddress("https://h/a.m3u8"), title: "A", selection: "x")
        let second = try library.addAsset(source: ResourceAddress("https://h/a.m3u8"), title: "B", selection: "y")
        #expect(first == second)
        #expect(try library.asset(first).selection == "y")
    }

    @Test(arguments: ["../catalogue.sqlite", "a/../../x", "/etc/passwd", "", ".lock", "a//b", "./a"])
    func pathsOutsideAPackageAreRejected(path: String) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let id = try library.addAsset(source: ResourceAddress("https://h/a.m3u8"), title: "A", selection: "")
        try Data().write(to: library.packageDirectory(id).appendingPathComponent(".lock"))
        #expect(library.file(path, of: id) == nil)
        #expect(library.file("catalogue.sqlite", of: "..") == nil)
    }

    @Test func deletingAnInvalidIdentifierDeletesNothing() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        try library.delete("../..")
        try library.delete("unknown")
        #expect(FileManager.default.fileExists(atPath: directory.appendingPathComponent("catalogue.sqlite").path))
    }

    @Test func openErrorNamesTheDirectory() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("file-\(UUID())")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: StorageError.self) { try AssetLibrary(directory: file) }
        #expect(error?.code == .cannotOpen && error?.message.contains(file.path) == true)
    }

    @Test func emptyCatalogCannotBeOpenedForReading() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data().write(to: directory.appendingPathComponent("catalogue.sqlite"))
        let error = #expect(throws: StorageError.self) { try AssetLibrary(reading: directory) }
        #expect(error?.code == .cannotOpen)
        #expect(try AssetLibrary(directory: directory).assets().isEmpty)
        #expect(try AssetLibrary(reading: directory).assets().isEmpty)
    }

    @Test func packageCanBeLockedByOneWriterOnly() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var lock: PackageLock? = try PackageLock(directory)
        #expect(throws: StorageError.self) { try PackageLock(directory) }
        withExtendedLifetime(lock) {}
        lock = nil
        #expect(throws: Never.self) { try PackageLock(directory) }
    }

    @Test func libraryIsExcludedFromBackups() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        _ = try AssetLibrary(directory: directory)
        #if os(Linux)
        let tag = try String(contentsOf: directory.appendingPathComponent("CACHEDIR.TAG"), encoding: .utf8)
        #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
        #endif
    }
}
