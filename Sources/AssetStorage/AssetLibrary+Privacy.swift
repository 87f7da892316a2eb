import Foundation
import MediaTransport

extension AssetLibrary {
    /// Creates the directories and the catalog of a library with owner-only modes, and restricts the modes of an
    /// existing library.
    ///
    /// The catalog, its write-ahead log, and the packages contain signed URLs and keys. A directory that also contains
    /// other files keeps its mode, but everything in it that belongs to the library is private. SQLite creates the
    /// write-ahead log with the mode of the catalog.
    ///
    /// - Throws: `POSIXError`.
    static func makePrivate(_ directory: URL) throws {
        let packages = directory.appendingPathComponent("packages").path
        let catalog = directory.appendingPathComponent(Catalog.fileName).path
        let names = Set((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
        try PrivateFiles.createFolder(packages)
        let ownNames = ["CACHEDIR.TAG", SpaceReserve.fileName, PlaybackActivity.fileName]
        if names.contains(Catalog.fileName) || names.isSubset(of: ownNames + ["packages"]) {
            PrivateFiles.restrictFolder(directory.path)
        }
        // The catalog is created before SQLite does it, because SQLite would apply the default mode for new files.
        try PrivateFiles.createIfMissing(catalog)
        for suffix in ["", "-wal", "-shm", "-journal"] { PrivateFiles.restrictFile(catalog + suffix) }
        for name in ownNames {
            PrivateFiles.restrictFile(directory.appendingPathComponent(name).path)
        }
        if PrivateFiles.isOpenToOthers(packages) { return PrivateFiles.restrictTree(packages) }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: packages)) ?? [] {
            let package = packages + "/" + name
            if PrivateFiles.isOpenToOthers(package) { PrivateFiles.restrictTree(package) }
        }
    }
}
