public import Foundation
import GRDB
public import MediaTiming

/// The catalog record of the storage policy of an asset; an asset without a record has the default policy.
struct StoragePolicyRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "storagePolicy"

    var assetID: String
    var priority: String
    /// The expiration date in seconds since 1970-01-01T00:00:00Z.
    var expiresAt: Double?
    var isPinned: Bool

    /// The policy of the record.
    var policy: StoragePolicy {
        StoragePolicy(
            priority: StoragePolicy.Priority(rawValue: priority) ?? .standard,
            expirationDate: expiresAt.map { Date(timeIntervalSince1970: $0) },
            isPinned: isPinned
        )
    }

    /// Adds the table of storage policies to the schema.
    static func registerMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("storage-policies") { database in
            try database.create(table: databaseTableName) { table in
                table.primaryKey("assetID", .text).references("asset", onDelete: .cascade)
                table.column("priority", .text).notNull()
                table.column("expiresAt", .double)
                table.column("isPinned", .boolean).notNull()
            }
        }
    }

    /// Returns all policies by asset identifier; none if an earlier version created the catalog and the catalog is open
    /// for reading only.
    static func fetchPolicies(_ database: Database) throws -> [String: StoragePolicy] {
        guard try database.tableExists(databaseTableName) else { return [:] }
        let records = try StoragePolicyRecord.fetchAll(database)
        return Dictionary(records.map { ($0.assetID, $0.policy) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns a Boolean value that indicates whether an asset that is not pinned has expired, in a catalog that is open for writing.
    static func hasExpired(_ database: Database, _ now: Date) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM \(databaseTableName) WHERE expiresAt <= ? AND NOT isPinned)",
            arguments: [now.timeIntervalSince1970]
        ) ?? false
    }
}

extension AssetLibrary {
    /// Returns the storage policy of an asset.
    ///
    /// - Throws: ``StorageError/Code/notFound``.
    public func storagePolicy(_ id: String) throws -> StoragePolicy {
        try catalog.read { database in
            _ = try Self.record(id, database)
            guard try database.tableExists(StoragePolicyRecord.databaseTableName) else { return StoragePolicy() }
            return try StoragePolicyRecord.fetchOne(database, key: id)?.policy ?? StoragePolicy()
        }
    }

    /// Returns the storage policies of all assets that do not have the default one, by their identifiers.
    ///
    /// - Throws: ``StorageError``.
    public func storagePolicies() throws -> [String: StoragePolicy] {
        try catalog.read { try StoragePolicyRecord.fetchPolicies($0) }
    }

    /// Sets the storage policy of an asset.
    ///
    /// - Throws: ``StorageError/Code/notFound``.
    public func setStoragePolicy(_ policy: StoragePolicy, of id: String) throws {
        try write { database in
            _ = try Self.record(id, database)
            try StoragePolicyRecord(
                assetID: id,
                priority: policy.priority.rawValue,
                expiresAt: policy.expirationDate?.timeIntervalSince1970,
                isPinned: policy.isPinned
            ).save(database)
        }
    }

    /// Returns the assets that an eviction would delete now, without any change to the library.
    ///
    /// - Parameters:
    ///   - limits: The limits on the disk space; those that are stored in the library by default.
    ///   - need: The number of bytes to make available within the limits.
    ///   - now: The time that expiration dates are compared with.
    /// - Returns: The assets in the order of their deletion, and what cannot be made available.
    /// - Throws: ``StorageError``.
    public func evictionPlan(
        limits: StorageLimits? = nil,
        need: ByteCount = .zero,
        now: Date = Date()
    ) throws -> EvictionPlan {
        try measuredEvictionPlan(limits: limits ?? storageLimits(), need: need, now: now, excluding: []).plan
    }

    /// Returns the assets that an eviction would delete, and the space that the library occupies before it.
    private func measuredEvictionPlan(
        limits: StorageLimits,
        need: ByteCount,
        now: Date,
        excluding skipped: Set<String>
    ) throws -> (plan: EvictionPlan, usedBytes: ByteCount) {
        let (records, policies, pending) = try catalog.read { database in
            (
                try AssetRecord.filter(Column("state") != AssetRecord.State.deleting.rawValue)
                    .order(Column.rowID).fetchAll(database),
                try StoragePolicyRecord.fetchPolicies(database), try DownloadRecord.fetchPendingAssets(database)
            )
        }
        let candidates = records.enumerated().map { number, record in
            EvictionCandidate(
                id: record.id,
                title: record.title,
                order: number,
                usage: DiskUsage(of: packageDirectory(record.id)),
                policy: policies[record.id] ?? StoragePolicy(),
                isInUse: skipped.contains(record.id) || pending.contains(record.id) || isInUse(record.id)
            )
        }
        let usedBytes = diskUsage.occupiedBytes
        let plan = EvictionPlan(
            candidates: candidates,
            limits: limits,
            need: need,
            usedBytes: usedBytes,
            freeBytes: freeSpace,
            now: now
        )
        return (plan, usedBytes)
    }

    /// Deletes the assets of ``evictionPlan(limits:need:now:)``.
    ///
    /// An asset that comes into use, or is pinned, after the plan was made is not deleted, and others are considered
    /// in its place.
    ///
    /// - Returns: The deleted assets, and what could not be made available.
    /// - Throws: ``StorageError``.
    public func evict(
        limits: StorageLimits? = nil,
        need: ByteCount = .zero,
        now: Date = Date()
    ) throws -> EvictionPlan {
        try measuringEvict(limits: limits ?? storageLimits(), need: need, now: now).plan
    }

    /// Deletes the assets of ``evictionPlan(limits:need:now:)``.
    ///
    /// - Returns: The deleted assets, and what could not be made available; and the space that the library occupies then.
    /// - Throws: ``StorageError``.
    func measuringEvict(
        limits: StorageLimits,
        need: ByteCount,
        now: Date
    ) throws -> (plan: EvictionPlan, usedBytes: ByteCount) {
        var deleted: [EvictionPlan.Entry] = []
        var skipped: Set<String> = []
        while true {
            let (plan, usedBytes) = try measuredEvictionPlan(limits: limits, need: need, now: now, excluding: skipped)
            let skippedCount = skipped.count
            for entry in plan.entries {
                if try evict(entry.id) { deleted.append(entry) } else { skipped.insert(entry.id) }
            }
            guard skipped.count > skippedCount else {
                // All assets of this plan were deleted.
                let result = EvictionPlan(
                    entries: deleted,
                    insufficientEntries: plan.insufficientEntries,
                    shortfall: plan.shortfall
                )
                return (result, usedBytes - plan.freedBytes)
            }
        }
    }

    /// Deletes an asset unless it is in use, pinned, or the asset of a pending download.
    ///
    /// - Returns: A Boolean value that indicates whether the asset was deleted.
    private func evict(_ id: String) throws -> Bool {
        // No player can start to use the package until the deletion has finished.
        let use = PackageUse.exclusive(packageDirectory(id))
        defer { withExtendedLifetime(use) {} }
        guard use != nil || !FileInspection.isFolder(packagePath(id)) else { return false }
        do {
            guard try !storagePolicy(id).isPinned,
                try !catalog.read({ try DownloadRecord.fetchPendingAssets($0) }).contains(id)
            else { return false }
            try delete(id)
            return true
        } catch let error as StorageError where [.busy, .notFound].contains(error.code) {
            return false
        }
    }

    /// Returns a Boolean value that indicates whether an asset is being played, downloaded or verified by any process.
    private func isInUse(_ id: String) -> Bool {
        let package = packageDirectory(id)
        guard FileInspection.isFolder(package.path) else { return false }
        return PackageLock.isHeld(package) || PackageUse.isMarked(package)
    }
}
