import Foundation
import GRDB
import MediaTiming

/// The catalog records with the properties of an asset that are computed from the rows of its files, and the migration
/// that adds them.
///
/// An asset has them only while they are up to date: triggers delete them when the asset or its files change in the
/// catalog. They are computed again when the asset is finished, or when the library is next listed.
enum AssetSummaryRecord {
    /// The table of the columns of a listing; its rows are small, because a listing reads all of them.
    static let tableName = "assetSummary"
    /// The table of the stored parts of the renditions.
    static let contentTableName = "assetContent"
    /// The table of the assets from which an interrupted operation has not removed all files.
    static let cleanupTableName = "assetCleanup"

    /// Adds the tables and triggers of the summaries to the schema, and a mark for files that were lost.
    static func registerMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("asset-summaries") { database in
            try database.alter(table: "resource") { table in
                // Set for a file that was stored and is now missing or damaged.
                table.add(column: "isLost", .boolean)
            }
            try database.create(table: tableName) { table in
                table.primaryKey("assetID", .text).references("asset", onDelete: .cascade)
                table.column("title", .text).notNull()
                table.column("createdAt", .double).notNull()
                table.column("isComplete", .boolean).notNull()
                table.column("percent", .double).notNull()
                table.column("duration", .text)
                table.column("bytes", .integer).notNull()
                table.column("diskBytes", .integer).notNull()
                table.column("quality", .text).notNull()
                table.column("languages", .text).notNull()
            }
            try database.create(table: contentTableName) { table in
                table.primaryKey("assetID", .text).references("asset", onDelete: .cascade)
                table.column("content", .blob).notNull()
            }
            try database.create(table: cleanupTableName) { table in
                table.primaryKey("assetID", .text).references("asset", onDelete: .cascade)
            }
            for (name, event, id) in triggers {
                try database.execute(
                    sql: """
                        CREATE TRIGGER \(name) AFTER \(event) BEGIN
                        DELETE FROM \(tableName) WHERE assetID = \(id);
                        DELETE FROM \(contentTableName) WHERE assetID = \(id);
                        END
                        """
                )
            }
        }
    }

    /// The changes that make the summary of an asset out of date.
    private static let triggers = [
        ("assetChanged", "UPDATE OF title, state ON asset", "NEW.id"),
        ("renditionAdded", "INSERT ON rendition", "NEW.assetID"),
        ("renditionChanged", "UPDATE ON rendition", "NEW.assetID"),
        ("renditionDeleted", "DELETE ON rendition", "OLD.assetID"),
        ("fileChanged", "UPDATE OF bytes ON resource", "NEW.assetID"),
    ]

    /// Returns a Boolean value that indicates whether the catalog has summaries; a catalog of an earlier version that
    /// is open for reading only does not.
    static func exist(_ database: Database) throws -> Bool { try database.tableExists(tableName) }

    /// Returns the assets that have no summary, without those that are being deleted.
    static func fetchMissing(_ database: Database) throws -> [AssetRecord] {
        let assets = AssetRecord.filter(Column("state") != AssetRecord.State.deleting.rawValue)
        guard try exist(database) else { return try assets.fetchAll(database) }
        // Each summary belongs to an asset, so equal counts mean that none is missing.
        let counts = try ["asset", tableName].map {
            try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \($0)") ?? 0
        }
        guard counts[0] != counts[1] else { return [] }
        return try assets.filter(sql: "id NOT IN (SELECT assetID FROM \(tableName))").fetchAll(database)
    }

    /// Returns all summaries of a catalog that has them, newest first.
    static func fetchAll(_ database: Database) throws -> [AssetSummary] {
        // A catalog of an earlier version that is open for reading only does not have these columns.
        let columns = Set(try database.columns(in: tableName).map(\.name))
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT assetID, title, createdAt, isComplete, percent, duration, bytes, diskBytes, quality, languages,
                    \(columns.contains("sharesFiles") ? "sharesFiles" : "0"),
                    \(columns.contains("isPlayable") ? "isPlayable" : "0")
                FROM \(tableName) ORDER BY createdAt DESC
                """
        )
        var summaries: [AssetSummary] = []
        while let row = try rows.next() {
            let duration: String? = row[5]
            summaries.append(
                AssetSummary(
                    id: row[0],
                    title: row[1],
                    creationDate: Date(timeIntervalSince1970: row[2]),
                    state: row[3] ? .complete : .partial,
                    percent: row[4],
                    isPlayableOffline: row[11],
                    duration: duration.flatMap { MediaTime(decimal: $0) },
                    bytes: ByteCount(row[6]),
                    diskBytes: ByteCount(row[7]),
                    sharesFiles: row[10],
                    quality: row[8],
                    languages: row[9]
                )
            )
        }
        return summaries
    }

    /// Adds the column that tells whether an asset shares files.
    static func registerSharingMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("summaries-of-shared-files") { database in
            try database.alter(table: tableName) { table in
                table.add(column: "sharesFiles", .boolean).notNull().defaults(to: false)
            }
        }
    }

    /// Adds the column that tells whether an asset can be played offline; existing summaries are computed again.
    static func registerPlayabilityMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("summaries-of-playable-assets") { database in
            try database.execute(sql: "DELETE FROM \(tableName)")
            try database.alter(table: tableName) { table in
                table.add(column: "isPlayable", .boolean).notNull().defaults(to: false)
            }
        }
    }

    /// Removes the summaries of assets without variants, so that they are computed again with the bit rate of their media.
    static func registerBitRateMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("summaries-with-bit-rates") { database in
            for table in [tableName, contentTableName] {
                try database.execute(
                    sql: """
                        DELETE FROM \(table) WHERE assetID IN
                        (SELECT assetID FROM rendition WHERE role = 'variant' AND bandwidth IS NULL)
                        """
                )
            }
        }
    }

    /// Removes the summaries of incomplete assets, so that it is computed again whether they can be played offline.
    static func registerPartialPlayabilityMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("summaries-of-partly-playable-assets") { database in
            for table in [tableName, contentTableName] {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE assetID IN (SELECT id FROM asset WHERE state <> 'complete')"
                )
            }
        }
    }

    /// Removes the summaries of assets, which other assets share files with from now on.
    static func delete(_ ids: Set<String>, _ database: Database) throws {
        for id in ids.sorted() {
            try database.execute(sql: "DELETE FROM \(tableName) WHERE assetID = ?", arguments: [id])
        }
    }

    /// Stores the summary and the content of an asset.
    static func save(_ summary: AssetSummary, _ content: StoredContent, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO \(tableName) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                summary.id, summary.title, summary.creationDate.timeIntervalSince1970, summary.state == .complete,
                summary.percent, summary.duration?.description, summary.bytes.bytes, summary.diskBytes.bytes,
                summary.quality, summary.languages, summary.sharesFiles, summary.isPlayableOffline,
            ]
        )
        try database.execute(
            sql: "INSERT OR REPLACE INTO \(contentTableName) VALUES (?, ?)",
            arguments: [summary.id, try JSONEncoder().encode(StoredContent.Coded(content))]
        )
    }

    /// Returns the stored content of the asset with the given identifier; `nil` if it has none.
    static func fetchContent(_ id: String, _ database: Database) throws -> StoredContent? {
        guard try exist(database) else { return nil }
        let statement = try database.cachedStatement(
            sql: "SELECT content FROM \(contentTableName) WHERE assetID = ?"
        )
        return try Data.fetchOne(statement, arguments: [id]).flatMap { content(of: $0, JSONDecoder()) }
    }

    /// Returns the content that was stored as data; `nil` if the data has another form.
    static func content(of data: Data, _ decoder: JSONDecoder) -> StoredContent? {
        try? decoder.decode(StoredContent.Coded.self, from: data).content
    }
}

extension StoredContent {
    /// The form of the content in the catalog, with times as decimal numbers.
    fileprivate struct Coded: Codable {
        private struct Rendition: Codable {
            let role: StoredRendition.Role
            let folder: String
            let language: String?
            let bandwidth: Int64?
            let width: Int?
            let height: Int?
            let codecs: [String]
            /// The start and the duration of each stored time range, one after the other.
            let loaded: [String]
            let duration: String
            let isComplete: Bool
            /// The languages of the tracks of a media file; `nil` in the catalogs of earlier versions.
            let audioLanguages: [String]?
            let subtitleLanguages: [String]?
            /// The average bit rate in bits per second.
            let averageBitRate: Int64?
        }

        private let renditions: [Rendition]
        private let bytes: Int64
        /// A Boolean value that indicates whether a variant can be played; `nil` in the catalogs of earlier versions.
        private let isPlayable: Bool?

        init(_ content: StoredContent) {
            renditions = content.renditions.map { rendition in
                Rendition(
                    role: rendition.role,
                    folder: rendition.folder,
                    language: rendition.language,
                    bandwidth: rendition.bandwidth?.bitsPerSecond,
                    width: rendition.width,
                    height: rendition.height,
                    codecs: rendition.codecs,
                    loaded: rendition.loadedTimeRanges.ranges.flatMap { ["\($0.start)", "\($0.duration)"] },
                    duration: rendition.duration.description,
                    isComplete: rendition.isComplete,
                    audioLanguages: rendition.audioLanguages,
                    subtitleLanguages: rendition.subtitleLanguages,
                    averageBitRate: rendition.averageBitRate?.bitsPerSecond
                )
            }
            bytes = content.bytes.bytes
            isPlayable = content.isPlayable
        }

        private func has(_ role: StoredRendition.Role) -> Bool { renditions.contains { $0.role == role } }

        private func hasComplete(_ role: StoredRendition.Role) -> Bool {
            renditions.contains { $0.role == role && $0.isComplete }
        }

        var content: StoredContent {
            StoredContent(
                renditions: renditions.map { rendition in
                    let ranges = stride(from: 0, to: rendition.loaded.count - 1, by: 2).compactMap {
                        MediaTimeRange(start: rendition.loaded[$0], duration: rendition.loaded[$0 + 1])
                    }
                    return StoredRendition(
                        role: rendition.role,
                        folder: rendition.folder,
                        language: rendition.language,
                        bandwidth: rendition.bandwidth.map { BitRate(bitsPerSecond: $0) },
                        width: rendition.width,
                        height: rendition.height,
                        codecs: rendition.codecs,
                        loadedTimeRanges: MediaTimeRangeSet(ranges),
                        duration: MediaTime(decimal: rendition.duration) ?? .zero,
                        isComplete: rendition.isComplete,
                        audioLanguages: rendition.audioLanguages ?? [],
                        subtitleLanguages: rendition.subtitleLanguages ?? [],
                        averageBitRate: rendition.averageBitRate.map { BitRate(bitsPerSecond: $0) }
                    )
                },
                bytes: ByteCount(bytes),
                isPlayable: isPlayable ?? (hasComplete(.variant) && (!has(.audio) || hasComplete(.audio)))
            )
        }
    }
}
