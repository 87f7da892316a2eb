import Foundation
import GRDB

/// The entry of the source playlist that a stored rendition belongs to.
package struct PlannedEntry: Sendable {
    /// The role of the rendition in the presentation.
    package let role: StoredRendition.Role
    /// The zero-based index among the variants, or among the renditions, of the source.
    package let position: Int
    /// The indices of further variants or renditions of the source that have the same playlist.
    package let aliases: [Int]
}

extension AssetLibrary {
    /// Returns the paths, relative to the package, of the files that were stored and are now missing or damaged.
    package func lostFiles(_ id: String) throws -> [String] {
        try catalog.read { database in
            _ = try Self.record(id, database)
            return try String.fetchAll(
                database,
                sql: "SELECT path FROM resource WHERE assetID = ? AND bytes IS NULL AND isLost ORDER BY id",
                arguments: [id]
            )
        }
    }

    /// Marks files that are not stored as lost again, after the asset was planned again.
    ///
    /// - Parameters:
    ///   - paths: The paths of the files relative to the package; unknown paths are ignored.
    ///   - id: The identifier of the asset.
    /// - Throws: ``StorageError``.
    package func markAsLost(_ paths: [String], of id: String) throws {
        try write { database in
            _ = try Self.record(id, database)
            let statement = try database.makeStatement(
                sql: "UPDATE resource SET isLost = TRUE WHERE assetID = ? AND path = ? AND bytes IS NULL"
            )
            for path in paths { try statement.execute(arguments: [id, path]) }
        }
    }

    /// Returns the entries of the source playlist that an asset has planned; none if the source is a media playlist.
    package func plannedEntries(_ id: String) throws -> [PlannedEntry] {
        try catalog.read { database in
            _ = try Self.record(id, database)
            return try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
                .filter { $0.position >= 0 }
                .map { record in
                    PlannedEntry(
                        role: record.role,
                        position: record.position,
                        aliases: Array(record.positions.dropFirst())
                    )
                }
        }
    }
}
