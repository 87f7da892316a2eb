import Foundation
import GRDB
import HLSPlaylist
package import MediaTiming
package import ResourceAddressing
import Synchronization

extension AssetLibrary {
    /// A playlist of an asset as it is at the origin.
    struct OriginPlaylist {
        let bytes: [UInt8]
        /// The URL after all redirects.
        let address: ResourceAddress
    }

    /// Returns the asset whose files a player of a source can read instead of requesting them from the origin.
    ///
    /// - Parameter source: The URL of the source.
    /// - Returns: The asset, and the variants for which all segments of the source are stored; `nil` if there is no asset, its
    ///   playlists are not loaded, its package was moved, or its playlists are not those of the origin, because it was
    ///   edited or recorded.
    /// - Throws: An error if the catalog cannot be read.
    package func sharableAsset(
        source: ResourceAddress
    ) throws -> (asset: StoredAsset, wholeVariants: [StoredRendition])? {
        let found = try catalog.read { database -> (asset: StoredAsset, wholeVariants: [StoredRendition])? in
            let record = try AssetRecord.filter(Column("source") == source.text)
                .filter(Column("state") != AssetRecord.State.deleting.rawValue).fetchOne(database)
            guard let record, !Self.isEdited(record.selection), try record.hasSourcePlaylist(database) else {
                return nil
            }
            let renditions = try RenditionRecord.filter(Column("assetID") == record.id).fetchAll(database)
            guard try !renditions.contains(where: { try $0.isRecording(database) }) else { return nil }
            let asset = try Self.asset(record, database)
            let parts = Set(renditions.filter { $0.isPart == true }.map(\.folder))
            let variants = asset.renditions.filter {
                $0.role == .variant && $0.isComplete && !parts.contains($0.folder)
            }
            return (asset, variants)
        }
        return found.flatMap { hasPackage($0.asset.id) ? $0 : nil }
    }

    /// Returns the stored playlist of an asset with the given URL at the origin; `nil` if it is not stored.
    func playlist(at address: ResourceAddress, of id: String) throws -> OriginPlaylist? {
        try catalog.read { database in
            let record = try Self.record(id, database)
            let final = record.sourceAddress.map { ResourceAddress($0) }
            if let final, [record.source, final.text].contains(address.text),
                let bytes = try record.sourceBytes(database)
            {
                return OriginPlaylist(bytes: bytes, address: final)
            }
            let renditions = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
            // The URL in the source can be redirected, or several playlists are made of one resource.
            let entries = try Self.entries(at: address, of: record, database)
            let rendition =
                renditions.first { rendition in
                    entries[rendition.role.list].map { !$0.isDisjoint(with: rendition.positions) } ?? false
                } ?? renditions.first { $0.address == address.text }
            // A player needs the entire playlist, even if only a part of it is stored.
            guard let rendition, rendition.isPart != true else { return nil }
            return OriginPlaylist(
                bytes: try rendition.playlistBytes(database),
                address: ResourceAddress(rendition.address)
            )
        }
    }

    /// Returns the positions of the entries of the source of an asset that have the given URL.
    private static func entries(
        at address: ResourceAddress,
        of record: AssetRecord,
        _ database: Database
    ) throws -> [StoredRendition.EntryList: Set<Int>] {
        guard let bytes = try record.sourceBytes(database),
            let source = try? MultivariantPlaylist(
                parsing: bytes,
                context: PlaylistContext(stored: ResourceAddress(record.sourceAddress ?? record.source))
            )
        else { return [:] }
        func positions(_ addresses: [ResourceAddress?]) -> Set<Int> {
            Set(addresses.indices.filter { addresses[$0]?.text == address.text })
        }
        return [
            .variants: positions(source.variants.map(\.address)),
            .renditions: positions(source.renditions.map(\.address)),
            .iFrameVariants: positions(source.iFrameVariants.map(\.address)),
        ]
    }

    /// Returns the file of an asset with the given URL and byte range at the origin; `nil` if the download of the asset
    /// has no such file.
    func resource(at address: ResourceAddress, _ range: ByteRange?, of id: String) throws -> StoredResource? {
        try catalog.read { database in
            let row = try ResourceRecord.fetchOne(
                database,
                sql: """
                    SELECT * FROM resource
                    WHERE assetID = ? AND address = ? AND rangeStart IS ? AND rangeLength IS ?
                    """,
                arguments: [id, address.text, range?.start, range?.length]
            )
            return try row.flatMap { StoredResource($0, try Self.folders(id, database)) }
        }
    }

    /// Returns the file of an asset that is a media file, such as an MP4 file; `nil` if the asset is a stream.
    package func mediaFile(of id: String) throws -> StoredResource? {
        try catalog.read { database in
            let row = try ResourceRecord.fetchOne(
                database,
                sql: """
                    SELECT resource.* FROM rendition JOIN resource ON resource.renditionID = rendition.id
                    WHERE rendition.assetID = ? AND rendition.folder = ?
                    """,
                arguments: [id, StoredAsset.mediaFileFolder]
            )
            return try row.flatMap { StoredResource($0, try Self.folders(id, database)) }
        }
    }

    /// Returns the path of the stored file of an asset that is a resource at the origin, or a byte range of it; `nil` if it is
    /// not stored.
    package func storedFile(at address: ResourceAddress, _ range: ByteRange? = nil, of id: String) -> String? {
        guard let stored = try? resource(at: address, range, of: id), stored.bytes != nil else { return nil }
        return file(stored.path, of: id)?.path
    }

    /// Returns the bytes of a key with the given URL and of the given kind; `nil` if it is not stored.
    package func storedKey(at address: ResourceAddress, _ kind: StoredResource.Kind, of id: String) -> [UInt8]? {
        let path = try? catalog.read { database in
            try String.fetchOne(
                database,
                sql: """
                    SELECT path FROM resource WHERE assetID = ? AND address = ? AND kind = ? AND bytes IS NOT NULL LIMIT 1
                    """,
                arguments: [id, address.text, kind.rawValue]
            )
        }
        guard let path, let size = kind.keySize, let file = file(path, of: id),
            let bytes = FileInspection.lastBytes(Int(clamping: size), of: file.path), bytes.count == size
        else { return nil }
        return bytes
    }

    /// Returns the path of a stored file of another media playlist of the same asset with the same URL; `nil` if there is none.
    package func storedCopy(of resource: StoredResource) -> String? {
        let path = try? catalog.read { database in
            try String.fetchOne(
                database,
                sql: """
                    SELECT path FROM resource WHERE assetID = ? AND address = ? AND rangeStart IS ? AND rangeLength IS ?
                    AND kind = ? AND path <> ? AND bytes IS NOT NULL LIMIT 1
                    """,
                arguments: [
                    resource.assetID, resource.address.text, resource.byteRange?.start, resource.byteRange?.length,
                    resource.kind.rawValue, resource.path,
                ]
            )
        }
        return path.flatMap { file($0, of: resource.assetID)?.path }
    }

    /// Locks an asset for the downloads of this process.
    ///
    /// - Throws: ``StorageError/Code/busy`` if another process holds the lock, ``StorageError/Code/notFound`` if the asset
    ///   was deleted.
    package func sharedLock(_ id: String) throws -> PackageLock {
        try locks.withLock { locks in
            if let lock = locks[id]?.lock { return lock }
            let lock = try lock(id)
            locks[id] = WeakLock(lock: lock)
            return lock
        }
    }
}

/// A reference to a lock that does not hold it.
struct WeakLock: Sendable {
    weak var lock: PackageLock?
}
