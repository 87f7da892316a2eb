import GRDB

/// Properties of an asset that can be read without reading the catalog entry of each file.
package struct AssetOutline: Sendable, Hashable {
    /// The state.
    package let state: StoredAsset.State
    /// A Boolean value that indicates whether the asset is a media file, and not a stream.
    package let isMediaFile: Bool
    /// A Boolean value that indicates whether the catalog lists at least one rendition of the asset.
    package let hasRenditions: Bool
}

extension AssetLibrary {
    /// Returns the identifiers of all assets by the URL of their source, which no two assets have in common.
    ///
    /// - Complexity: O(*n*) in the number of assets.
    /// - Throws: ``StorageError``.
    package func identifiersBySource() throws -> [String: String] {
        try catalog.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT source, id FROM asset WHERE state != ?",
                arguments: [AssetRecord.State.deleting.rawValue]
            )
            var identifiers: [String: String] = [:]
            while let row = try rows.next() {
                let (source, id): (String, String) = (row[0], row[1])
                identifiers[source] = id
            }
            return identifiers
        }
    }

    /// Returns the outline of an asset.
    ///
    /// - Complexity: O(*n*) in the number of its media playlists.
    /// - Throws: ``StorageError/Code/notFound``.
    package func outline(of id: String) throws -> AssetOutline {
        try catalog.read { database in
            let record = try Self.record(id, database)
            let folders = try Self.folders(id, database).values
            return AssetOutline(
                state: record.state == .complete ? .complete : .partial,
                isMediaFile: folders.contains(StoredAsset.mediaFileFolder),
                hasRenditions: !folders.isEmpty
            )
        }
    }
}
