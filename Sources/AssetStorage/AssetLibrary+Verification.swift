import Foundation
import GRDB
import MediaTiming
package import ResourceAddressing

/// The result of the verification of an asset.
public struct VerificationResult: Sendable, Hashable {
    /// The paths, relative to the package, of files that are missing or damaged.
    public let damaged: [String]
    /// The number of files for which only the size was checked, because an earlier version stored them without a
    /// checksum.
    public let withoutChecksum: Int
    /// The paths, relative to the package, of files and directories that do not belong to the asset, in ascending order.
    ///
    /// They stay until ``AssetLibrary/removeUnknownFiles(_:)`` removes them, or the asset is downloaded again.
    public let unknown: [String]
    /// The paths, relative to the package, of files that a stored playlist names, and the catalog of the library does not list.
    ///
    /// They cannot be fetched again: the playlist was written by an earlier version, or the catalog was changed by another program.
    public let unlisted: [String]

    /// Creates a result.
    public init(damaged: [String], withoutChecksum: Int, unknown: [String] = [], unlisted: [String] = []) {
        self.damaged = damaged
        self.unlisted = unlisted
        self.withoutChecksum = withoutChecksum
        self.unknown = unknown
    }
}

extension AssetLibrary {
    /// Marks stored files that are missing or have another size as not stored.
    ///
    /// The caller must hold the lock of the asset. The content of the files is not read; see ``verify(_:)``.
    ///
    /// - Returns: The paths of these files, relative to the package.
    /// - Throws: ``StorageError``; ``StorageError/Code/disk`` if the system cannot say whether a file is there, in which
    ///   case nothing is changed.
    @discardableResult
    public func removeMissingFilesFromCatalog(_ id: String) throws -> [String] {
        try removeFilesFromCatalog(of: id) { path, row in try FileInspection.verifiedSize(path) == row.bytes }
    }

    /// Checks the size and the checksum of every stored file of an asset.
    ///
    /// Damaged files are removed and marked as not stored, so that the next download fetches them. Until then, every
    /// verification reports them. Damaged playlists are written again.
    ///
    /// - Throws: ``StorageError/Code/busy`` while the asset is being downloaded; ``StorageError/Code/disk`` if a file cannot
    ///   be opened or read, in which case nothing is changed.
    public func verify(_ id: String) throws -> VerificationResult {
        let lock = try lock(id)
        defer { withExtendedLifetime(lock) {} }
        return try verifyLockedAsset(id)
    }

    /// Checks the size and the checksum of every stored file of an asset whose lock the caller holds; see
    /// ``verify(_:)``.
    package func verifyLockedAsset(_ id: String) throws -> VerificationResult {
        var withoutChecksum = 0
        var damaged = try removeFilesFromCatalog(of: id) { path, row in
            guard try FileInspection.verifiedSize(path) == row.bytes else { return false }
            guard let checksum = row.checksum else {
                withoutChecksum += 1
                return true
            }
            return try FileInspection.hasChecksum(checksum, path)
        }
        // What an earlier verification found is still missing.
        damaged = try damaged + lostFiles(id).filter { [found = Set(damaged)] in !found.contains($0) }
        // The playlist file of an interrupted recording can differ from the catalog without being damaged. It does not
        // contain a segment that was being received, and it was not synchronized to the disk.
        let isInterrupted = try isRecording(id)
        // An asset whose stream was never loaded has no playlists.
        let hasPlaylists = try catalog.read { database in
            try !RenditionRecord.filter(Column("assetID") == id).isEmpty(database)
        }
        let written = try hasPlaylists ? writePlaylists(id, storedOnly: isInterrupted) : []
        if !isInterrupted { damaged += written }
        return VerificationResult(
            damaged: damaged,
            withoutChecksum: withoutChecksum,
            unknown: try unreferencedFiles(id),
            unlisted: try unlistedFiles(id)
        )
    }

    private func removeFilesFromCatalog(
        of id: String,
        unless isIntact: (_ path: String, _ row: ResourceRecord) throws -> Bool
    ) throws -> [String] {
        let package = packagePath(id)
        // All files are checked before the first one is removed, because an error must change nothing.
        let damaged = try storedFiles(of: id, where: { try !isIntact("\(package)/\($0.path)", $0) })
        guard !damaged.isEmpty else { return [] }
        // The catalog is updated first, so that it never lists a file that is already removed.
        try write { database in
            for row in damaged {
                try ResourceRecord.filter(key: row.id)
                    .updateAll(
                        database,
                        Column("bytes").set(to: nil),
                        Column("checksum").set(to: nil),
                        Column("isLost").set(to: true)
                    )
            }
            try AssetRecord.filter(key: id)
                .updateAll(database, Column("state").set(to: AssetRecord.State.partial.rawValue))
        }
        // If a file cannot be removed now, the next download replaces it.
        for row in damaged { try? files.removeFile("\(package)/\(row.path)") }
        return damaged.map(\.path)
    }

    /// Returns the stored files of an asset that satisfy a condition.
    private func storedFiles(
        of id: String,
        where isIncluded: (ResourceRecord) throws -> Bool
    ) throws -> [ResourceRecord] {
        var included: [ResourceRecord] = []
        var last: Int64 = 0
        while true {
            let page = try catalog.read { database in
                _ = try Self.record(id, database)
                return try ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") != nil)
                    .filter(Column("id") > last).order(Column("id")).limit(Self.pageSize).fetchAll(database)
            }
            guard let end = page.last?.id else { return included }
            last = end
            included += try page.filter(isIncluded)
        }
    }

    /// Removes the stored files of a key, so that the next download fetches it again; the asset is incomplete until then.
    ///
    /// The caller must hold the lock of the asset.
    package func removeKey(at address: ResourceAddress, of id: String) throws {
        _ = try removeFilesFromCatalog(of: id) { _, row in row.kind.keySize == nil || row.address != address.text }
    }
}
