import Foundation
import GRDB
import HLSPlaylist
public import MediaTiming

/// A limit on the variants of a downloaded asset.
public enum StoredVariantLimit: Sendable, Hashable {
    /// The maximum height in pixels; a variant without a resolution satisfies it.
    case maximumHeight(Int)
    /// The maximum peak bit rate; a variant without a bit rate satisfies it.
    case maximumBitRate(BitRate)

    fileprivate func isSatisfied(by variant: Variant) -> Bool {
        switch self {
        case .maximumHeight(let height): variant.resolution.map { $0.height <= height } ?? true
        case .maximumBitRate(let rate): variant.bandwidth.map { $0 <= rate } ?? true
        }
    }

    fileprivate var condition: String {
        switch self {
        case .maximumHeight(let height): "a height of at most \(height) pixels"
        case .maximumBitRate(let rate): "a bit rate of at most \(rate)"
        }
    }
}

/// The result of the removal of variants from an asset.
public struct ShrinkingResult: Sendable, Hashable {
    /// A kind of result.
    public enum Outcome: String, Sendable, Hashable {
        /// Variants, and the renditions that only they use, were removed with their files.
        case removed
        /// Variants were removed from the multivariant playlist only. Their files remain, because other variants have
        /// the same media playlists.
        case removedFromPlaylist = "removed-from-playlist"
        /// All variants satisfy the limit, so that nothing was removed.
        case withinLimit = "within-limit"
        /// The asset has no variants that declare a height or a bit rate, so that nothing was removed.
        ///
        /// The source of the asset is a media playlist or a media file, or only renditions such as subtitles are
        /// stored.
        case noVariants = "no-variants"
    }

    /// The kind of result.
    public let outcome: Outcome
    /// The variants and other renditions that were removed; empty if all variants satisfy the limit, or if other variants have the
    /// media playlists of those that do not.
    public let removed: [StoredRendition]
    /// The number of bytes that the removal freed on the disk.
    public let freedBytes: ByteCount
}

extension AssetLibrary {
    /// Removes the variants of an asset that exceed a limit, and the renditions that only they use.
    ///
    /// No files are downloaded. If the removal is interrupted, it is completed the next time the library is opened.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - limit: The limit that the remaining variants satisfy.
    /// - Returns: The removed renditions and the freed disk space.
    /// - Throws: ``StorageError/Code/busy`` while the asset is being played or downloaded,
    ///   ``StorageError/Code/nothingLeft`` if no variant satisfies the limit; the asset is not changed then.
    public func shrink(_ id: String, to limit: StoredVariantLimit) throws -> ShrinkingResult {
        let lock = try lock(id)
        defer { withExtendedLifetime(lock) {} }
        guard let use = PackageUse.exclusive(packageDirectory(id)) else {
            throw StorageError(.busy, "the asset \(id) is being played: stop its playback first")
        }
        defer { withExtendedLifetime(use) {} }
        let before = DiskUsage(of: packageDirectory(id)).freeableBytes
        let removal = try runWhenFull {
            try write { database in
                let removal = try Self.removeVariants(of: id, beyond: limit, database)
                if removal.changesAsset { try Self.requireCleanup(of: id, database) }
                return removal
            }
        }
        guard removal.changesAsset else {
            return ShrinkingResult(outcome: removal.outcome, removed: [], freedBytes: .zero)
        }
        try runWhenFull { try cleanUp(id) }
        let after = DiskUsage(of: packageDirectory(id)).freeableBytes
        return ShrinkingResult(outcome: removal.outcome, removed: removal.renditions, freedBytes: before - after)
    }

    /// The removal of variants from the catalog.
    private struct Removal {
        var outcome: ShrinkingResult.Outcome
        /// The removed media playlists.
        var renditions: [StoredRendition] = []

        /// A Boolean value that indicates whether the playlists and the files of the asset must be updated, because the
        /// catalog has changed.
        var changesAsset: Bool {
            switch outcome {
            case .removed, .removedFromPlaylist: true
            case .withinLimit, .noVariants: false
            }
        }
    }

    /// Removes the media playlists of an asset that are not in given directories, and their files.
    ///
    /// If no file of the others is missing, the asset is complete afterward.
    /// If the removal is interrupted, it is completed the next time the library is opened. The caller must hold the lock of the asset.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - folders: The directories of the media playlists that remain, relative to the package; if it is empty, all remain.
    /// - Throws: ``StorageError/Code/busy`` while the asset is being played; it is not changed then.
    package func removeRenditions(of id: String, besides folders: Set<String>) throws {
        let stored = try catalog.read { database in Set(try Self.folders(id, database).values) }
        guard !folders.isEmpty, !stored.isSubset(of: folders) else { return }
        guard let use = PackageUse.exclusive(packageDirectory(id)) else {
            throw StorageError(
                .busy,
                "the asset \(id) is being played, so that nothing of it is deleted",
                hint: "stop its playback and start the download again"
            )
        }
        defer { withExtendedLifetime(use) {} }
        try runWhenFull {
            try write { database in
                let renditions = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
                for rendition in renditions where !folders.contains(rendition.folder) {
                    try rendition.delete(database)
                }
                try Self.updateState(of: id, database)
                try Self.requireCleanup(of: id, database)
            }
        }
        try runWhenFull { try cleanUp(id) }
        if try missingCount(id) == 0 { try finish(id) }
    }

    /// Removes the variants that exceed a limit from the catalog.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - limit: The limit that the remaining variants satisfy.
    ///   - database: The database.
    /// - Returns: The outcome and the removed media playlists. No media playlist is removed if other variants have the
    ///   same ones, or if no variant exceeds the limit.
    /// - Throws: ``StorageError/Code/nothingLeft`` if no variant satisfies the limit, or the error of the database.
    private static func removeVariants(
        of id: String,
        beyond limit: StoredVariantLimit,
        _ database: Database
    ) throws -> Removal {
        let record = try record(id, database)
        let rows = try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
        // A media playlist has a single variant, whose attributes are not declared.
        guard let bytes = try record.sourceBytes(database),
            let source = try? MultivariantPlaylist(parsing: bytes)
        else { return Removal(outcome: .noVariants) }
        let stored = rows.filter { $0.role == .variant }.flatMap(\.positions).filter(source.variants.indices.contains)
        guard !stored.isEmpty else { return Removal(outcome: .noVariants) }
        let remaining = stored.filter { limit.isSatisfied(by: source.variants[$0]) }
        guard !remaining.isEmpty else { throw nothingLeft(limit, stored.map { source.variants[$0] }) }
        guard remaining.count < stored.count else { return Removal(outcome: .withinLimit) }
        let uses = RenditionUses(of: source, variants: Set(stored), remaining: Set(remaining))
        let contents = try StoredContent(of: id, database).renditions
        var removed: [StoredRendition] = []
        for (var row, content) in zip(rows, contents) {
            let positions = row.positions.filter { uses.remains($0, role: row.role) }
            guard positions != row.positions else { continue }
            guard let first = positions.first else {
                try row.delete(database)
                removed.append(content)
                continue
            }
            row.position = first
            row.aliases = positions.dropFirst().map(String.init).joined(separator: ",")
            if row.role == .variant {
                let variant = source.variants[first]
                row.bandwidth = variant.bandwidth?.bitsPerSecond
                row.width = variant.resolution?.width
                row.height = variant.resolution?.height
                row.codecs = variant.codecs.joined(separator: ",")
            }
            try row.update(database)
        }
        try updateState(of: id, database)
        return Removal(outcome: removed.isEmpty ? .removedFromPlaylist : .removed, renditions: removed)
    }

    /// Sets the state of an asset from which renditions were removed.
    private static func updateState(of id: String, _ database: Database) throws {
        var record = try record(id, database)
        let missing = try ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") == nil)
            .fetchCount(database)
        // Another run can continue a recording that has not ended, so its playlists have no end marker.
        record.state = try missing == 0 && !isRecording(id, database) ? .complete : .partial
        try record.update(database)
    }

    private static func nothingLeft(_ limit: StoredVariantLimit, _ variants: [Variant]) -> StorageError {
        let available = variants.map { variant in
            [variant.resolution?.description, variant.bandwidth?.description].compactMap { $0 }.joined(separator: " ")
        }
        return StorageError(
            .nothingLeft,
            "no stored variant has \(limit.condition); there is \(available.joined(separator: ", "))"
        )
    }

    // MARK: Removed files

    /// Marks an asset whose playlists and files do not correspond to the catalog yet.
    private static func requireCleanup(of id: String, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO \(AssetSummaryRecord.cleanupTableName) VALUES (?)",
            arguments: [id]
        )
    }

    /// Writes the playlists of an asset from the catalog, then removes the files that are not in the catalog.
    ///
    /// The caller must hold the lock of the asset.
    private func cleanUp(_ id: String) throws {
        try writePlaylists(id, storedOnly: true)
        try removeUnreferencedFiles(id)
        let usage = DiskUsage(of: packageDirectory(id))
        try write { database in
            try database.execute(
                sql: "DELETE FROM \(AssetSummaryRecord.cleanupTableName) WHERE assetID = ?",
                arguments: [id]
            )
            try Self.saveSummary(of: id, usage, database)
        }
    }

    /// Finishes removals that were interrupted, except those of assets that another task has locked.
    func finishInterruptedRemovals() {
        let ids = try? catalog.read { database in
            try String.fetchAll(database, sql: "SELECT assetID FROM \(AssetSummaryRecord.cleanupTableName)")
        }
        for id in ids ?? [] {
            guard let lock = try? lock(id) else { continue }
            try? cleanUp(id)
            withExtendedLifetime(lock) {}
        }
    }
}

/// The entries of a multivariant playlist that remain after some of its variants are removed.
private struct RenditionUses {
    private let source: MultivariantPlaylist
    private let variants: Set<Int>
    /// The groups of renditions that the remaining variants use, and those that only removed variants use.
    private var used: [Rendition.MediaType: Set<String>] = [:]
    private var unused: [Rendition.MediaType: Set<String>] = [:]

    init(of source: MultivariantPlaylist, variants stored: Set<Int>, remaining: Set<Int>) {
        self.source = source
        variants = remaining
        for type in Rendition.MediaType.allCases {
            let groups = Set(remaining.compactMap { source.variants[$0].groupID(type) })
            used[type] = groups
            unused[type] = Set(stored.compactMap { source.variants[$0].groupID(type) }).subtracting(groups)
        }
    }

    /// Returns a Boolean value that indicates whether the variant or rendition at a position remains.
    func remains(_ position: Int, role: StoredRendition.Role) -> Bool {
        switch role.list {
        case .variants: return variants.contains(position)
        case .iFrameVariants: return remainsForFastPlayback(position)
        case .renditions: break
        }
        guard source.renditions.indices.contains(position) else { return true }
        let rendition = source.renditions[position]
        return rendition.type.flatMap { unused[$0] }?.contains(rendition.groupID) != true
    }

    /// Returns a Boolean value that indicates whether an I-frame variant is not higher than the remaining variants.
    private func remainsForFastPlayback(_ position: Int) -> Bool {
        guard source.iFrameVariants.indices.contains(position),
            let height = source.iFrameVariants[position].resolution?.height,
            let highest = variants.compactMap({ source.variants[$0].resolution?.height }).max()
        else { return true }
        return height <= highest
    }
}
