import GRDB
import MediaTiming

/// The catalog record of the limits on the disk space of the library; a library without the record has no limits.
struct StorageLimitsRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "storageLimits"

    /// The key of the only record.
    var id = 1
    var quota: Int64?
    var minimumFreeSpace: Int64

    /// The limits of the record.
    var limits: StorageLimits {
        StorageLimits(quota: quota.map { ByteCount($0) }, minimumFreeSpace: ByteCount(minimumFreeSpace))
    }

    /// Adds the table of the limits to the schema.
    static func registerMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("storage-limits") { database in
            try database.create(table: databaseTableName) { table in
                table.primaryKey("id", .integer)
                table.column("quota", .integer)
                table.column("minimumFreeSpace", .integer).notNull()
            }
        }
    }

    /// Adds the column with the number of bytes of all files that were entered in the catalog since limits were set.
    static func registerEnteredBytesMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("bytes-entered-within-limits") { database in
            try database.alter(table: databaseTableName) { table in
                table.add(column: "enteredBytes", .integer).notNull().defaults(to: 0)
            }
        }
    }

    /// Counts the bytes of files that a transaction enters in the catalog, if the library has limits.
    static func addEnteredBytes(_ count: Int64, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE \(databaseTableName) SET enteredBytes = enteredBytes + ?",
            arguments: [count]
        )
    }

    /// Returns the bytes of all files that were entered in the catalog since limits were set; `nil` if there are none.
    static func fetchEnteredBytes(_ database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT enteredBytes FROM \(databaseTableName)")
    }

    /// Returns the limits; none if the catalog was created by an earlier version and is open for reading only.
    static func fetchLimits(_ database: Database) throws -> StorageLimits {
        guard try database.tableExists(databaseTableName) else { return StorageLimits() }
        return try StorageLimitsRecord.fetchOne(database)?.limits ?? StorageLimits()
    }
}

extension AssetLibrary {
    /// Returns the limits on the disk space that are stored in the library; none by default.
    ///
    /// - Throws: ``StorageError``.
    public func storageLimits() throws -> StorageLimits {
        try catalog.read { try StorageLimitsRecord.fetchLimits($0) }
    }

    /// Stores the limits on the disk space in the library.
    ///
    /// Downloads delete other assets to make space available within these limits, and sessions delete assets at regular
    /// intervals while the limits are exceeded. The new limits apply to downloads of this object from now on. They
    /// apply to downloads of other objects and processes from the next time that these apply the storage policy, which
    /// sessions do every minute by default (``applyStoragePolicy(need:now:)``). A file that another process has stored
    /// counts as soon as it is in the catalog.
    ///
    /// - Throws: ``StorageError``.
    public func setStorageLimits(_ limits: StorageLimits) throws {
        try write { database in
            try StorageLimitsRecord(
                quota: limits.quota?.bytes,
                minimumFreeSpace: limits.minimumFreeSpace.bytes
            ).save(database)
        }
        space.setLimits(limits)
    }
}
