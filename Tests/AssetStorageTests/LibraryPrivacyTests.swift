import AssetStorage
import Foundation
import HLSPlaylist
import ResourceAddressing
import Testing

/// Tests that other users of the machine cannot read a library, which contains signed addresses and keys.
@Suite struct LibraryPrivacyTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// Returns the paths in the library to which other users have access.
    private func openPaths() throws -> [String] {
        try ([""] + FileManager.default.subpathsOfDirectory(atPath: directory.path)).filter { path in
            try mode(directory.path + "/" + path).map { $0 & 0o077 != 0 } ?? true
        }
    }

    /// Adds an asset of two segments.
    ///
    /// - Returns: Its identifier, and its segments, which are not stored.
    private func plan(in library: AssetLibrary) throws -> (id: String, segments: [StoredResource]) {
        let address = ResourceAddress("https://h/a.m3u8?token=secret")
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: address))
        let id = try library.addAsset(source: address, title: "A", selection: "")
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        let rendition = PlannedRendition(
            role: .variant,
            position: -1,
            language: nil,
            variant: nil,
            playlist: playlist,
            address: address
        )
        try library.planDownload(of: id, source: .media(playlist), at: address, renditions: [rendition])
        return (id, try library.missingResources(id))
    }

    private func begin(_ segment: StoredResource, of id: String, in library: AssetLibrary) throws -> PackageFile {
        let file = library.makePackageFile(for: segment, of: id)
        try [UInt8]([1, 2, 3]).withUnsafeBytes { try file.write($0) }
        return file
    }

    /// Adds an asset of two segments and stores the first.
    ///
    /// - Returns: Its identifier.
    private func fill(_ library: AssetLibrary) throws -> String {
        let (id, segments) = try plan(in: library)
        let segment = try #require(segments.first)
        let file = try begin(segment, of: id, in: library)
        try file.finish()
        try library.commit([WrittenFile(segment, file)])
        return id
    }

    @Test func allFilesOfALibraryAreForItsOwnerOnly() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let id = try fill(library)
        let missing = try #require(try library.missingResources(id).first)
        let partial = try begin(missing, of: id, in: library)
        let lock = try PackageLock(library.packageDirectory(id))
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        for name in [
            "catalogue.sqlite", "catalogue.sqlite-wal", "packages/\(id)/multivariant.m3u8", "packages/\(id)/.lock",
            "packages/\(id)/media/media.m3u8", "packages/\(id)/media/000000.ts", "packages/\(id)/media/000001.ts.part",
        ] {
            #expect(names.contains(name))
        }
        #expect(try openPaths() == [])
        withExtendedLifetime((lock, partial)) {}
    }

    @Test func openingRestrictsTheModesOfALibrary() throws {
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
        // A single package that another program may have written.
        let package = library.packageDirectory(id).path
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: package)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: package + "/media/000000.ts")
        _ = try AssetLibrary(directory: directory)
        #expect(try openPaths() == [])
    }

    @Test(arguments: [true, false]) func directoryWithOtherFilesKeepsItsMode(isEmpty: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        if !isEmpty { try Data().write(to: directory.appendingPathComponent("something")) }
        _ = try AssetLibrary(directory: directory)
        #expect(try mode(directory.path) == (isEmpty ? 0o700 : 0o755))
        for name in ["packages", "catalogue.sqlite"] { #expect(try openPaths().contains(name) == false) }
    }
}
