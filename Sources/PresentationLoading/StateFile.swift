package import DASHTranslation
import Foundation
import GRDB
import MediaTiming
import MediaTransport
import ResourceAddressing

/// A file that stores what a program must know after a restart about the live presentations that it translates or edits.
///
/// The file is an SQLite database, which survives the end of the process at any moment. Only its owner can read it, because URLs of
/// manifests can contain secrets. All calls block.
package final class StateFile: Sendable {
    /// The maximum sizes of a file.
    package struct Limits: Sendable {
        /// The maximum number of bytes of one value; 16 MiB by default.
        package var valueSize = 16 << 20
        /// The maximum number of values of each kind, of which the least recently stored are removed unless they are protected; 2,048
        /// by default.
        package var valueCount = 2_048
        /// The maximum size of all values of each kind together, of which the least recently stored are removed unless they are
        /// protected; 64 MiB by default.
        package var totalSize = 64 << 20

        /// Creates the default limits.
        package init() {}
    }

    /// The kinds of values.
    package enum Kind: Int64, Sendable {
        /// The numbers of a translated presentation.
        case translation = 1
        /// The breaks of an edited playlist.
        case breaks = 2
    }

    /// A value with the number of its version.
    package struct Value: Sendable {
        /// The bytes.
        package let bytes: [UInt8]
        /// The number of times that the value was stored.
        package let revision: Int64
    }

    /// The path of the file.
    package let path: String
    /// The maximum sizes.
    package let limits: Limits
    private let database: DatabaseQueue

    /// The identifier of the form, which SQLite stores in the header of the file ("MSst").
    private static let form: Int64 = 0x4D53_7374
    private static let version: Int64 = 1

    /// Creates an instance that opens a file, which is created if it does not exist.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - limits: The maximum sizes.
    /// - Throws: ``StateFileError`` if the file cannot be read, is damaged or has a newer form.
    package init(_ path: String, limits: Limits = Limits()) throws {
        self.path = path
        self.limits = limits
        do {
            try PrivateFiles.createFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
            // SQLite gives its other files the mode of this one.
            if !FileManager.default.fileExists(atPath: path) { try PrivateFiles.write([], to: path) }
        } catch {
            throw StateFileError(
                .unreadable,
                "the state file \(path) cannot be created (\(FileErrorText.reason(of: error)))"
            )
        }
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.journalMode = .wal
        do {
            database = try DatabaseQueue(path: path, configuration: configuration)
            try database.write { try Self.prepare($0, path) }
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_NOTADB, .SQLITE_CORRUPT: throw Self.damaged(path)
            default:
                throw StateFileError(
                    .unreadable,
                    "the state file \(path) cannot be read (\(error.message ?? "SQLite"))"
                )
            }
        }
    }

    private static func prepare(_ database: Database, _ path: String) throws {
        let form = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let version = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let isEmpty = try Int64.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
        guard isEmpty || form == Self.form else { throw damaged(path) }
        guard version <= Self.version else {
            throw StateFileError(.tooNew, "the state file \(path) was written by a newer version of the program")
        }
        guard isEmpty else { return }
        try database.execute(
            sql: """
                CREATE TABLE value (
                    kind INTEGER NOT NULL,
                    key TEXT NOT NULL,
                    bytes BLOB NOT NULL,
                    revision INTEGER NOT NULL,
                    change INTEGER NOT NULL,
                    PRIMARY KEY (kind, key)
                );
                CREATE INDEX valueByChange ON value (kind, change);
                PRAGMA application_id = \(Self.form);
                PRAGMA user_version = \(Self.version);
                """
        )
    }

    private static func damaged(_ path: String) -> StateFileError {
        StateFileError(
            .damaged,
            "the state file \(path) is damaged or another file: delete it to begin with new numbers"
        )
    }

    private func failure(_ error: any Error) -> StateFileError {
        StateFileError(
            .failed,
            "the state file \(path) cannot be used (\((error as? DatabaseError)?.message ?? "\(error)"))"
        )
    }

    // MARK: Values

    /// Returns a value, or `nil` if none is stored.
    ///
    /// - Throws: ``StateFileError`` if the file cannot be read.
    package func value(_ kind: Kind, of key: String) throws -> Value? {
        do {
            return try database.read { database in
                try Row.fetchOne(
                    database,
                    sql: "SELECT bytes, revision FROM value WHERE kind = ? AND key = ?",
                    arguments: [kind.rawValue, key]
                ).map { Value(bytes: [UInt8]($0["bytes"] as Data), revision: $0["revision"]) }
            }
        } catch { throw failure(error) }
    }

    /// Stores a value, unless another one was stored in the meantime.
    ///
    /// - Parameters:
    ///   - bytes: The value.
    ///   - kind: The kind of the value.
    ///   - key: The key of the value.
    ///   - revision: The version that the value replaces, 0 for none; `nil` to replace any version.
    ///   - protectedKeys: The keys of values of this kind that are not removed, whatever their size.
    /// - Returns: A Boolean value that indicates whether the value was stored.
    /// - Throws: ``StateFileError`` if the file cannot be written, or if the value exceeds the maximum size.
    package func store(
        _ bytes: [UInt8],
        _ kind: Kind,
        of key: String,
        replacing revision: Int64? = nil,
        protecting protectedKeys: Set<String> = []
    ) throws -> Bool {
        guard bytes.count <= limits.valueSize else {
            throw StateFileError(.failed, "a value of \(bytes.count) bytes is too large for the state file \(path)")
        }
        do {
            return try database.write { database in
                let known = try Int64.fetchOne(
                    database,
                    sql: "SELECT revision FROM value WHERE kind = ? AND key = ?",
                    arguments: [kind.rawValue, key]
                )
                guard revision == nil || revision == known ?? 0 else { return false }
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO value (kind, key, bytes, revision, change)
                        VALUES (?, ?, ?, ?, (SELECT coalesce(max(change), 0) + 1 FROM value))
                        """,
                    arguments: [kind.rawValue, key, Data(bytes), (known ?? 0) +| 1]
                )
                try removeExcess(kind, protectedKeys.union([key]), in: database)
                return true
            }
        } catch { throw failure(error) }
    }

    /// Removes the least recently stored values of a kind while all of them exceed the limits.
    private func removeExcess(_ kind: Kind, _ protectedKeys: Set<String>, in database: Database) throws {
        func sum(_ expression: String) throws -> Int {
            let sql = "SELECT \(expression) FROM value WHERE kind = ?"
            return try Int.fetchOne(database, sql: sql, arguments: [kind.rawValue]) ?? 0
        }
        var number = try sum("count(*)")
        var size = try sum("coalesce(sum(length(bytes)), 0)")
        guard number > limits.valueCount || size > limits.totalSize else { return }
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT key, length(bytes) AS size FROM value WHERE kind = ? ORDER BY change",
            arguments: [kind.rawValue]
        )
        for row in rows where number > limits.valueCount || size > limits.totalSize {
            let key: String = row["key"]
            guard !protectedKeys.contains(key) else { continue }
            try database.execute(
                sql: "DELETE FROM value WHERE kind = ? AND key = ?",
                arguments: [kind.rawValue, key]
            )
            let rowSize: Int = row["size"]
            number -= 1
            size -|= rowSize
        }
    }

    // MARK: Translated presentations

    /// Returns the state of a translated presentation, or `nil` if none is stored.
    ///
    /// - Parameter manifest: The URL or path of the manifest.
    /// - Returns: The state with which a translator continues.
    /// - Throws: ``StateFileError`` if the file cannot be read, or if the state is damaged.
    package func state(of manifest: String) throws -> TranslationState? {
        guard let value = try value(.translation, of: manifest) else { return nil }
        do {
            return try JSONDecoder().decode(TranslationState.self, from: Data(value.bytes))
        } catch {
            throw Self.damaged(path)
        }
    }

    /// Stores the state of a translated presentation.
    ///
    /// - Parameters:
    ///   - state: The state.
    ///   - manifest: The URL or path of the manifest.
    /// - Throws: ``StateFileError`` if the file cannot be written, or if the state exceeds the maximum size.
    package func store(_ state: TranslationState, of manifest: String) throws {
        _ = try store(Array(try JSONEncoder().encode(state)), .translation, of: manifest)
    }
}
