import Foundation
import GRDB

/// Files with the same content are stored once: each further one is a hard link to the first.
///
/// Different assets often name the same segments, for example with other signatures in their URLs or with edits, and a
/// stream can repeat an advertisement. A package with hard links is a complete package, and each name can be deleted alone.
extension AssetLibrary {
    /// The size of a file in bytes up to which it is not worth a link, because it occupies one block in common file systems.
    private static let minimumSharedSize: Int64 = 4096

    /// Synchronizes received files to the disk and gives them their names; a file whose content is already stored becomes
    /// a hard link to the stored file.
    ///
    /// - Parameter received: The files, which are entered in the catalog with ``commit(_:)`` afterward.
    /// - Returns: The result of each file, a ``StorageError`` if it is not in place.
    package func finish(_ received: [PackageFile]) -> [Result<Void, any Error>] {
        // Without the catalog the files are stored on their own, and the commit fails with the error.
        let stored = (try? catalog.read { database in try received.map { try storedFile(like: $0, database) } }) ?? []
        var sharing: Set<String> = []
        let results = received.enumerated().map { index, file in
            Result {
                if stored.indices.contains(index), let first = stored[index],
                    file.finish(as: path(first.id, first.path))
                {
                    sharing.insert(first.id)
                    return
                }
                try file.finish()
            }
        }
        removeSummaries(of: sharing)
        return results
    }

    /// Removes the summaries of assets that share files with others from now on; they are computed again for a listing.
    private func removeSummaries(of ids: Set<String>) {
        guard !ids.isEmpty else { return }
        // If this fails, only the total of a listing is too large.
        try? write { database in try AssetSummaryRecord.delete(ids, database) }
    }

    /// Returns the first stored file with the size and the checksum of a received file.
    private func storedFile(like file: PackageFile, _ database: Database) throws -> (id: String, path: String)? {
        guard file.count > Self.minimumSharedSize else { return nil }
        let statement = try database.cachedStatement(
            sql: """
                SELECT assetID, path FROM resource
                WHERE id = (SELECT MIN(id) FROM resource WHERE checksum = ? AND bytes = ?)
                """
        )
        return try Row.fetchOne(statement, arguments: [file.checksum, file.count]).map { ($0[0], $0[1]) }
    }

    private func path(_ id: String, _ path: String) -> String { "\(packagePath(id))/\(path)" }

    /// Replaces the stored files of an asset with hard links to files with the same content that were stored earlier.
    ///
    /// This finds files that were received at the same time, also by other processes.
    func shareStoredFiles(of id: String) throws {
        // A catalog of 100,000 files is read in parts, so that its memory is limited.
        var last: Int64 = 0
        while true {
            let page = try catalog.read { database in
                try Row.fetchAll(
                    database,
                    sql: """
                        SELECT own.id, own.path, first.assetID, first.path FROM resource AS own
                        JOIN resource AS first ON first.id = (
                            SELECT MIN(id) FROM resource WHERE checksum = own.checksum AND bytes = own.bytes
                        )
                        WHERE own.assetID = ? AND own.id > ? AND own.bytes > ? AND first.id < own.id
                        ORDER BY own.id LIMIT ?
                        """,
                    arguments: [id, last, Self.minimumSharedSize, Self.pageSize]
                )
            }
            guard let end: Int64 = page.last?[0] else { return }
            last = end
            var folders: Set<String> = []
            var sharing: Set<String> = []
            for row in page {
                let (own, first) = (path(id, row[1]), path(row[2], row[3]))
                // A damaged file has another content than the catalog says.
                guard FileInspection.identity(own) != FileInspection.identity(first),
                    PackageFile.replace(own, byLinkTo: first, ifEqualTo: own, files)
                else { continue }
                folders.insert((own as NSString).deletingLastPathComponent)
                sharing.insert(row[2])
            }
            removeSummaries(of: sharing.subtracting([id]))
            for folder in folders.sorted() {
                do {
                    try files.synchronizeFolder(folder)
                } catch {
                    throw StorageError(error, writing: folder)
                }
            }
        }
    }
}
