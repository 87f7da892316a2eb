import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
package import ResourceAddressing
import Synchronization

extension AssetLibrary {
    /// A playlist of an asset as it is at the origin.
    struct OriginPlaylist {
        let bytes: [UInt8]
        /// The URL after all redirects.
        let address: ResourceAddress
    }

    /// Returns the stored playlist of an asset with the given URL at the origin; `nil` if it is not stored.
    func playlist(at address: ResourceAddress, of id: String) throws -> OriginPlaylist? {
        try catalog.read { database in
            let record = try Self.record(id, database)
            let final = record.sourceAddress.map { ResourceAddress($0) }
            if let bytes = record.sourcePlaylist, let final, [record.source, final.text].contains(address.text) {
                return OriginPlaylist(bytes: Array(bytes), address: final)
            }
            let rendition = try RenditionRecord.filter(Column("assetID") == id)
                .filter(Column("address") == address.text).fetchOne(database)
            // A player needs the entire playlist, even if only a part of it is stored.
            guard rendition?.isPart != true else { return nil }
            return rendition.map { OriginPlaylist(bytes: $0.playlistBytes, address: ResourceAddress($0.address)) }
        }
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

    /// Returns the path of the stored file of an asset that is all of a resource at the origin; `nil` if it is not stored.
    package func storedFile(at address: ResourceAddress, of id: String) -> String? {
        guard let stored = try? resource(at: address, nil, of: id), stored.bytes != nil else { return nil }
        return file(stored.path, of: id)?.path
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
