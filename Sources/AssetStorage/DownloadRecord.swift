package import Foundation
import GRDB
package import ResourceAddressing

/// A download of a session, as the catalog stores it so that it survives the process.
package struct DownloadRecord: Sendable, Hashable, Identifiable {
    /// A state of a download that survives the process.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The download runs as soon as the process that manages it has capacity.
        case waiting
        /// The download does not run until it is resumed.
        case suspended
        /// The download ended with an error; it can be resumed.
        case failed
        /// The download must end, and its record is then removed; the stored files remain.
        case canceled
    }

    /// The error with which a download ended.
    package struct Failure: Sendable, Hashable {
        /// The code of the error.
        package let code: String
        /// The code of the underlying error.
        package let detail: String
        /// The message for the user.
        package let message: String

        /// Creates a failure.
        package init(code: String, detail: String, message: String) {
            self.code = code
            self.detail = detail
            self.message = message
        }
    }

    /// The identifier, which is unique in the library.
    package let id: String
    /// The identifier of the session.
    package let session: String
    /// The identifier of the asset that is downloaded.
    package let assetID: String
    /// The URL of the source.
    package let source: ResourceAddress
    /// The description that the application gave the download.
    package var details: String
    /// The options of the download as JSON; the library does not interpret them.
    package let options: Data
    /// The image that represents the asset; `nil` for none.
    package let artwork: Data?
    /// The state.
    package var state: State
    /// The error of a failed download.
    package var failure: Failure?
    /// The priority; downloads with a higher one start first.
    package var priority: Int
    /// The directories of the media playlists that the download needs; `nil` until they are known.
    package internal(set) var folders: Set<String>?
    /// The zero-based index of the selection to which ``folders`` belong, among the selections of the download.
    package internal(set) var selectionNumber = 0
    /// The creation time in seconds since 1970-01-01T00:00:00Z.
    package let creationTime: Double

    /// Creates a record.
    package init(
        id: String,
        session: String,
        assetID: String,
        source: ResourceAddress,
        details: String,
        options: Data,
        artwork: Data?,
        state: State,
        priority: Int,
        creationTime: Double
    ) {
        self.id = id
        self.session = session
        self.assetID = assetID
        self.source = source
        self.details = details
        self.options = options
        self.artwork = artwork
        self.state = state
        self.priority = priority
        self.creationTime = creationTime
    }

    static let tableName = "download"

    /// Adds the table of downloads to the schema.
    static func registerMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("downloads") { database in
            try database.create(table: tableName) { table in
                table.primaryKey("id", .text)
                table.column("session", .text).notNull()
                table.column("assetID", .text).notNull().references("asset", onDelete: .cascade)
                table.column("source", .text).notNull()
                table.column("details", .text).notNull()
                table.column("options", .blob).notNull()
                table.column("artwork", .blob)
                table.column("state", .text).notNull()
                table.column("failureCode", .text)
                table.column("failureDetail", .text)
                table.column("failureMessage", .text)
                table.column("priority", .integer).notNull()
                table.column("createdAt", .double).notNull()
            }
            try database.create(indexOn: tableName, columns: ["session"])
        }
        migrator.registerMigration("download-folders") { database in
            try database.alter(table: tableName) { table in table.add(column: "folders", .text) }
        }
    }

    /// Adds the column with the number of the selection to the schema, after the tables of earlier versions.
    static func registerSelectionMigration(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("download-selections") { database in
            try database.alter(table: tableName) { table in table.add(column: "selection", .integer) }
        }
    }

    /// Returns the identifiers of the assets of downloads that are running, waiting or suspended.
    static func fetchPendingAssets(_ database: Database) throws -> Set<String> {
        // A catalog of an earlier version that is open for reading only has no such table.
        guard try database.tableExists(tableName) else { return [] }
        // A state that a newer version wrote counts as pending.
        return try Set(
            String.fetchAll(
                database,
                sql: "SELECT assetID FROM download WHERE state NOT IN (?, ?)",
                arguments: [State.failed.rawValue, State.canceled.rawValue]
            )
        )
    }

    /// The character between the names of directories in the catalog; the names do not contain it.
    fileprivate static let separator = "/"

    fileprivate init(_ row: Row) {
        id = row["id"]
        session = row["session"]
        assetID = row["assetID"]
        source = ResourceAddress(row["source"] as String)
        details = row["details"]
        options = row["options"]
        artwork = row["artwork"]
        // A state that a newer version wrote is one that this version must not act on.
        state = State(rawValue: row["state"]) ?? .suspended
        priority = row["priority"]
        creationTime = row["createdAt"]
        folders = (row["folders"] as String?).map { Set($0.split(separator: Self.separator).map(String.init)) }
        selectionNumber = max(0, (row["selection"] as Int?) ?? 0)
        if let code: String = row["failureCode"] {
            failure = Failure(code: code, detail: row["failureDetail"] ?? code, message: row["failureMessage"] ?? "")
        }
    }
}

/// A change of a download in the catalog.
package enum DownloadChange: Sendable, Hashable {
    /// The download has another state, with the error for `.failed`.
    case state(DownloadRecord.State, DownloadRecord.Failure?)
    /// The download does not run until it is resumed; a failed download keeps its state and its error.
    case suspension
    /// The download has another priority.
    case priority(Int)
    /// The application gave the download another description.
    case details(String)
    /// The download was requested again with other options.
    case options(Data, artwork: Data?)
    /// The directories of the media playlists for one selection of the download are known; the first selection has the
    /// index 0.
    case folders(Set<String>, selection: Int)
    /// Another session continues the download.
    case session(String)
}

extension AssetLibrary {
    /// Returns the downloads of a session, or of all sessions, in the order of their creation, even if the system clock was set back.
    ///
    /// - Parameters:
    ///   - session: The identifier of the session; `nil` for all sessions.
    ///   - known: The identifiers of the downloads whose options and artwork, which can be large, are left out.
    /// - Returns: The downloads.
    /// - Throws: ``StorageError``.
    package func downloads(
        of session: String? = nil,
        omittingOptionsOf known: Set<String> = []
    ) throws -> [DownloadRecord] {
        try catalog.read { database in
            // A catalog of an earlier version that is open for reading only has no such table.
            guard try database.tableExists(DownloadRecord.tableName) else { return [] }
            // The identifiers are those that this library made, of letters and digits.
            let names = known.filter { Self.isIdentifier($0) }.map { "'\($0)'" }.joined(separator: ",")
            let columns = try database.columns(in: DownloadRecord.tableName).map(\.name).map { name in
                switch name {
                case "options": "CASE WHEN id IN (\(names)) THEN x'' ELSE options END AS options"
                case "artwork": "CASE WHEN id IN (\(names)) THEN NULL ELSE artwork END AS artwork"
                default: name
                }
            }
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT \(columns.joined(separator: ", ")) FROM download
                    WHERE ?1 IS NULL OR session = ?1 ORDER BY rowid
                    """,
                arguments: [session]
            ).map { DownloadRecord($0) }
        }
    }

    /// The identifiers of the sessions with downloads that have not ended.
    public var downloadSessionIdentifiers: [String] {
        get throws { Set(try downloads().map(\.session)).sorted() }
    }

    /// Adds a download.
    package func addDownload(_ record: DownloadRecord) throws {
        try write { database in
            try database.execute(
                sql: """
                    INSERT INTO download
                    (id, session, assetID, source, details, options, artwork, state, priority, createdAt)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    record.id, record.session, record.assetID, record.source.text, record.details, record.options,
                    record.artwork, record.state.rawValue, record.priority, record.creationTime,
                ]
            )
        }
    }

    /// Changes a download; a download that does not exist is not an error.
    package func changeDownload(_ id: String, _ change: DownloadChange) throws {
        try write { database in
            switch change {
            case .state(let state, let failure):
                try database.execute(
                    sql: """
                        UPDATE download SET state = ?, failureCode = ?, failureDetail = ?, failureMessage = ?
                        WHERE id = ?
                        """,
                    arguments: [state.rawValue, failure?.code, failure?.detail, failure?.message, id]
                )
            case .suspension:
                try database.execute(
                    sql: "UPDATE download SET state = ? WHERE id = ? AND state <> ?",
                    arguments: [DownloadRecord.State.suspended.rawValue, id, DownloadRecord.State.failed.rawValue]
                )
            case .priority(let priority):
                try database.execute(sql: "UPDATE download SET priority = ? WHERE id = ?", arguments: [priority, id])
            case .details(let details):
                try database.execute(sql: "UPDATE download SET details = ? WHERE id = ?", arguments: [details, id])
            case .options(let options, let artwork):
                try database.execute(
                    sql: "UPDATE download SET options = ?, artwork = ? WHERE id = ?",
                    arguments: [options, artwork, id]
                )
            case .folders(let folders, let selection):
                let text = folders.sorted().joined(separator: DownloadRecord.separator)
                try database.execute(
                    sql: "UPDATE download SET folders = ?, selection = ? WHERE id = ?",
                    arguments: [text, selection, id]
                )
            case .session(let session):
                try database.execute(sql: "UPDATE download SET session = ? WHERE id = ?", arguments: [session, id])
            }
        }
    }

    /// Removes a download from the catalog; the files of its asset remain.
    package func removeDownload(_ id: String) throws {
        try write { try $0.execute(sql: "DELETE FROM download WHERE id = ?", arguments: [id]) }
        DownloadClaim.remove(id, in: directory)
    }

    /// Returns the claim of a download for this process; `nil` if another one, or another session, manages it, or if the library
    /// is open for reading only.
    package func claimDownload(_ id: String) -> DownloadClaim? { isWritable ? DownloadClaim(id, in: directory) : nil }

    /// Returns a Boolean value that indicates whether a process manages a download.
    package func isDownloadClaimed(_ id: String) -> Bool { DownloadClaim.exists(id, in: directory) }

    /// Returns a Boolean value that indicates whether a process runs a download of an asset, or will run it when it has
    /// capacity.
    ///
    /// - Parameter assetID: The identifier of the asset; `nil` for an asset that does not exist.
    /// - Returns: A Boolean value that indicates whether a process does.
    /// - Throws: ``StorageError``.
    package func isDownloadRunning(ofAsset assetID: String?) throws -> Bool {
        guard let assetID else { return false }
        return try downloads().contains { record in
            record.assetID == assetID && record.state == .waiting && isDownloadClaimed(record.id)
        }
    }

    /// Returns a new identifier for a download.
    package static func newDownloadIdentifier() -> String { newIdentifier() }
}

/// A claim of this process to manage a download, which ends when it is deallocated or the process ends.
package final class DownloadClaim: Sendable {
    private let descriptor: CInt

    fileprivate init?(_ id: String, in directory: URL) {
        guard AssetLibrary.isIdentifier(id) else { return nil }
        let folder = Self.folder(in: directory)
        _ = mkdir(folder, 0o700)
        let descriptor = open("\(folder)/\(id)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        // Another process may hold the lock for a moment to find out whether there is a claim.
        var attempts = 3
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            attempts -= 1
            guard attempts > 0 else {
                close(descriptor)
                return nil
            }
            usleep(2_000)
        }
        self.descriptor = descriptor
    }

    fileprivate static func exists(_ id: String, in directory: URL) -> Bool {
        let descriptor = open("\(folder(in: directory))/\(id)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // A shared lock is free unless a claim holds the exclusive one; it is released with the descriptor.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
        flock(descriptor, LOCK_UN)
        return false
    }

    fileprivate static func remove(_ id: String, in directory: URL) {
        unlink("\(folder(in: directory))/\(id)")
    }

    private static func folder(in directory: URL) -> String { directory.appendingPathComponent("claims").path }

    deinit {
        // A child process that is being started has a copy of the descriptor until it executes its program. Only an
        // explicit unlock releases the lock before that.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
