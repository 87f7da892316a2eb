import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
package import ResourceAddressing

/// A finished file of a package whose content is on the disk, but which is not yet in the catalog.
package struct WrittenFile: Sendable {
    let resource: StoredResource
    let count: Int64
    let checksum: Int64

    /// Creates the description of a finished file.
    package init(_ resource: StoredResource, _ file: PackageFile) {
        self.resource = resource
        count = file.count
        checksum = file.checksum
    }
}

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

    /// Creates a result.
    public init(damaged: [String], withoutChecksum: Int, unknown: [String] = []) {
        self.damaged = damaged
        self.withoutChecksum = withoutChecksum
        self.unknown = unknown
    }
}

extension AssetLibrary {
    /// The maximum number of catalog rows in memory at the same time.
    static let pageSize = 1_000

    /// Returns a file object to write a resource with.
    package func makePackageFile(for resource: StoredResource, of id: String) -> PackageFile {
        PackageFile("\(packagePath(id))/\(resource.path)", files: files)
    }

    /// Returns a Boolean value that indicates whether segments of the media playlist that contains a file may be encrypted,
    /// including segments that are not stored.
    ///
    /// The result is `true` if the source can have other segments that have a key: those outside a time range, or those that
    /// appear during a recording.
    package func mayNameKeys(_ resource: StoredResource) throws -> Bool {
        let rendition = try catalog.read { database -> RenditionRecord? in
            let row = try ResourceRecord.filter(Column("assetID") == resource.assetID)
                .filter(Column("path") == resource.path).fetchOne(database)
            return try row.flatMap { try RenditionRecord.fetchOne(database, key: $0.renditionID) }
        }
        guard let rendition, rendition.isPart != true else { return true }
        return try MediaPlaylist(parsing: rendition.playlistBytes).segments.contains { !$0.keys.isEmpty }
    }

    /// Returns a Boolean value that indicates whether a stored segment of the media playlist that contains a file is
    /// encrypted; `true` if the playlist is unknown.
    package func namesKeys(for resource: StoredResource) throws -> Bool {
        let bytes = try catalog.read { database -> [UInt8]? in
            let row = try ResourceRecord.filter(Column("assetID") == resource.assetID)
                .filter(Column("path") == resource.path).fetchOne(database)
            return try row.flatMap { try RenditionRecord.fetchOne(database, key: $0.renditionID) }?
                .entirePlaylist(database)
        }
        guard let bytes else { return true }
        return try MediaPlaylist(parsing: bytes).segments.contains { !$0.keys.isEmpty }
    }

    /// Returns the initialization sections of an asset that are stored.
    package func storedInitializationSections(_ id: String) throws -> [StoredResource] {
        try catalog.read { database in
            let folders = try Self.folders(id, database)
            return try ResourceRecord.filter(Column("assetID") == id)
                .filter(Column("kind") == StoredResource.Kind.initialization.rawValue)
                .filter(Column("bytes") != nil).fetchAll(database).compactMap { StoredResource($0, folders) }
        }
    }

    /// Returns all files of an asset in the order in which its playlists name them.
    package func resources(_ id: String) throws -> [StoredResource] {
        try catalog.read { database in
            _ = try Self.record(id, database)
            let folders = try Self.folders(id, database)
            return try ResourceRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
                .compactMap { StoredResource($0, folders) }
        }
    }

    /// Returns the file at a path relative to the package; `nil` if the asset has no such file.
    func resource(at path: String, of id: String) throws -> StoredResource? {
        try catalog.read { database in
            _ = try Self.record(id, database)
            let row = try ResourceRecord.filter(Column("assetID") == id).filter(Column("path") == path)
                .fetchOne(database)
            return try row.flatMap { StoredResource($0, try Self.folders(id, database)) }
        }
    }

    static func folders(_ id: String, _ database: Database) throws -> [Int64: String] {
        let records = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
        return Dictionary(uniqueKeysWithValues: records.compactMap { record in record.id.map { ($0, record.folder) } })
    }

    // MARK: Missing files

    /// Returns the number of files that are not stored.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - folders: The directories of the media playlists that are counted; `nil` for all.
    /// - Returns: The number of files.
    /// - Throws: ``StorageError``.
    public func missingCount(_ id: String, in folders: Set<String>? = nil) throws -> Int {
        try catalog.read { database in
            _ = try Self.record(id, database)
            let missing = ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") == nil)
            guard let renditions = try Self.renditions(in: folders, of: id, database) else {
                return try missing.fetchCount(database)
            }
            return try missing.filter(renditions.contains(Column("renditionID"))).fetchCount(database)
        }
    }

    /// Returns the identifiers of the renditions in directories; `nil` for all renditions.
    private static func renditions(in folders: Set<String>?, of id: String, _ database: Database) throws -> [Int64]? {
        guard let folders else { return nil }
        return try Self.folders(id, database).filter { folders.contains($0.value) }.map(\.key)
    }

    /// Returns all files that are not stored, in the order of their media time.
    ///
    /// Keys and initialization sections have the start time of the first segment that needs them, and precede it. I-frames
    /// follow all other files.
    package func missingResources(_ id: String) throws -> [StoredResource] {
        var result: [StoredResource] = []
        while true {
            let page = try missingResources(id, after: result.last)
            guard !page.isEmpty else { return result }
            result += page
        }
    }

    /// Returns the next page of files that are not stored, with at most 1,000 files.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - last: The last file of the previous page; `nil` for the first page.
    ///   - folders: The directories of the media playlists whose files are returned; `nil` for all.
    ///   - onlyLost: A Boolean value that indicates whether files that were never stored are left out.
    /// - Returns: The files in the order of ``missingResources(_:)``; empty after the last page.
    /// - Throws: ``StorageError``.
    package func missingResources(
        _ id: String,
        after last: StoredResource?,
        in folders: Set<String>? = nil,
        onlyLost: Bool = false
    ) throws -> [StoredResource] {
        try catalog.read { database in
            _ = try Self.record(id, database)
            let renditions = try Self.renditions(in: folders, of: id, database)
            // The identifiers are integers, so they can be part of the SQL text.
            let list = renditions.map { "AND renditionID IN (\($0.map(String.init).joined(separator: ",")))" } ?? ""
            let rows = try ResourceRecord.fetchAll(
                database,
                sql: """
                    SELECT * FROM resource WHERE assetID = ? AND bytes IS NULL AND (startTime, id) > (?, ?)
                    \(list) \(onlyLost ? "AND isLost" : "") ORDER BY startTime, id LIMIT ?
                    """,
                arguments: [id, last?.order ?? -1, last?.id ?? 0, Self.pageSize]
            )
            let folders = try Self.folders(id, database)
            return rows.compactMap { StoredResource($0, folders) }
        }
    }

    // MARK: Stored files

    /// Marks finished files as stored in the catalog.
    ///
    /// The directories are synchronized to the disk first, so that the names of the files survive a crash. Committing a
    /// group of files costs little more than committing one.
    ///
    /// - Throws: ``StorageError``; ``StorageError/Code/notFound`` if the asset was deleted in the meantime.
    package func commit(_ written: [WrittenFile]) throws {
        guard !written.isEmpty else { return }
        let folders = Set(written.map { "\(packagePath($0.resource.assetID))/\($0.resource.folder)" })
        for path in folders.sorted() {
            do {
                try files.synchronizeFolder(path)
            } catch {
                if error.number == ENOENT { throw Self.deletedMeanwhile }
                throw StorageError(error, writing: path)
            }
        }
        try write { database in
            for file in written {
                // Rows are found by path and URL instead of id, because planning a download in the meantime replaces them.
                let resource = file.resource
                try database.execute(
                    sql: """
                        UPDATE resource SET bytes = ?, checksum = ?, isLost = NULL
                        WHERE assetID = ? AND path = ? AND address = ? AND rangeStart IS ? AND rangeLength IS ?
                        """,
                    arguments: [
                        file.count, file.checksum, resource.assetID, resource.path, resource.address.text,
                        resource.byteRange?.start, resource.byteRange?.length,
                    ]
                )
                guard database.changesCount == 1 else { throw Self.deletedMeanwhile }
            }
        }
    }

    /// The error of a download whose asset was deleted by another task or process.
    package static var deletedMeanwhile: StorageError {
        StorageError(.notFound, "the asset was deleted while it was being downloaded")
    }

    /// Returns a Boolean value that indicates whether an asset can be played without a network, with the files that are on
    /// the disk now.
    ///
    /// ``StoredAsset/isPlayableOffline`` is the state of the catalog, which does not know what another program removed.
    public func isPlayableOffline(_ id: String) -> Bool {
        guard let asset = try? asset(id), asset.isPlayableOffline else { return false }
        let folder = packagePath(id)
        let playlists = [Self.multivariantName] + asset.renditions.map { "\($0.folder)/\(Self.mediaName)" }
        guard playlists.allSatisfy({ PackageFile.size("\(folder)/\($0)") != nil }) else { return false }
        return
            (try? catalog.read { database in
                let rows = try ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") != nil)
                    .fetchCursor(database)
                while let row = try rows.next() {
                    guard PackageFile.size("\(folder)/\(row.path)") == row.bytes else { return false }
                }
                return true
            }) ?? false
    }

    /// Marks stored files that are missing or have another size as not stored.
    ///
    /// The caller must hold the lock of the asset. The content of the files is not read; see ``verify(_:)``.
    ///
    /// - Returns: The paths of these files, relative to the package.
    /// - Throws: ``StorageError``; ``StorageError/Code/disk`` if the system cannot say whether a file is there, in which
    ///   case nothing is changed.
    @discardableResult
    public func removeMissingFilesFromCatalog(_ id: String) throws -> [String] {
        try removeFilesFromCatalog(of: id) { path, row in try PackageFile.verifiedSize(path) == row.bytes }
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
            guard try PackageFile.verifiedSize(path) == row.bytes else { return false }
            guard let checksum = row.checksum else {
                withoutChecksum += 1
                return true
            }
            return try PackageFile.hasChecksum(checksum, path)
        }
        // What an earlier verification found is still missing.
        damaged = try damaged + lostFiles(id).filter { [found = Set(damaged)] in !found.contains($0) }
        damaged += try writePlaylists(id)
        return VerificationResult(
            damaged: damaged,
            withoutChecksum: withoutChecksum,
            unknown: try unreferencedFiles(id)
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
        _ = try removeFilesFromCatalog(of: id) { _, row in row.kind != .key || row.address != address.text }
    }

    /// Marks an asset as complete and writes its final playlists.
    ///
    /// - Throws: ``StorageError/Code/incomplete`` if a file is missing.
    public func finish(_ id: String) throws {
        try removeMissingFilesFromCatalog(id)
        let missing = try missingCount(id)
        guard missing == 0 else {
            let count = missing == 1 ? "1 file of the asset is" : "\(missing) files of the asset are"
            throw StorageError(.incomplete, "\(count) missing")
        }
        try writePlaylists(id)
        try shareStoredFiles(of: id)
        let usage = DiskUsage(of: packageDirectory(id))
        try write { database in
            var record = try Self.record(id, database)
            record.state = .complete
            try record.update(database)
            try Self.saveSummary(of: id, usage, database)
        }
    }

    /// Removes I-frame playlists with files that could not be fetched; the presentation can be played without them.
    package func removeIncompleteIFrames(_ id: String) throws {
        let isChanged = try write { database in
            let renditions = try RenditionRecord.filter(Column("assetID") == id)
                .filter(Column("role") == StoredRendition.Role.iFrames.rawValue).fetchAll(database)
            var isChanged = false
            for rendition in renditions {
                let missing = try ResourceRecord.filter(Column("renditionID") == rendition.id)
                    .filter(Column("bytes") == nil).fetchCount(database)
                guard missing > 0 else { continue }
                try rendition.delete(database)
                isChanged = true
            }
            return isChanged
        }
        guard isChanged else { return }
        try removeUnreferencedFiles(id)
        try writePlaylists(id)
    }

    // MARK: Directories

    /// Creates the directories of the renditions of an asset, but not its package, so that a deleted asset is not
    /// recreated.
    func makeFolders(_ id: String) throws {
        let package = packagePath(id)
        let folders = try catalog.read { database in Set(try Self.folders(id, database).values) }
        do {
            for folder in folders.sorted() { try files.makeFolder("\(package)/\(folder)") }
            try files.synchronizeFolder(package)
        } catch {
            throw StorageError(error, writing: package)
        }
    }

    /// The names of the files that each package has beside its renditions.
    private static let ownNames: Set = [PackageLock.fileName, ReceptionClaims.fileName, multivariantName]

    /// Removes files that the catalog does not need: unfinished files of resources that are already stored, and files of
    /// renditions that are no longer planned.
    ///
    /// The caller must hold the lock of the asset.
    func removeUnreferencedFiles(_ id: String) throws {
        for path in try unreferencedFiles(id) {
            // A directory inside the directory of a rendition was made by another program, and is not removed.
            if path.contains("/") {
                try? files.removeFile("\(packagePath(id))/\(path)")
            } else {
                removeItem(path, of: id)
            }
        }
    }

    /// Removes the files of a package that do not belong to its asset, such as those that another program has put there.
    ///
    /// - Returns: Their paths relative to the package.
    /// - Throws: ``StorageError/Code/busy`` while the asset is being downloaded.
    @discardableResult
    public func removeUnknownFiles(_ id: String) throws -> [String] {
        let lock = try lock(id)
        defer { withExtendedLifetime(lock) {} }
        let unknown = try unreferencedFiles(id)
        for path in unknown { removeItem(path, of: id) }
        let usage = DiskUsage(of: packageDirectory(id))
        if !unknown.isEmpty { try write { try Self.saveSummary(of: id, usage, $0) } }
        return unknown
    }

    /// Removes a file or a directory of a package, which may have been removed already.
    private func removeItem(_ path: String, of id: String) {
        let path = "\(packagePath(id))/\(path)"
        if PackageFile.isFolder(path) { try? files.removeTree(path) } else { try? files.removeFile(path) }
    }

    /// Returns the paths, relative to the package, of files and directories that are not in the catalog.
    private func unreferencedFiles(_ id: String) throws -> [String] {
        let package = packagePath(id)
        var found: [String] = []
        func names(in folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
        let folders = try catalog.read { database in Set(try Self.folders(id, database).values) }
        for name in names(in: package) where !Self.ownNames.contains(name) {
            let path = "\(package)/\(name)"
            guard folders.contains(name), PackageFile.isFolder(path) else {
                found.append(name)
                continue
            }
            let unknown = try catalog.read { database in
                let statement = try database.makeStatement(
                    sql: "SELECT bytes IS NOT NULL FROM resource WHERE assetID = ? AND path = ?"
                )
                return try names(in: path).filter { file in
                    guard file != Self.mediaName else { return false }
                    // An unfinished file and its note are needed until the file is stored.
                    let unfinished = [PackageFile.partialExtension, UnfinishedFile.fileExtension]
                        .first { file.hasSuffix($0) }
                    let stored = unfinished.map { "\(file.dropLast($0.count))" } ?? file
                    let arguments: StatementArguments = [id, "\(name)/\(stored)"]
                    guard let row = try Row.fetchOne(statement, arguments: arguments) else { return true }
                    let isStored: Bool = row[0]
                    guard isStored == (unfinished != nil) else { return false }
                    // A player may have received the file, and is about to enter it in the catalog.
                    return unfinished != nil || !isBeingReceived("\(name)/\(file)", id)
                }
            }
            found += unknown.map { "\(name)/\($0)" }
        }
        return found.sorted()
    }
}

extension StoredResource {
    /// Creates the description of a file from its catalog row.
    init?(_ record: ResourceRecord, _ folders: [Int64: String]) {
        guard let id = record.id else { return nil }
        self.init(
            id: id,
            assetID: record.assetID,
            kind: record.kind,
            address: ResourceAddress(record.address),
            byteRange: record.rangeStart.flatMap { start in
                record.rangeLength.flatMap { ByteRange(start: start, length: $0) }
            },
            path: record.path,
            folder: folders[record.renditionID] ?? "",
            timeRange: MediaTimeRange(start: record.start, duration: record.duration)
                ?? MediaTimeRange(start: .zero, duration: .zero),
            order: record.startTime ?? 0,
            bytes: record.bytes.map { ByteCount($0) }
        )
    }
}
