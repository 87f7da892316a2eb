import Foundation
import GRDB
import MediaTiming

/// The catalog records of the artwork of assets, and the migration that adds them.
///
/// The images are in the catalog instead of the packages: an image is stored or replaced in one transaction, and its record
/// is deleted with that of the asset. The sizes of packages do not depend on them.
enum ArtworkRecord {
    static let tableName = "artwork"

    /// Adds the table of the images, with those of the downloads that have not ended.
    static func registerMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("artwork-of-assets") { database in
            try database.create(table: tableName) { table in
                table.primaryKey("assetID", .text).references("asset", onDelete: .cascade)
                // A column before the image can be read without the pages of the image.
                table.column("format", .text).notNull()
                table.column("image", .blob).notNull()
            }
            let ids = try String.fetchAll(
                database,
                sql: "SELECT id FROM download WHERE artwork IS NOT NULL ORDER BY rowid"
            )
            for id in ids {
                let row = try Row.fetchOne(
                    database,
                    sql: "SELECT assetID, artwork FROM download WHERE id = ?",
                    arguments: [id]
                )
                guard let row else { continue }
                let (assetID, image): (String, Data) = (row["assetID"], row["artwork"])
                // Earlier versions stored any bytes, also images whose headers declare no width and height.
                guard Int64(clamping: image.count) <= AssetArtwork.maximumSize.bytes,
                    let artwork = AssetArtwork(stored: image)
                else { continue }
                try save(artwork, of: assetID, database)
            }
        }
    }

    /// Returns a Boolean value that indicates whether the catalog has artwork; a catalog of an earlier version that is
    /// open for reading only does not.
    static func exist(_ database: Database) throws -> Bool { try database.tableExists(tableName) }

    /// Returns the artwork of an asset; `nil` if it has none.
    static func fetch(_ id: String, _ database: Database) throws -> AssetArtwork? {
        guard try exist(database),
            let image = try Data.fetchOne(
                database,
                sql: "SELECT image FROM \(tableName) WHERE assetID = ?",
                arguments: [id]
            )
        else { return nil }
        return AssetArtwork(stored: image)
    }

    /// Returns the format of the artwork of an asset; `nil` if it has none.
    static func fetchFormat(_ id: String, _ database: Database) throws -> AssetArtwork.Format? {
        guard try exist(database) else { return nil }
        let format = try String.fetchOne(
            database,
            sql: "SELECT format FROM \(tableName) WHERE assetID = ?",
            arguments: [id]
        )
        return format.flatMap { AssetArtwork.Format(rawValue: $0) }
    }

    /// Returns the formats of all artwork, by the identifiers of the assets.
    static func fetchFormats(_ database: Database) throws -> [String: AssetArtwork.Format] {
        guard try exist(database) else { return [:] }
        var formats: [String: AssetArtwork.Format] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT assetID, format FROM \(tableName)")
        while let row = try rows.next() {
            let (id, format): (String, String) = (row[0], row[1])
            formats[id] = AssetArtwork.Format(rawValue: format)
        }
        return formats
    }

    /// Stores the artwork of an asset, or removes it with `nil`.
    static func save(_ artwork: AssetArtwork?, of id: String, _ database: Database) throws {
        guard let artwork else {
            try database.execute(sql: "DELETE FROM \(tableName) WHERE assetID = ?", arguments: [id])
            return
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO \(tableName) (assetID, format, image) VALUES (?, ?, ?)",
            arguments: [id, artwork.format.rawValue, artwork.data]
        )
    }
}

extension AssetLibrary {
    /// Returns the image that represents an asset; `nil` if it has none.
    ///
    /// An asset has the artwork with which it was downloaded or added, that its media file contains, or that
    /// ``setArtwork(_:of:)`` stored.
    /// ``StoredAsset/artworkFormat`` tells whether there is one.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The image.
    /// - Throws: ``StorageError``; ``StorageError/Code/notFound`` if there is no such asset.
    public func artwork(of id: String) throws -> AssetArtwork? {
        try catalog.read { database in
            _ = try Self.record(id, database)
            return try ArtworkRecord.fetch(id, database)
        }
    }

    /// Stores the image that represents an asset, in place of the one that it has.
    ///
    /// The image is deleted with the asset. It can be stored while the asset is downloaded or played.
    ///
    /// - Parameters:
    ///   - artwork: The image; `nil` to remove the one that the asset has.
    ///   - id: The identifier of the asset.
    /// - Throws: ``StorageError``; ``StorageError/Code/notFound`` if there is no such asset.
    public func setArtwork(_ artwork: AssetArtwork?, of id: String) throws {
        try write { database in
            _ = try Self.record(id, database)
            try ArtworkRecord.save(artwork, of: id, database)
        }
    }

    /// Stores an image that represents an asset, unless the asset has one.
    ///
    /// - Parameters:
    ///   - artwork: The image.
    ///   - id: The identifier of the asset.
    /// - Throws: ``StorageError``; ``StorageError/Code/notFound`` if there is no such asset.
    package func addArtwork(_ artwork: AssetArtwork, of id: String) throws {
        try write { database in
            _ = try Self.record(id, database)
            guard try ArtworkRecord.fetchFormat(id, database) == nil else { return }
            try ArtworkRecord.save(artwork, of: id, database)
        }
    }

    /// Returns the formats of the artwork of all assets that have one, by the identifiers of the assets.
    ///
    /// - Throws: ``StorageError``.
    public func artworkFormats() throws -> [String: AssetArtwork.Format] {
        try catalog.read { try ArtworkRecord.fetchFormats($0) }
    }
}
