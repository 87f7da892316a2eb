import Foundation
import GRDB
import MediaTiming
import ResourceAddressing

/// A file that has its name and whose content is on the disk, to be entered in the catalog.
public struct WrittenFile: Sendable {
    let resource: StoredResource
    let count: Int64
    let checksum: Int64

    /// Creates the description of a file that was finished.
    public init(_ resource: StoredResource, _ file: PackageFile) {
        self.resource = resource
        count = file.count
        checksum = file.checksum
    }
}

/// The result of the verification of an asset.
public struct VerificationResult: Sendable, Hashable {
    /// The paths, inside the package, of files that are gone or not what was stored.
    public let damaged: [String]
    /// The number of files of which only the size could be checked: an earlier version stored them without a checksum.
    public let withoutChecksum: Int

    /// Creates a result.
    public init(damaged: [String], withoutChecksum: Int) {
        self.damaged = damaged
        self.withoutChecksum = withoutChecksum
    }
}

extension AssetLibrary {
    /// The number of rows that are held in memory at a time.
    static let pageSize = 1_000

    /// Returns a file to write a resource to.
    public func makeFile(for resource: StoredResource, of id: String) -> PackageFile {
        PackageFile("\(packageDirectory(id).path)/\(resource.path)", files: files)
    }

    /// Returns all files of an asset, in the order in which its playlists name them.
    public func resources(_ id: String) throws -> [StoredResource] {
        try catalog.read { database in
            _ = try Self.record(id, database)
            let folders = try Self.folders(id, database)
            return try ResourceRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
                .compactMap { StoredResource($0, folders) }
        }
    }

    /// Returns the file at a path inside the package; `nil` if the asset has no such file.
    func resource(at path: String, of id: String) throws -> StoredResource? {
        try catalog.read { database in
            _ = try Self.record(id, database)
            let row = try ResourceRecord.filter(Column("assetID") == id).filter(Column("path") == path)
                .fetchOne(database)
            return try row.flatMap { StoredResource($0, try Self.folders(id, database)) }
        }
    }

    private static func folders(_ id: String, _ database: Database) throws -> [Int64: String] {
        let records = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
        return Dictionary(uniqueKeysWithValues: records.compactMap { record in record.id.map { ($0, record.folder) } })
    }

    // MARK: Missing files

    /// Returns the number of files that are not stored.
    public func missingCount(_ id: String) throws -> Int {
        try catalog.read { database in
            _ = try Self.record(id, database)
            return try ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") == nil)
                .fetchCount(database)
        }
    }

    /// Returns all files that are not stored, those that are needed first in front: keys and initialization sections, then
    /// segments by their time.
    public func missingResources(_ id: String) throws -> [StoredResource] {
        var result: [StoredResource] = []
        while true {
            let page = try missingResources(id, after: result.last)
            guard !page.isEmpty else { return result }
            result += page
        }
    }

    /// Returns the next files that are not stored, at most a thousand.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - last: The file to go on after; `nil` for the first ones.
    /// - Returns: The files in the order of ``missingResources(_:)``; none behind the last.
    /// - Throws: ``StorageError``.
    public func missingResources(_ id: String, after last: StoredResource?) throws -> [StoredResource] {
        try catalog.read { database in
            _ = try Self.record(id, database)
            let rows = try ResourceRecord.fetchAll(
                database,
                sql: """
                    SELECT * FROM resource WHERE assetID = ? AND bytes IS NULL AND (startTime, id) > (?, ?)
                    ORDER BY startTime, id LIMIT ?
                    """,
                arguments: [id, last?.timeRange.start.seconds ?? -1, last?.id ?? 0, Self.pageSize]
            )
            let folders = try Self.folders(id, database)
            return rows.compactMap { StoredResource($0, folders) }
        }
    }

    // MARK: Stored files

    /// Enters finished files as stored: from then on they are believed.
    ///
    /// Their names are written to the disk first. A group costs little more than a single file.
    ///
    /// - Throws: ``StorageError``; ``StorageError/Code/notFound`` if the asset was deleted meanwhile.
    public func commit(_ written: [WrittenFile]) throws {
        guard let first = written.first else { return }
        let id = try catalog.read { database in
            try String.fetchOne(
                database,
                sql: "SELECT assetID FROM resource WHERE id = ?",
                arguments: [first.resource.id]
            )
        }
        guard let id else { throw Self.deletedMeanwhile }
        for folder in Set(written.map(\.resource.folder)).sorted() {
            let path = "\(packageDirectory(id).path)/\(folder)"
            do {
                try files.synchronizeFolder(path)
            } catch {
                throw StorageError(error, writing: path)
            }
        }
        try write { database in
            for file in written {
                try database.execute(
                    sql: "UPDATE resource SET bytes = ?, checksum = ? WHERE id = ? AND path = ?",
                    arguments: [file.count, file.checksum, file.resource.id, file.resource.path]
                )
                guard database.changesCount == 1 else { throw Self.deletedMeanwhile }
            }
        }
    }

    private static var deletedMeanwhile: StorageError {
        StorageError(.notFound, "the asset was deleted while it was being downloaded")
    }

    /// Finds stored files that are gone or of another size; they count as missing from then on.
    ///
    /// The caller holds the lock of the asset. Contents are not read; see ``verify(_:)``.
    ///
    /// - Returns: Their paths inside the package.
    @discardableResult
    public func forgetLostFiles(_ id: String) throws -> [String] {
        try forgetFiles(of: id) { path, row in PackageFile.size(path) == row.bytes }
    }

    /// Checks every stored file of an asset by its size and checksum.
    ///
    /// Damaged files count as missing from then on and are fetched by the next download. Playlists are written anew.
    ///
    /// - Throws: ``StorageError/Code/busy`` while the asset is downloaded.
    public func verify(_ id: String) throws -> VerificationResult {
        let lock = try lock(id)
        defer { withExtendedLifetime(lock) {} }
        var withoutChecksum = 0
        var damaged = try forgetFiles(of: id) { path, row in
            guard PackageFile.size(path) == row.bytes else { return false }
            guard let checksum = row.checksum else {
                withoutChecksum += 1
                return true
            }
            return PackageFile.checksum(path) == checksum
        }
        damaged += try writePlaylists(id)
        return VerificationResult(damaged: damaged, withoutChecksum: withoutChecksum)
    }

    private func forgetFiles(
        of id: String,
        unless isIntact: (_ path: String, _ row: ResourceRecord) -> Bool
    ) throws -> [String] {
        let package = packageDirectory(id).path
        var lost: [String] = []
        var last: Int64 = 0
        while true {
            let page = try catalog.read { database in
                _ = try Self.record(id, database)
                return try ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") != nil)
                    .filter(Column("id") > last).order(Column("id")).limit(Self.pageSize).fetchAll(database)
            }
            guard let end = page.last?.id else { return lost }
            last = end
            let damaged = page.filter { !isIntact("\(package)/\($0.path)", $0) }
            guard !damaged.isEmpty else { continue }
            // The catalog first: a file must not be believed that is about to go.
            try write { database in
                for row in damaged {
                    try ResourceRecord.filter(key: row.id)
                        .updateAll(database, Column("bytes").set(to: nil), Column("checksum").set(to: nil))
                }
                try AssetRecord.filter(key: id)
                    .updateAll(database, Column("state").set(to: AssetRecord.State.partial.rawValue))
            }
            for row in damaged {
                // It is replaced by the next download where it cannot be removed now.
                try? files.removeFile("\(package)/\(row.path)")
                lost.append(row.path)
            }
        }
    }

    /// Notes that everything is stored and writes the playlists as they stay.
    ///
    /// - Throws: ``StorageError/Code/incomplete`` if something is missing.
    public func finish(_ id: String) throws {
        try forgetLostFiles(id)
        let missing = try missingCount(id)
        guard missing == 0 else {
            throw StorageError(.incomplete, "\(missing) files of the asset are missing")
        }
        try writePlaylists(id)
        try write { database in
            var record = try Self.record(id, database)
            record.state = .complete
            try record.update(database)
        }
    }

    // MARK: Folders

    /// Creates the folders of an asset's renditions, never that of the asset: one that was deleted is not created again.
    func makeFolders(_ id: String) throws {
        let package = packageDirectory(id).path
        let folders = try catalog.read { database in Set(try Self.folders(id, database).values) }
        do {
            for folder in folders.sorted() { try files.makeFolder("\(package)/\(folder)") }
            try files.synchronizeFolder(package)
        } catch {
            throw StorageError(error, writing: package)
        }
    }

    /// Removes what the catalog does not know: unfinished files, and files of renditions that are no longer planned.
    ///
    /// The caller holds the lock of the asset.
    func removeUnknownFiles(_ id: String) throws {
        let package = packageDirectory(id).path
        func names(in folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
        let folders = try catalog.read { database in Set(try Self.folders(id, database).values) }
        for name in names(in: package) where name != PackageLock.fileName && name != Self.multivariantName {
            let path = "\(package)/\(name)"
            guard folders.contains(name), PackageFile.isFolder(path) else {
                if PackageFile.isFolder(path) { try? files.removeTree(path) } else { try? files.removeFile(path) }
                continue
            }
            let unknown = try catalog.read { database in
                let statement = try database.makeStatement(
                    sql: "SELECT 1 FROM resource WHERE assetID = ? AND path = ? AND bytes IS NOT NULL"
                )
                return try names(in: path).filter { file in
                    guard file != Self.mediaName else { return false }
                    return try Int.fetchOne(statement, arguments: [id, "\(name)/\(file)"]) == nil
                }
            }
            for file in unknown { try? files.removeFile("\(path)/\(file)") }
        }
    }
}

extension StoredResource {
    /// Creates the description of a row of the catalog.
    fileprivate init?(_ record: ResourceRecord, _ folders: [Int64: String]) {
        guard let id = record.id else { return nil }
        self.init(
            id: id,
            kind: record.kind,
            address: ResourceAddress(record.address),
            byteRange: record.rangeStart.flatMap { start in
                record.rangeLength.flatMap { ByteRange(start: start, length: $0) }
            },
            path: record.path,
            folder: folders[record.renditionID] ?? "",
            timeRange: MediaTimeRange(start: record.start, duration: record.duration)
                ?? MediaTimeRange(start: .zero, duration: .zero),
            bytes: record.bytes.map { ByteCount($0) }
        )
    }
}
