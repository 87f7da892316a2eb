import GRDB

/// The properties of a source without variants that only its media declares.
package struct MediaDescription: Sendable, Hashable {
    /// The width of the video in pixels; `nil` if the media does not declare it.
    package let width: Int?
    /// The height of the video in pixels; `nil` if the media does not declare it.
    package let height: Int?
    /// The languages of the audio tracks, with `und` for a track that declares none.
    package let audioLanguages: [String]
    /// The languages of the subtitle tracks, with `und` for a track that declares none.
    package let subtitleLanguages: [String]

    /// Creates a description.
    package init(width: Int?, height: Int?, audioLanguages: [String], subtitleLanguages: [String]) {
        self.width = width
        self.height = height
        self.audioLanguages = audioLanguages
        self.subtitleLanguages = subtitleLanguages
    }
}

/// The stored media of a source without variants that has not been described yet.
package struct UndescribedMedia: Sendable {
    /// The identifier of the media playlist in the catalog.
    let renditionID: Int64
    /// A stored file that declares the tracks.
    package let resource: StoredResource
}

extension AssetLibrary {
    /// Returns a stored file whose tracks describe the media of an asset.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The first initialization section, otherwise the first segment. The result is `nil` if the asset has a
    ///   multivariant playlist, is a media file or is already described, or if no such file is stored without
    ///   encryption.
    /// - Throws: ``StorageError``.
    package func undescribedMedia(of id: String) throws -> UndescribedMedia? {
        try catalog.read { database in
            let rendition = try RenditionRecord.filter(Column("assetID") == id)
                .filter(Column("position") == -1).filter(Column("folder") != StoredAsset.mediaFileFolder)
                .fetchOne(database)
            guard let rendition, rendition.audioLanguages == nil, let renditionID = rendition.id else { return nil }
            let resources = ResourceRecord.filter(Column("renditionID") == renditionID)
            let stored = resources.filter(Column("bytes") != nil).order(Column("id"))
            let folders = [renditionID: rendition.folder]
            let initializations = resources.filter(Column("kind") == StoredResource.Kind.initialization.rawValue)
            if try !initializations.isEmpty(database) {
                let row = try stored.filter(Column("kind") == StoredResource.Kind.initialization.rawValue)
                    .fetchOne(database)
                return row.flatMap { StoredResource($0, folders) }
                    .map { UndescribedMedia(renditionID: renditionID, resource: $0) }
            }
            let keys = [StoredResource.Kind.key, .longKey].map(\.rawValue)
            guard try resources.filter(keys.contains(Column("kind"))).isEmpty(database) else { return nil }
            let row = try stored.filter(Column("kind") == StoredResource.Kind.segment.rawValue).fetchOne(database)
            return row.flatMap { StoredResource($0, folders) }
                .map { UndescribedMedia(renditionID: renditionID, resource: $0) }
        }
    }

    /// Stores the properties of the media of an asset.
    ///
    /// - Parameters:
    ///   - description: The properties.
    ///   - media: The media that has them; nothing is stored if it was removed in the meantime.
    /// - Throws: ``StorageError``.
    package func describe(_ description: MediaDescription, of media: UndescribedMedia) throws {
        try write { database in
            try database.execute(
                sql: """
                    UPDATE rendition SET width = ?, height = ?, audioLanguages = ?, subtitleLanguages = ?
                    WHERE id = ? AND assetID = ?
                    """,
                arguments: [
                    description.width, description.height, description.audioLanguages.joined(separator: ","),
                    description.subtitleLanguages.joined(separator: ","), media.renditionID, media.resource.assetID,
                ]
            )
        }
    }
}
