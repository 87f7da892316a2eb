import Foundation
import GRDB
import HLSPlaylist
import ResourceAddressing

extension AssetLibrary {
    /// Returns the asset whose package has the given path.
    ///
    /// An application that saves ``StoredAsset/path`` finds the asset again after the library was moved.
    ///
    /// - Parameter path: The path of a package, relative to ``directory`` or absolute.
    /// - Returns: The asset.
    /// - Throws: ``StorageError/Code/moved`` if the package is not in the library anymore,
    ///   ``StorageError/Code/notFound`` if the library has no such asset.
    public func asset(at path: String) throws -> StoredAsset {
        let id = try identifier(at: path)
        let asset = try asset(id)
        guard FileInspection.isFolder(packagePath(id)) else { throw movedPackage(id) }
        return asset
    }

    /// Deletes the asset whose package has the given path, and all its files; deleting it again has no effect.
    ///
    /// - Parameter path: The path of a package, relative to ``directory`` or absolute.
    /// - Throws: ``StorageError/Code/busy`` while the asset is being downloaded, ``StorageError/Code/moved`` or
    ///   ``StorageError/Code/notFound`` if the path is not that of a package in the library.
    public func delete(at path: String) throws { try delete(identifier(at: path)) }

    /// Returns the identifier of the asset that a reference names.
    ///
    /// - Parameter reference: The identifier of the asset, the URL or path of its source playlist, or the path of its
    ///   package, relative to ``directory`` or absolute.
    /// - Returns: The identifier; for the path of a package in the library, whether or not it still exists.
    /// - Throws: ``StorageError/Code/moved`` if the path is that of a package which was moved out of the library,
    ///   ``StorageError/Code/notFound`` if the library has no such asset.
    public func identifier(of reference: String) throws -> String {
        if Self.isIdentifier(reference), try contains(reference) { return reference }
        let address = ResourceAddress(reference)
        let sources = [address, ResourceAddress(filePath: URL(fileURLWithPath: reference).standardizedFileURL.path)]
        for source in sources {
            if let id = try identifier(source: source) { return id }
        }
        if address.isHTTP { throw StorageError(.notFound, "the library has no asset with the source \(address)") }
        guard reference.contains("/") else { throw Self.notFound(reference) }
        return try identifier(at: reference)
    }

    /// Returns the identifier of the package with the given path.
    private func identifier(at path: String) throws -> String {
        let path = ResourceAddress(path).filePath ?? path
        let url = URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: directory.path, isDirectory: true))
            .standardizedFileURL
        let id = url.lastPathComponent
        guard Self.isIdentifier(id) else { throw Self.notFound(path) }
        func resolved(_ url: URL) -> String { url.standardizedFileURL.resolvingSymlinksInPath().path }
        let packages = resolved(directory.appendingPathComponent("packages"))
        if resolved(url.deletingLastPathComponent()) == packages { return id }
        if try contains(id), !FileInspection.isFolder(packagePath(id)) { throw movedPackage(id) }
        throw StorageError(.notFound, "\(path) is not a package of the library \(directory.path)")
    }

    /// Returns a Boolean value that indicates whether the library has an asset, except one that is being deleted.
    private func contains(_ id: String) throws -> Bool {
        try catalog.read { database in
            let record = AssetRecord.filter(key: id).filter(Column("state") != AssetRecord.State.deleting.rawValue)
            return try record.fetchCount(database) > 0
        }
    }

    private func identifier(source: ResourceAddress) throws -> String? {
        try catalog.read { database in
            try String.fetchOne(
                database,
                sql: "SELECT id FROM asset WHERE source = ? AND state != ?",
                arguments: [source.text, AssetRecord.State.deleting.rawValue]
            )
        }
    }

    static func notFound(_ reference: String) -> StorageError {
        StorageError(.notFound, "the library has no asset \(reference)")
    }

    /// Returns the error for an asset in the catalog whose package is not in the library.
    func movedPackage(_ id: String) -> StorageError {
        StorageError(
            .moved,
            "the package of the asset \(id) was moved or deleted: move it back to \(packagePath(id)), or "
                + "delete the asset"
        )
    }
}
