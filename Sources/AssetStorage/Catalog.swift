import Foundation
import GRDB
import MediaTiming

/// The catalog of a library, an SQLite database.
///
/// A transaction is on the disk when ``write(_:)`` returns, so it survives a crash of the system.
enum Catalog: Sendable {
    case writable(DatabasePool)
    case readOnly(ReadOnlyCatalog)

    /// The file name of the database in the directory of a library.
    static let fileName = "catalogue.sqlite"

    /// The end of the message for a damaged catalog.
    static let adviceForDamage =
        "; its packages are not affected: give \(fileName) another name, and they are kept in the directory recovered when the "
        + "library is opened for writing the next time"

    /// Opens the catalog at a path, and creates or migrates it if needed.
    static func `open`(_ path: String) throws -> Catalog {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.foreignKeysEnabled = true
        // In KiB. Each connection has a cache, of 2 MiB unless it is set, beside the cache of the system.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -512") }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // GRDB sets NORMAL, with which a system crash may undo the last transactions (sqlite.org/pragma.html).
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            #if canImport(Darwin)
            try database.execute(sql: "PRAGMA fullfsync = 1")
            #endif
        }
        try pool.read { try checkVersion($0) }
        try migrate(pool)
        return .writable(pool)
    }

    /// Creates or changes the tables, also if other processes do so at the same time.
    ///
    /// GRDB reads which migrations are missing before the transactions that apply them. One that another process has applied in
    /// between fails without a change; those that are still missing then are applied.
    private static func migrate(_ pool: DatabasePool) throws {
        var appliedCount = -1
        while true {
            do {
                return try Schema.migrator.migrate(pool)
            } catch {
                let count = try pool.read { try Schema.migrator.appliedIdentifiers($0).count }
                guard count > appliedCount else { throw error }
                appliedCount = count
            }
        }
    }

    /// Verifies that the database was not created by a newer version of the schema.
    ///
    /// - Throws: ``StorageError/Code/tooNew``.
    fileprivate static func checkVersion(_ database: Database) throws {
        guard try Schema.migrator.hasBeenSuperseded(database) else { return }
        throw StorageError(.tooNew, "the library was created by a newer version of Millstream")
    }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Self.convertingErrors {
            switch self {
            case .writable(let pool): try pool.read(body)
            case .readOnly(let catalog): try catalog.read(body)
            }
        }
    }

    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard case .writable(let pool) = self else {
            throw Self.isReadOnly
        }
        return try Self.convertingErrors { try pool.write(body) }
    }

    /// The error of a change to a library that is open for reading only.
    static var isReadOnly: StorageError { StorageError(.cannotOpen, "the library is open for reading only") }

    func close() throws {
        guard case .writable(let pool) = self else { return }
        // The last connection to close merges the log into the database; a read-only connection cannot do this.
        pool.invalidateReadOnlyConnections()
        try Self.convertingErrors { try pool.close() }
    }

    /// Converts errors of the database to ``StorageError``.
    private static func convertingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            let code: StorageError.Code =
                switch error.resultCode {
                case .SQLITE_FULL: .full
                case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
                case .SQLITE_CANTOPEN, .SQLITE_NOTADB, .SQLITE_CORRUPT: .cannotOpen
                default: .disk
                }
            var message = "the catalog of the library failed (\(error.message ?? "\(error.resultCode)"))"
            if [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) { message += adviceForDamage }
            throw StorageError(code, message, cause: error)
        }
    }
}

/// A catalog that is read without any change to its directory, which may be on a read-only file system.
///
/// The database is opened again for each read, so that reads include what other processes stored.
struct ReadOnlyCatalog: Sendable {
    let path: String

    /// The maximum number of attempts to read while another process writes.
    private static let maximumAttempts = 8

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        for _ in 0..<Self.maximumAttempts {
            // A process that has the database open has a write-ahead log and allows concurrent readers.
            guard !hasLog else { return try readBesideWriters(body) }
            // Without a log, SQLite would create one to read. The database is therefore read as an immutable file, and
            // read again if it changed during the read.
            let before = identity
            let result = Result { try open("file:\(Self.uriPath(path))?mode=ro&immutable=1", body) }
            if !hasLog, identity == before { return try result.get() }
        }
        throw StorageError(.busy, "the library \(path) is being changed by another process; try again later")
    }

    private var hasLog: Bool {
        (FileInspection.size(path + "-wal") ?? 0) > 0 || FileInspection.size(path + "-shm") != nil
    }

    private func readBesideWriters<Value>(_ body: (Database) throws -> Value) throws -> Value {
        // Without the shared memory of a writer, SQLite would create it to read the log.
        guard FileInspection.size(path + "-shm") != nil else { return try readCopy(body) }
        do {
            return try open(path, body)
        } catch let error as DatabaseError where [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode) {
            return try readCopy(body)
        }
    }

    /// Reads a copy of the database and its log, because a process ended without closing them and they cannot be used
    /// in place.
    private func readCopy<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("millstream-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let copy = folder.appendingPathComponent(Catalog.fileName).path
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        if FileInspection.size(path + "-wal") != nil {
            try FileManager.default.copyItem(atPath: path + "-wal", toPath: copy + "-wal")
        }
        for name in [copy, copy + "-wal"] { chmod(name, 0o600) }
        return try open(copy, body, isReadOnly: false)
    }

    private func open<Value>(
        _ path: String,
        _ body: (Database) throws -> Value,
        isReadOnly: Bool = true
    ) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(10)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try queue.read { database in
            try Catalog.checkVersion(database)
            guard try database.tableExists(AssetRecord.databaseTableName) else {
                throw StorageError(
                    .cannotOpen,
                    "the catalog of the library is empty: it was lost, or is just being created; when the library is opened for "
                        + "writing the next time, its packages are kept in the directory recovered"
                )
            }
            return try body(database)
        }
    }

    /// The file attributes that change when the file is written; all zero if there is no file.
    private var identity: [Int64] {
        var status = stat()
        _ = stat(path, &status)
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return [Int64(status.st_size), Int64(time.tv_sec), Int64(time.tv_nsec), Int64(clamping: status.st_ino)]
    }

    /// Escapes a path for the `file:` URIs of SQLite (sqlite.org/uri.html).
    private static func uriPath(_ path: String) -> String {
        path.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "?", with: "%3f")
            .replacingOccurrences(of: "#", with: "%23")
    }
}
