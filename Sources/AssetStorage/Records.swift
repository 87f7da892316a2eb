import Foundation
import GRDB

/// The catalog record of an asset.
struct AssetRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "asset"

    var id: String
    var title: String
    /// The URL of the source playlist; unique in the catalog.
    var source: String
    /// The creation time in seconds since 1970-01-01T00:00:00Z.
    var createdAt: Double
    var state: State
    /// The selection as the caller wrote it; the library does not interpret it.
    var selection: String
    /// The URL of the source playlist after all redirects; `nil` until it is loaded.
    var sourceAddress: String?

    /// The columns without the source playlist, which can be large (``PlaylistColumn``).
    static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["sourcePlaylist"])] }

    enum State: String, Codable {
        case partial
        case complete
        /// The asset is being deleted; an interrupted deletion is finished when the library is next opened.
        case deleting
    }
}

/// The catalog record of a media playlist of an asset.
struct RenditionRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "rendition"

    var id: Int64?
    var assetID: String
    /// The directory of the rendition inside the package.
    var folder: String
    var role: StoredRendition.Role
    /// The zero-based index among the variants or renditions of the source; -1 if the source is a media playlist.
    var position: Int
    var language: String?
    var bandwidth: Int64?
    var width: Int?
    var height: Int?
    var codecs: String
    /// The URL of the media playlist after all redirects.
    var address: String
    /// The further positions in the source that have the same playlist, as decimal numbers separated by commas.
    var aliases: String?
    /// A Boolean value that indicates whether the playlist does not have all segments of the source; `nil` for false.
    var isPart: Bool?
    /// The languages of the audio tracks of a media file or of a source without variants, separated by commas; `nil` for other
    /// media playlists, and until the media has been read.
    var audioLanguages: String?
    /// The languages of the subtitle tracks, like ``audioLanguages``.
    var subtitleLanguages: String?

    /// The columns without the media playlist, which can be large (``PlaylistColumn``).
    static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["playlist"])] }

    /// The positions of all variants or renditions in the source that have this playlist.
    var positions: [Int] { Self.positions(position, aliases) }

    /// Returns the positions of a first one and its aliases.
    static func positions(_ first: Int, _ aliases: String?) -> [Int] {
        [first] + (aliases ?? "").split(separator: ",").compactMap { Int($0) }
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The catalog record of a file of a package, whether or not the file is stored.
struct ResourceRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "resource"

    var id: Int64?
    var assetID: String
    var renditionID: Int64
    /// The zero-based index of the segment in its playlist; -1 for a file that several segments may share.
    var position: Int
    var kind: StoredResource.Kind
    var address: String
    var rangeStart: Int64?
    var rangeLength: Int64?
    /// The path relative to the package.
    var path: String
    /// The start and the duration of the segment in seconds, as decimal numbers.
    var start: String
    var duration: String
    /// The size of the stored file in bytes; `nil` if the file is not stored.
    var bytes: Int64?
    /// The checksum of the stored file (``FileChecksum``, or `BlockChecksum` of an earlier version); `nil` if the file is not stored or was stored by version 2.
    var checksum: Int64?
    /// The position in the order in which files are fetched: the start of the segment in seconds, later for I-frames.
    var startTime: Double?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The database schema and its migrations.
enum Schema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.create(table: "asset") { table in
                table.primaryKey("id", .text)
                table.column("title", .text).notNull()
                table.column("source", .text).notNull().unique()
                table.column("createdAt", .double).notNull()
                table.column("state", .text).notNull()
                table.column("selection", .text).notNull()
                table.column("sourcePlaylist", .blob)
                table.column("sourceAddress", .text)
            }
            try database.create(table: "rendition") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("assetID", .text).notNull().references("asset", onDelete: .cascade)
                table.column("folder", .text).notNull()
                table.column("role", .text).notNull()
                table.column("position", .integer).notNull()
                table.column("language", .text)
                table.column("bandwidth", .integer)
                table.column("width", .integer)
                table.column("height", .integer)
                table.column("codecs", .text).notNull()
                table.column("playlist", .blob).notNull()
                table.column("address", .text).notNull()
                table.uniqueKey(["assetID", "folder"])
            }
            try database.create(table: "resource") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("assetID", .text).notNull().references("asset", onDelete: .cascade)
                table.column("renditionID", .integer).notNull().references("rendition", onDelete: .cascade)
                table.column("position", .integer).notNull()
                table.column("kind", .text).notNull()
                table.column("address", .text).notNull()
                table.column("rangeStart", .integer)
                table.column("rangeLength", .integer)
                table.column("path", .text).notNull()
                table.column("start", .text).notNull()
                table.column("duration", .text).notNull()
                table.column("bytes", .integer)
                table.uniqueKey(["assetID", "path"])
            }
            try database.create(indexOn: "resource", columns: ["renditionID"])
        }
        migrator.registerMigration("2") { database in
            // Version 1 stored playlists as JSON arrays of numbers, which took longer to read than to load from the
            // network.
            try bytesFromJSON("asset", "sourcePlaylist", database)
            try bytesFromJSON("rendition", "playlist", database)
        }
        migrator.registerMigration("3") { database in
            try database.alter(table: "rendition") { table in
                table.add(column: "aliases", .text)
            }
            try database.alter(table: "resource") { table in
                table.add(column: "checksum", .integer)
                table.add(column: "startTime", .double)
            }
            try database.execute(sql: "UPDATE resource SET startTime = CAST(start AS REAL)")
            try database.create(indexOn: "resource", columns: ["assetID", "startTime", "id"])
        }
        StoragePolicyRecord.registerMigration(&migrator)
        DownloadRecord.registerMigration(&migrator)
        migrator.registerMigration("resource-addresses") { database in
            try database.create(indexOn: "resource", columns: ["assetID", "address"])
        }
        AssetSummaryRecord.registerMigration(&migrator)
        RecordedSegment.registerMigration(&migrator)
        // Renditions can be I-frame playlists, which earlier versions do not know.
        migrator.registerMigration("i-frames") { database in
            // Many byte ranges can have one URL.
            try database.drop(indexOn: "resource", columns: ["assetID", "address"])
            try database.create(indexOn: "resource", columns: ["assetID", "address", "rangeStart"])
        }
        migrator.registerMigration("shared-content") { database in
            // Finds files with the same content; the rowid, with which every entry of an index ends, tells the first.
            try database.create(
                index: sharedContentIndex,
                on: "resource",
                columns: ["checksum", "bytes"],
                condition: Column("checksum") != nil
            )
        }
        AssetSummaryRecord.registerSharingMigration(&migrator)
        AssetSummaryRecord.registerPlayabilityMigration(&migrator)
        StorageLimitsRecord.registerMigration(&migrator)
        migrator.registerMigration("languages-of-media-files") { database in
            try database.alter(table: "rendition") { table in
                table.add(column: "audioLanguages", .text)
                table.add(column: "subtitleLanguages", .text)
            }
        }
        AssetSummaryRecord.registerBitRateMigration(&migrator)
        DownloadRecord.registerSelectionMigration(&migrator)
        ArtworkRecord.registerMigration(&migrator)
        StorageLimitsRecord.registerEnteredBytesMigration(&migrator)
        AssetSummaryRecord.registerPartialPlayabilityMigration(&migrator)
        return migrator
    }()

    /// The name of the index of the contents of files.
    static let sharedContentIndex = "index_resource_on_checksum_bytes"

    private static func bytesFromJSON(_ table: String, _ column: String, _ database: Database) throws {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT rowid AS number, CAST(\(column) AS BLOB) AS bytes FROM \(table) WHERE \(column) IS NOT NULL"
        )
        for row in rows {
            let (number, json): (Int64, Data) = (row["number"], row["bytes"])
            guard let bytes = try? JSONDecoder().decode([UInt8].self, from: json) else { continue }
            try database.execute(
                sql: "UPDATE \(table) SET \(column) = ? WHERE rowid = ?",
                arguments: [Data(bytes), number]
            )
        }
    }
}
