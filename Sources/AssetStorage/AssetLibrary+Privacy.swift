import Foundation
import MediaTransport

extension AssetLibrary {
    /// Creates the folders and the catalog of a library with modes that keep other users out, and narrows the modes of a library
    /// that has wider ones.
    ///
    /// The catalog, its log, and the packages hold signed addresses and keys. A folder that also holds files of something else
    /// keeps its mode; everything of the library in it is private all the same. SQLite gives its log the mode of the catalog.
    ///
    /// - Throws: `POSIXError`.
    static func makePrivate(_ directory: URL) throws {
        let packages = directory.appendingPathComponent("packages").path
        let catalog = directory.appendingPathComponent(Catalog.fileName).path
        let names = Set((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
        try PrivateFiles.createFolder(packages)
        if names.contains(Catalog.fileName) || names.isSubset(of: ["packages", "CACHEDIR.TAG"]) {
            PrivateFiles.restrictFolder(directory.path)
        }
        // Before SQLite creates it with the mode that the process has for new files.
        try PrivateFiles.createIfMissing(catalog)
        for suffix in ["", "-wal", "-shm", "-journal"] { PrivateFiles.restrictFile(catalog + suffix) }
        PrivateFiles.restrictFile(directory.appendingPathComponent("CACHEDIR.TAG").path)
        if PrivateFiles.isOpenToOthers(packages) { return PrivateFiles.restrictTree(packages) }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: packages)) ?? [] {
            let package = packages + "/" + name
            if PrivateFiles.isOpenToOthers(package) { PrivateFiles.restrictTree(package) }
        }
    }
}
