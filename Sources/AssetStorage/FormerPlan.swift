import GRDB

/// The media playlists and the selection of an asset before a download adds files to its catalog entry.
package struct FormerPlan: Sendable {
    /// The identifier of the asset.
    let id: String
    /// The selection as text.
    let selection: String
    /// The directories of the media playlists, relative to the package; empty if the asset was never planned.
    let folders: Set<String>
}

extension AssetLibrary {
    /// Returns the media playlists and the selection that an asset has now.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The plan, with which ``removeUnstoredRenditions(addedTo:)`` undoes an addition to it.
    /// - Throws: ``StorageError/Code/notFound``.
    package func formerPlan(of id: String) throws -> FormerPlan {
        try catalog.read { database in
            let record = try Self.record(id, database)
            let folders = try Self.folders(id, database).values
            return FormerPlan(id: id, selection: record.selection, folders: Set(folders))
        }
    }

    /// Removes the media playlists that a download has added to an asset, and of which nothing is stored, from the catalog.
    ///
    /// If no added media playlist remains, the asset has its former selection again, and if no file of the others is missing, it is
    /// complete. An asset that was never planned before keeps everything, and so does one with another download that waits or is
    /// suspended, because that may need the same media playlists. The caller must hold the lock of the asset.
    ///
    /// - Parameter former: The plan of the asset before the download.
    /// - Throws: ``StorageError``; ``StorageError/Code/busy`` while the asset is being played; it is not changed then.
    package func removeUnstoredRenditions(addedTo former: FormerPlan) throws {
        let id = former.id
        let asset = try self.asset(id)
        let current = Set(asset.renditions.map(\.folder))
        let added = current.subtracting(former.folders)
        guard !added.isEmpty, added != current else { return }
        let pending = try downloads().filter { record in
            record.assetID == id && (record.state == .waiting || record.state == .suspended)
        }
        // One of them is the download itself.
        guard pending.count <= 1 else { return }
        var used = try foldersWithStoredFiles(id)
        for (path, count) in unfinishedFiles(of: asset, in: added) where count > 0 {
            if let folder = path.split(separator: "/").first { used.insert(String(folder)) }
        }
        let remaining = added.intersection(used)
        guard remaining != added else { return }
        try removeRenditions(of: id, besides: current.subtracting(added).union(remaining))
        // Players of the source read whether its playlists are edited from the selection.
        guard remaining.isEmpty, Self.isEdited(asset.selection) == Self.isEdited(former.selection) else { return }
        try runWhenFull { try setSelection(former.selection, title: nil, of: id) }
    }

    /// Returns the directories of the media playlists that have a file which is stored, or was stored before it was lost.
    private func foldersWithStoredFiles(_ id: String) throws -> Set<String> {
        try catalog.read { database in
            try String.fetchSet(
                database,
                sql: """
                    SELECT folder FROM rendition WHERE assetID = ? AND EXISTS
                    (SELECT 1 FROM resource WHERE renditionID = rendition.id AND (bytes IS NOT NULL OR isLost))
                    """,
                arguments: [id]
            )
        }
    }
}
