import AssetStorage
import Foundation
import MediaTiming
import Testing

/// Tests how an asset is found by its path or its source.
@Suite struct AssetReferenceTests {
    private let temporary: TemporaryLibrary
    private let id: String

    init() throws {
        temporary = try TemporaryLibrary()
        id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        try temporary.complete(id)
    }

    private var library: AssetLibrary { temporary.library }

    @Test func savedRelativePathFindsTheAssetInAMovedLibrary() throws {
        let path = try library.asset(id).path
        #expect(try library.asset(at: path).id == id)
        try library.close()
        let moved = temporary.directory.deletingLastPathComponent().appendingPathComponent("library-\(UUID())")
        try FileManager.default.moveItem(at: temporary.directory, to: moved)
        defer { try? FileManager.default.removeItem(at: moved) }
        let opened = try AssetLibrary(directory: moved)
        #expect(try opened.asset(at: path).id == id)
        try opened.delete(at: path)
        #expect(!FileManager.default.fileExists(atPath: opened.packageDirectory(id).path))
    }

    @Test func assetIsNamedByIdentifierSourceOrPath() throws {
        let package = library.packageDirectory(id).path
        let references = [
            id, TemporaryLibrary.origin + "top.m3u8", "packages/\(id)", "packages/\(id)/", "./packages/\(id)", package,
            package + "/", "file://" + package, package + "/../\(id)",
        ]
        for reference in references { #expect(try library.identifier(of: reference) == id, "\(reference)") }
        let link = temporary.directory.deletingLastPathComponent().appendingPathComponent("link-\(UUID())")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: temporary.directory)
        defer { try? FileManager.default.removeItem(at: link) }
        #expect(try library.identifier(of: link.path + "/packages/\(id)") == id)
        for unknown in ["nope", "https://origin.example/other.m3u8", "/etc/passwd", "/tmp/\(id)", "../\(id)", "", "/"] {
            #expect(storageError { _ = try library.identifier(of: unknown) }?.code == "not-found", "\(unknown)")
        }
    }

    @Test func deletionByPathIsHarmlessTwice() throws {
        let path = try library.asset(id).path
        do {
            let lock = try library.lock(id)
            defer { withExtendedLifetime(lock) {} }
            #expect(storageError { try library.delete(at: path) }?.code == "asset-busy")
        }
        try library.delete(at: path)
        try library.delete(at: path)
        #expect(try library.assets().isEmpty && temporary.packages.isEmpty)
        #expect(storageError { _ = try library.asset(at: path) }?.code == "not-found")
    }

    @Test func movedPackageIsReported() throws {
        let elsewhere = temporary.directory.appendingPathComponent("elsewhere/\(id)")
        try FileManager.default.createDirectory(
            at: elsewhere.deletingLastPathComponent(),
            withIntermediateDirectories: false
        )
        try FileManager.default.moveItem(at: library.packageDirectory(id), to: elsewhere)
        for operation: () throws -> Void in [
            { _ = try library.asset(at: "packages/\(id)") }, { _ = try library.asset(at: elsewhere.path) },
            { try library.delete(at: elsewhere.path) }, { _ = try library.verify(id) },
            { _ = try library.shrink(id, to: .maximumHeight(1)) },
        ] {
            let error = storageError(operation)
            #expect(error?.code == "package-moved")
            #expect(error?.message.contains("move it back to \(library.packageDirectory(id).path)") == true)
        }
        try FileManager.default.moveItem(at: elsewhere, to: library.packageDirectory(id))
        #expect(try library.asset(at: "packages/\(id)").id == id)
        try FileManager.default.moveItem(at: library.packageDirectory(id), to: elsewhere)
        try library.delete(id)
        #expect(try library.assets().isEmpty)
    }
}
