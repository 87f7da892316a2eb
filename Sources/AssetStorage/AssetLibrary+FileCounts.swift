import GRDB

/// The numbers of files of a media playlist that are stored and that are not.
package struct StoredFileCounts: Sendable, Hashable {
    /// The directory of the media playlist inside the package.
    package let folder: String
    /// The number of all files.
    package let total: Int
    /// The number of files that are not stored, because the download is not complete; lost files are not among them.
    package let missing: Int
    /// The number of files of which only the first bytes are stored.
    package let unfinished: Int
}

extension AssetLibrary {
    /// Returns the numbers of files of the media playlists of an asset.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The numbers, in the order of the media playlists; none if no media playlist is loaded.
    /// - Throws: ``StorageError``.
    package func fileCounts(of id: String) throws -> [StoredFileCounts] {
        let unfinished = unfinishedFiles(of: try asset(id)).keys.map { path in String(path.prefix { $0 != "/" }) }
        return try catalog.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT rendition.folder AS folder, COUNT(*) AS total,
                        SUM(resource.bytes IS NULL AND COALESCE(resource.isLost, 0) = 0) AS missing
                    FROM rendition JOIN resource ON resource.renditionID = rendition.id
                    WHERE rendition.assetID = ? GROUP BY rendition.id ORDER BY rendition.id
                    """,
                arguments: [id]
            )
            return rows.map { row in
                let folder: String = row["folder"]
                let missing: Int = row["missing"]
                return StoredFileCounts(
                    folder: folder,
                    total: row["total"],
                    missing: missing,
                    unfinished: min(missing, unfinished.count { $0 == folder })
                )
            }
        }
    }
}
