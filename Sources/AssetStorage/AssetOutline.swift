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
