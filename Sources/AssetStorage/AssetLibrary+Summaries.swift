import Foundation
import GRDB
public import MediaTiming

extension AssetLibrary {
    /// Returns the summaries of all assets, newest first.
    ///
    /// A summary that is not stored is computed from the files of the asset and its package; see
    /// ``storeMissingSummaries()``.
    ///
    /// - Complexity: O(*n*) in the number of assets if all summaries are stored.
    /// - Throws: ``StorageError``.
    public func summaries() throws -> [AssetSummary] {
        let (stored, others) = try catalog.read { database in
            (
                try AssetSummaryRecord.exist(database) ? AssetSummaryRecord.fetchAll(database) : [],
                try AssetSummaryRecord.fetchMissing(database).map { ($0, try Self.asset($0, database)) }
            )
        }
        guard !others.isEmpty else { return stored }
        let computed = others.map { record, asset in
            AssetSummary(record, asset, DiskUsage(of: packageDirectory(asset.id)))
        }
        return (stored + computed).sorted { $0.creationDate > $1.creationDate }
    }

    /// Returns the summary of the asset with the given identifier.
    ///
    /// - Throws: ``StorageError/Code/notFound``.
    public func summary(_ id: String) throws -> AssetSummary {
        let (record, asset) = try catalog.read { database in
            let record = try Self.record(id, database)
            return (record, try Self.asset(record, database))
        }
        return AssetSummary(record, asset, DiskUsage(of: packageDirectory(id)))
    }

    /// Returns the disk space that the packages occupy; files shared by several assets count once.
    ///
    /// - Complexity: O(*n*) in the number of assets, plus the number of files of the assets that share files.
    public func diskBytes(of summaries: [AssetSummary]) -> ByteCount {
        let alone = summaries.reduce(ByteCount.zero) { $1.sharesFiles ? $0 : $0 + $1.diskBytes }
        let sharing = summaries.filter(\.sharesFiles).map { packageDirectory($0.id) }
        return sharing.isEmpty ? alone : alone + DiskUsage(of: sharing).occupiedBytes
    }

    /// A Boolean value that indicates whether the summaries of some assets are not stored.
    public var lacksSummaries: Bool {
        get throws { try catalog.read { try !AssetSummaryRecord.fetchMissing($0).isEmpty } }
    }

    /// Computes and stores the summaries that are missing, except those of assets that are being downloaded or
    /// verified.
    ///
    /// - Throws: ``StorageError``.
    public func storeMissingSummaries() throws {
        let missing = try catalog.read { try AssetSummaryRecord.fetchMissing($0) }
        for start in stride(from: 0, to: missing.count, by: Self.summariesPerTransaction) {
            let records = missing[start..<min(start + Self.summariesPerTransaction, missing.count)]
            // No other task can change an asset while it is locked.
            let locked = records.compactMap { record in (try? lock(record.id)).map { (record.id, $0) } }
            let usages = locked.map { id, _ in DiskUsage(of: packageDirectory(id)) }
            try write { database in
                for ((id, _), usage) in zip(locked, usages) { try Self.saveSummary(of: id, usage, database) }
            }
            withExtendedLifetime(locked) {}
        }
    }

    /// The number of summaries per transaction: enough to wait for the disk rarely, and few enough because each asset is
    /// locked with an open file.
    private static let summariesPerTransaction = 100

    /// Computes and stores the summary of an asset whose lock the caller holds.
    static func saveSummary(of id: String, _ usage: DiskUsage, _ database: Database) throws {
        guard let record = try AssetRecord.fetchOne(database, key: id), record.state != .deleting else { return }
        let content = try StoredContent(of: id, database)
        let summary = AssetSummary(record, StoredAsset(record, content), usage)
        try AssetSummaryRecord.save(summary, content, database)
    }

    /// Returns the snapshots of all assets, newest first, without reading their source playlists, which can be large, unless the
    /// stored part of an incomplete asset has to be computed.
    static func fetchAssets(_ database: Database) throws -> [StoredAsset] {
        let hasContents = try AssetSummaryRecord.exist(database)
        let contents = AssetSummaryRecord.contentTableName
        let formats = try ArtworkRecord.fetchFormats(database)
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT asset.id, asset.title, asset.source, asset.createdAt, asset.state, asset.selection,
                    \(hasContents ? "\(contents).content" : "NULL")
                FROM asset \(hasContents ? "LEFT JOIN \(contents) ON \(contents).assetID = asset.id" : "")
                WHERE asset.state != ? ORDER BY asset.createdAt DESC
                """,
            arguments: [AssetRecord.State.deleting.rawValue]
        )
        let decoder = JSONDecoder()
        var assets: [StoredAsset] = []
        while let row = try rows.next() {
            let record = AssetRecord(
                id: row[0],
                title: row[1],
                source: row[2],
                createdAt: row[3],
                state: AssetRecord.State(rawValue: row[4]) ?? .partial,
                selection: row[5],
                sourceAddress: nil
            )
            let data: Data? = row[6]
            let stored = data.flatMap { AssetSummaryRecord.content(of: $0, decoder) }
            var asset = StoredAsset(record, try stored ?? StoredContent(of: record.id, database))
            asset.artworkFormat = formats[record.id]
            assets.append(asset)
        }
        return assets
    }

    /// Returns the snapshot of an asset from its stored content, or from the rows of its files if that is not stored.
    static func asset(_ record: AssetRecord, _ database: Database) throws -> StoredAsset {
        let content = try AssetSummaryRecord.fetchContent(record.id, database)
        var asset = StoredAsset(record, try content ?? StoredContent(of: record.id, database))
        asset.artworkFormat = try ArtworkRecord.fetchFormat(record.id, database)
        return asset
    }
}
