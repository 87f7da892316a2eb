import AssetStorage
import Foundation
import ResourceAddressing
import Testing

/// Libraries hold signed addresses and keys: other users of the machine read nothing of them.
@Suite struct LibraryPrivacyTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The paths below the library to which others have access.
    private func openPaths() throws -> [String] {
        try ([""] + FileManager.default.subpathsOfDirectory(atPath: directory.path)).filter { path in
            try mode(directory.path + "/" + path).map { $0 & 0o077 != 0 } ?? true
        }
    }

    private func fill(_ library: AssetLibrary) throws -> String {
        let id = try library.enter(source: ResourceAddress("https://h/a.m3u8?token=secret"), title: "A", selection: "")
        let file = PackageFile(library.packageDirectory(id).path + "/v0/segment.ts")
        try [UInt8]([1, 2, 3]).withUnsafeBytes { try file.write($0) }
        try file.finish()
        return id
    }

    @Test func everythingInALibraryIsForItsOwnerOnly() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let id = try fill(library)
        let partial = PackageFile(library.packageDirectory(id).path + "/v0/other.ts")
        try [UInt8]([1]).withUnsafeBytes { try partial.write($0) }
        let lock = try PackageLock(library.packageDirectory(id))
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        for name in [
            "catalogue.sqlite", "catalogue.sqlite-wal", "packages/\(id)/v0/segment.ts",
            "packages/\(id)/v0/other.ts.part",
        ] {
            #expect(names.contains(name))
        }
        #expect(try openPaths() == [])
        withExtendedLifetime(lock) {}
    }

    @Test func aLibraryWithWiderModesIsNarrowedWhenItIsOpened() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let id = try fill(try AssetLibrary(directory: directory))
        for path in try [""] + FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            let full = directory.path + "/" + path
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
            let wide = isFolder.boolValue ? 0o755 : 0o644
            try FileManager.default.setAttributes([.posixPermissions: wide], ofItemAtPath: full)
        }
        #expect(try !openPaths().isEmpty)
        let library = try AssetLibrary(directory: directory)
        #expect(try openPaths() == [])
        #expect(try library.asset(id).title == "A")
        // One package alone, as another program may have written it.
        let package = library.packageDirectory(id).path
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: package)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: package + "/v0/segment.ts")
        _ = try AssetLibrary(directory: directory)
        #expect(try openPaths() == [])
    }

    @Test(arguments: [true, false]) func aFolderOfSomethingElseKeepsItsMode(isEmpty: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        if !isEmpty { try Data().write(to: directory.appendingPathComponent("something")) }
        _ = try AssetLibrary(directory: directory)
        #expect(try mode(directory.path) == (isEmpty ? 0o700 : 0o755))
        for name in ["packages", "catalogue.sqlite"] { #expect(try openPaths().contains(name) == false) }
    }
}
