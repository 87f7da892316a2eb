public import Foundation
import GRDB
import HLSPlaylist
public import MediaTiming
import MediaTransport
public import ResourceAddressing
import Synchronization

/// A directory of downloaded assets, with a catalog of the stored files.
///
/// A file counts as stored only if the catalog lists it. It is listed, with its size and checksum, after its content is
/// on the disk. Packages that are not in the catalog are moved to the directory `recovered` when the library is opened, or
/// deleted if they have no playlists. Several processes can use a library at the same time.
public final class AssetLibrary: Sendable {
    /// The directory of the library.
    public let directory: URL
    /// The directory with the packages that this object found without an entry in the catalog when it opened the library;
    /// `nil` if there were none.
    ///
    /// A library has such packages if its catalog was lost, or replaced by an older one. Each of them is a directory with an
    /// HLS presentation.
    public var packagesWithoutEntry: URL? { recovery.withLock { $0 } }
    private let recovery = Mutex<URL?>(nil)
    let catalog: Catalog
    let files: any FileOperations
    /// The space for deletions on a full disk; `nil` if the library is open for reading only.
    private let reserve: SpaceReserve?
    /// The path of the directory of all packages.
    private let packagesPath: String
    let receptions = ReceptionRegistry()
    /// The waits of players for media of the library that is not stored.
    let playback: PlaybackActivity
    /// The locks that this process holds to store files, by the identifiers of the assets.
    let locks = Mutex<[String: WeakLock]>([:])
    /// The claims of this process on files that it receives, by the identifiers of the assets.
    let claims = Mutex<[String: WeakClaims]>([:])
    let space = LibrarySpace()
    let evictionObservers = EvictionObservers()

    /// A Boolean value that indicates whether the library was not opened for reading only.
    public var isWritable: Bool {
        switch catalog {
        case .writable: true
        case .readOnly: false
        }
    }

    /// Creates an instance that opens a library, creates its directory if needed, and finishes interrupted deletions.
    ///
    /// - Throws: ``StorageError`` if the directory or the catalog cannot be used.
    public convenience init(directory: URL) throws {
        try self.init(directory: directory, files: SystemFileOperations())
    }

    /// Creates an instance that opens a library and changes its packages through the given file operations.
    package init(directory: URL, files: any FileOperations) throws {
        self.directory = directory.standardizedFileURL
        packagesPath = self.directory.appendingPathComponent("packages").path
        playback = PlaybackActivity(self.directory, packagesPath: packagesPath, isWritable: true)
        self.files = files
        let reserve = SpaceReserve(path: self.directory.appendingPathComponent(SpaceReserve.fileName).path)
        self.reserve = reserve
        do {
            try Self.makePrivate(directory)
            try Self.excludeFromBackup(directory)
            catalog = try reserve.runWhenFull {
                try Catalog.open(directory.appendingPathComponent(Catalog.fileName).path)
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.cannotOpen, Self.cannotOpen(directory, error), cause: error)
        }
        removeUnreferencedPackages()
        finishInterruptedRemovals()
        reserve.fill()
    }

    /// Creates an instance that opens a library for reading only, without any change to its directory, which may be on
    /// a read-only file system.
    ///
    /// Each read includes what other processes stored after the library was opened.
    ///
    /// - Throws: ``StorageError/Code/cannotOpen`` if there is no library.
    public init(reading directory: URL) throws {
        self.directory = directory.standardizedFileURL
        packagesPath = self.directory.appendingPathComponent("packages").path
        playback = PlaybackActivity(self.directory, packagesPath: packagesPath, isWritable: false)
        files = SystemFileOperations()
        reserve = nil
        let path = self.directory.appendingPathComponent(Catalog.fileName).path
        // An empty file is a catalog whose creation was interrupted.
        guard let size = FileInspection.size(path), size > 0 else {
            throw StorageError(.cannotOpen, "there is no library in \(directory.path)")
        }
        catalog = .readOnly(ReadOnlyCatalog(path: path))
    }

    /// Returns the message for a catalog that cannot be opened.
    private static func cannotOpen(_ directory: URL, _ error: any Error) -> String {
        if access(directory.path, W_OK) != 0, errno == EROFS {
            return "the library \(directory.path) cannot be changed, because its disk is read-only"
        }
        let message = "the library \(directory.path) cannot be opened (\(reason(error)))"
        let code =
            (error as? DatabaseError)?.resultCode ?? ((error as? StorageError)?.cause as? DatabaseError)?.resultCode
        guard code == .SQLITE_NOTADB || code == .SQLITE_CORRUPT else { return message }
        return message + Catalog.adviceForDamage
    }

    /// Returns a Boolean value that indicates whether the library in a directory has packages, but no catalog.
    public static func lacksCatalog(_ directory: URL) -> Bool {
        let packages = directory.appendingPathComponent("packages").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: packages)) ?? []
        let size = FileInspection.size(directory.appendingPathComponent(Catalog.fileName).path) ?? 0
        return size == 0 && names.contains { hasPresentation("\(packages)/\($0)") }
    }

    private static func hasPresentation(_ package: String) -> Bool {
        FileInspection.size("\(package)/\(multivariantName)") != nil
    }

    /// Moves a package that is not in the catalog to the directory of such packages.
    private func setAside(_ package: URL) throws {
        let folder = directory.appendingPathComponent("recovered")
        try files.makeFolder(folder.path)
        var (target, number) = (folder.appendingPathComponent(package.lastPathComponent), 1)
        while FileInspection.isFolder(target.path) {
            number += 1
            target = folder.appendingPathComponent("\(package.lastPathComponent)-\(number)")
        }
        try files.rename(package.path, to: target.path)
        recovery.withLock { $0 = folder }
    }

    /// Closes the catalog and merges its write-ahead log into the database.
    ///
    /// The library cannot be used after this call.
    public func close() throws { try catalog.close() }

    /// The default directory of the library: `$MILLSTREAM_LIBRARY` if set, otherwise in the data directory of the
    /// platform.
    public static var defaultDirectory: URL { defaultDirectory(environment: ProcessInfo.processInfo.environment) }

    /// Returns the default directory of the library for the given environment variables.
    static func defaultDirectory(environment: [String: String]) -> URL {
        if let named = environment["MILLSTREAM_LIBRARY"], !named.isEmpty { return URL(fileURLWithPath: named) }
        #if os(Linux)
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return URL(fileURLWithPath: data).appendingPathComponent("millstream")
        }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        return (home ?? FileManager.default.homeDirectoryForCurrentUser).appendingPathComponent(
            ".local/share/millstream"
        )
        #else
        return URL.applicationSupportDirectory.appendingPathComponent("Millstream")
        #endif
    }

    /// Returns all assets, newest first.
    public func assets() throws -> [StoredAsset] {
        try catalog.read { try Self.fetchAssets($0) }
    }

    /// Returns the asset with the given identifier.
    ///
    /// - Throws: ``StorageError/Code/notFound``.
    public func asset(_ id: String) throws -> StoredAsset {
        try catalog.read { database in try Self.asset(try Self.record(id, database), database) }
    }

    /// Returns the asset with the given source URL; `nil` if there is none.
    public func asset(source: ResourceAddress) throws -> StoredAsset? {
        try catalog.read { database in
            try AssetRecord.filter(Column("source") == source.text)
                .filter(Column("state") != AssetRecord.State.deleting.rawValue)
                .fetchOne(database).map { try Self.asset($0, database) }
        }
    }

    /// Returns the directory of the package of an asset.
    public func packageDirectory(_ id: String) -> URL { URL(fileURLWithPath: packagePath(id), isDirectory: true) }

    /// Returns a Boolean value that indicates whether the package of an asset is in its directory.
    package func hasPackage(_ id: String) -> Bool { FileInspection.isFolder(packagePath(id)) }

    /// Returns the path of the directory of the package of an asset.
    func packagePath(_ id: String) -> String { "\(packagesPath)/\(id)" }

    /// Returns the URL of a stored file of a package; `nil` if the path leaves the package or the file is not stored.
    ///
    /// Playlists (`.m3u8`) only have to exist. Any other file must also have the size that the catalog lists.
    public func file(_ path: String, of id: String) -> URL? {
        openedFile(path, of: id) == nil ? nil : packageDirectory(id).appendingPathComponent(path)
    }

    /// Opens a stored file of a package; `nil` if ``file(_:of:)`` returns none.
    ///
    /// A file that is reached over a symbolic link below the folder of the packages is not part of a package.
    package func openedFile(_ path: String, of id: String) -> ContainedFile? {
        let components = path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        guard Self.isIdentifier(id), components.allSatisfy({ !$0.hasPrefix(".") }),
            let file = ContainedFile([id] + components, in: packagesPath), file.kind == .file
        else { return nil }
        if path.hasSuffix(".m3u8") { return file }
        let stored = try? catalog.read { database in
            try Int64.fetchOne(
                database,
                sql: "SELECT bytes FROM resource WHERE assetID = ? AND path = ?",
                arguments: [id, path]
            )
        }
        return stored == Int64(file.size) ? file : nil
    }

    /// Returns a Boolean value that indicates whether the directory of a file is in the package, and not reached over a symbolic
    /// link.
    func hasFolder(of resource: StoredResource, _ id: String) -> Bool {
        let components = resource.path.split(separator: "/").dropLast().map { String($0) }
        return ContainedFile([id] + components, in: packagesPath)?.kind == .folder
    }

    /// The number of bytes that can still be stored; `nil` if the system does not report it.
    public var freeSpace: ByteCount? { files.freeSpace(at: directory.path).map { ByteCount($0) } }

    /// Deletes an asset and all its files; deleting it again has no effect.
    ///
    /// - Throws: ``StorageError/Code/busy`` while the asset is being downloaded; the asset is not deleted then.
    public func delete(_ id: String) throws {
        guard Self.isIdentifier(id) else { return }
        var reservation = reserveForDeletion(id)
        for _ in 0..<Self.lockAttempts {
            guard case .failure(let error) = reservation, error.code == .busy else { break }
            // Another task is already deleting the asset.
            if try isDeleting(id) { return }
            files.waitForLock()
            reservation = reserveForDeletion(id)
        }
        let lock = try reservation.get()
        defer { withExtendedLifetime(lock) {} }
        let isKnown = try runWhenFull {
            try write { database in
                try AssetRecord.filter(key: id).updateAll(
                    database,
                    Column("state").set(to: AssetRecord.State.deleting.rawValue)
                ) > 0
            }
        }
        guard isKnown else { return }
        try finishDeletion(id)
    }

    /// The maximum number of attempts of a deletion to acquire the lock.
    private static let lockAttempts = 10

    /// Acquires the lock of an asset; `nil` if its directory was never created or is already deleted.
    private func reserveForDeletion(_ id: String) -> Result<PackageLock?, StorageError> {
        do {
            return .success(try PackageLock(packageDirectory(id)))
        } catch {
            switch error.code {
            case .notFound: return .success(nil)
            case .busy:
                let message = "the asset \(id) is in use: stop its download first, then delete it"
                return .failure(StorageError(.busy, message))
            default: return .failure(error)
            }
        }
    }

    /// Locks an asset for one writer.
    ///
    /// - Throws: ``StorageError/Code/busy`` if another writer holds the lock, ``StorageError/Code/notFound`` if the
    ///   asset was deleted, ``StorageError/Code/moved`` if only its package is missing.
    package func lock(_ id: String) throws -> PackageLock {
        guard Self.isIdentifier(id) else { throw Self.notFound(id) }
        let lock = try lockIfPresent(id)
        do {
            _ = try catalog.read { try Self.record(id, $0) }
        } catch let error as StorageError where error.code == .notFound {
            // The directory was created while the asset was being deleted.
            if lock != nil { try? files.removeTree(packagePath(id), last: PackageLock.fileName) }
            throw error
        }
        guard let lock else { throw movedPackage(id) }
        return lock
    }

    /// Locks a package; `nil` if it has no directory.
    private func lockIfPresent(_ id: String) throws(StorageError) -> PackageLock? {
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try PackageLock(packageDirectory(id))
            } catch {
                if error.code == .notFound { return nil }
                // A process that plans a download of the asset holds the lock for a moment.
                guard error.code == .busy, attempt < Self.lockAttempts else { throw error }
                files.waitForLock()
            }
        }
    }

    /// Limits the size of the catalog in database pages, so that a test can simulate a full disk.
    package func limitCatalog(toPages count: Int) throws {
        guard case .writable(let pool) = catalog else { return }
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(count)") }
    }

    // MARK: Implementation

    /// Returns the description of the innermost underlying error.
    static func reason(_ error: any Error) -> String {
        if let error = error as? DatabaseError { return error.message ?? "SQLite error \(error.resultCode.rawValue)" }
        if let error = error as? StorageError { return error.message }
        var error = error as NSError
        while let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError { error = inner }
        guard error.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(clamping: error.code)))
    }

    static func record(_ id: String, _ database: Database) throws -> AssetRecord {
        guard let record = try AssetRecord.fetchOne(database, key: id), record.state != .deleting else {
            throw notFound(id)
        }
        return record
    }

    /// Returns a Boolean value that indicates whether a text is a valid package name, which cannot lead to another
    /// directory.
    static func isIdentifier(_ text: String) -> Bool {
        !text.isEmpty && text.count <= 64
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    /// Runs a transaction, which is on the disk when this method returns.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let value = try catalog.write(body)
        files.catalogDidCommit()
        return value
    }

    /// Runs an operation that leads to free space, also on a full disk.
    func runWhenFull<Value>(_ operation: () throws -> Value) throws -> Value {
        guard let reserve else { return try operation() }
        return try reserve.runWhenFull(operation)
    }

    private func isDeleting(_ id: String) throws -> Bool {
        let state = try catalog.read { try AssetRecord.fetchOne($0, key: id)?.state }
        return state == nil || state == .deleting
    }

    /// Removes the files of an asset that is marked as being deleted.
    ///
    /// The caller must hold the lock of the asset, unless the package has no directory.
    private func finishDeletion(_ id: String) throws {
        let package = packagePath(id)
        do {
            // The lock file is removed last, so that no other task can lock the package while its files are removed.
            try files.removeTree(package, last: PackageLock.fileName)
        } catch {
            throw StorageError(.disk, "the package \(package) cannot be deleted (\(error.reason))", cause: error)
        }
        _ = try runWhenFull { try write { database in try AssetRecord.deleteOne(database, key: id) } }
        reserve?.fill()
    }

    /// Finishes interrupted deletions, and removes packages that are not in the catalog, or sets them aside if they have
    /// playlists, unless another task has locked them.
    private func removeUnreferencedPackages() {
        let packages = directory.appendingPathComponent("packages")
        // The directory is listed before the catalog is read: an asset is entered in the catalog before its package is
        // created, so a listed package that is not in the catalog belongs to no asset, even if other processes change
        // the library.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: packages.path)) ?? []
        guard
            let (deleting, known) = try? catalog.read({ database in
                (
                    try String.fetchAll(
                        database,
                        sql: "SELECT id FROM asset WHERE state = ?",
                        arguments: [AssetRecord.State.deleting.rawValue]
                    ),
                    try String.fetchSet(database, sql: "SELECT id FROM asset")
                )
            })
        else { return }
        for id in deleting { try? delete(id) }
        for name in names where !known.contains(name) && Self.isIdentifier(name) {
            let package = packages.appendingPathComponent(name)
            guard FileInspection.isFolder(package.path), let lock = try? PackageLock(package) else { continue }
            // A package with playlists had an entry: the catalog was lost or replaced by an older one.
            if Self.hasPresentation(package.path) {
                try? setAside(package)
            } else {
                try? files.removeTree(package.path, last: PackageLock.fileName)
            }
            withExtendedLifetime(lock) {}
        }
    }

    /// Excludes the library from backups: on Linux by the Cache Directory Tagging Specification, elsewhere by a file
    /// attribute.
    private static func excludeFromBackup(_ directory: URL) throws {
        #if os(Linux)
        let tag = directory.appendingPathComponent("CACHEDIR.TAG")
        guard !FileManager.default.fileExists(atPath: tag.path) else { return }
        let text =
            "Signature: 8a477f597d28d172789f06886806bc55\n# Streams downloaded by Millstream; they can be downloaded again.\n"
        try PrivateFiles.write(Array(text.utf8), to: tag.path)
        #else
        var url = directory
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        #endif
    }
}
