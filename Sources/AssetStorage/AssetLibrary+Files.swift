import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing

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
        let bytes = try catalog.read { database -> [UInt8]? in
            let row = try ResourceRecord.filter(Column("assetID") == resource.assetID)
                .filter(Column("path") == resource.path).fetchOne(database)
            let rendition = try row.flatMap { try RenditionRecord.fetchOne(database, key: $0.renditionID) }
            guard let rendition, rendition.isPart != true else { return nil }
            return try rendition.playlistBytes(database)
        }
        guard let bytes else { return true }
        return try MediaPlaylist(parsing: bytes).segments.contains { !$0.keys.isEmpty }
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
        let count: Int64 = written.reduce(0) { $0 +| $1.count }
        // Counted before the transaction is visible, so that no measurement takes the bytes for those of another process.
        space.enter(count)
        var isCommitted = false
        defer { if !isCommitted { space.enter(0 -| count) } }
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
            try StorageLimitsRecord.addEnteredBytes(count, database)
        }
        isCommitted = true
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
        // Files of other variants and renditions are not needed.
        guard let played = try? playableFolders(of: id), !played.isEmpty else { return false }
        let folder = packagePath(id)
        let playlists = [Self.multivariantName] + played.map { "\($0)/\(Self.mediaName)" }
        guard playlists.allSatisfy({ FileInspection.size("\(folder)/\($0)") != nil }) else { return false }
        return
            (try? catalog.read { database in
                let folders = try Self.folders(id, database)
                let rows = try ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") != nil)
                    .fetchCursor(database)
                while let row = try rows.next() {
                    guard folders[row.renditionID].map({ played.contains($0) }) == true else { continue }
                    guard FileInspection.size("\(folder)/\(row.path)") == row.bytes else { return false }
                }
                return true
            }) ?? false
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
