import Foundation
import GRDB

/// An asset as the catalogue holds it.
struct AssetRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "asset"

    var id: String
    var title: String
    /// Where it came from; an address is kept once.
    var source: String
    /// Seconds since 1970.
    var createdAt: Double
    var state: State
    /// What was asked for, as the caller spells it; given back on resumption.
    var selection: String
    /// The playlist that the source gave, and where it was found; `nil` until it was loaded.
    var sourcePlaylist: Data?
    var sourceAddress: String?

    enum State: String, Codable {
        case partial
        case complete
        /// Its bytes are going; a sweep finishes what was interrupted.
        case deleting
    }
}

/// A media playlist of an asset.
struct RenditionRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "rendition"

    var id: Int64?
    var assetID: String
    /// The folder inside the package.
    var folder: String
    var role: StoredRendition.Role
    /// Its position among the variants or renditions of the source; -1 where the source is a media playlist.
    var position: Int
    var language: String?
    var bandwidth: Int64?
    var width: Int?
    var height: Int?
    var codecs: String
    /// The media playlist as it was loaded, and where it was found.
    var playlist: Data
    var address: String
    /// Further positions that have the same playlist: decimal numbers with commas between.
    var aliases: String?

    /// Every position in the source that the playlist serves.
    var positions: [Int] { [position] + (aliases ?? "").split(separator: ",").compactMap { Int($0) } }

    /// The bytes of the playlist, also in a catalog of version 1 that is only read.
    var playlistBytes: [UInt8] {
        guard playlist.first == UInt8(ascii: "["),
            let bytes = try? JSONDecoder().decode([UInt8].self, from: playlist)
        else { return Array(playlist) }
        return bytes
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A file of a package, there or still to come.
struct ResourceRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "resource"

    var id: Int64?
    var assetID: String
    var renditionID: Int64
    /// The segment's position in its playlist; -1 for what belongs to several.
    var position: Int
    var kind: StoredResource.Kind
    var address: String
    var rangeStart: Int64?
    var rangeLength: Int64?
    /// Where it lies, relative to the package.
    var path: String
    /// When the segment begins and how long it is: seconds in decimal digits.
    var start: String
    var duration: String
    /// The size of the stored file in bytes; `nil` while it is missing.
    var bytes: Int64?
    /// The checksum of the stored file (`BlockChecksum`); `nil` while it is missing, and for files stored by version 2.
    var checksum: Int64?
    /// The start of the segment in seconds, to sort by.
    var startTime: Double?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The tables, version after version.
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
            // Playlists were arrays of numbers in JSON, which took longer to read than the network to answer.
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
        return migrator
    }()

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
