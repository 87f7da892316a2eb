import Foundation
import GRDB

/// A column of the catalog that contains playlists.
///
/// A playlist can have many megabytes. Records are therefore fetched and updated without it, and it is read and written by
/// statements that are not cached: a cached statement keeps a copy of its arguments until it is used again.
struct PlaylistColumn {
    /// The column of the source playlists; `NULL` until the playlist is loaded, and if a media playlist is recorded.
    static let source = PlaylistColumn(name: "sourcePlaylist", table: AssetRecord.databaseTableName)
    /// The column of the media playlists with their variables replaced, and of the headers of recordings; never `NULL`.
    static let media = PlaylistColumn(name: "playlist", table: RenditionRecord.databaseTableName)

    let name: String
    let table: String

    /// Returns the bytes of a playlist.
    ///
    /// - Parameters:
    ///   - id: The primary key of the row.
    ///   - limit: The maximum size in bytes; a larger playlist is not read.
    ///   - database: The catalog, which can be of version 1, with playlists as JSON.
    /// - Returns: The bytes; `nil` if there is no playlist, or if it is larger.
    /// - Throws: An error if the catalog cannot be read.
    func bytes(
        ofRow id: some DatabaseValueConvertible,
        upTo limit: Int = .max,
        _ database: Database
    ) throws -> [UInt8]? {
        // SQLite knows the length of a BLOB without reading it.
        let statement = try database.makeStatement(
            sql: "SELECT \(name) FROM \(table) WHERE id = ? AND LENGTH(\(name)) <= ?"
        )
        let rows = try Row.fetchCursor(statement, arguments: [id, limit])
        guard let row = try rows.next() else { return nil }
        return try row.withUnsafeData(atIndex: 0) { data -> [UInt8]? in data.map { Self.decode($0) } }
    }

    /// Returns a Boolean value that indicates whether a row has a playlist, without reading it.
    func isPresent(inRow id: some DatabaseValueConvertible, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT \(name) IS NOT NULL FROM \(table) WHERE id = ?",
            arguments: [id]
        ) ?? false
    }

    /// Replaces the playlist of a row.
    ///
    /// - Parameters:
    ///   - bytes: The playlist; `nil` to remove it.
    ///   - id: The primary key of the row.
    ///   - database: The catalog.
    /// - Throws: An error if the catalog cannot be changed.
    func store(_ bytes: [UInt8]?, inRow id: some DatabaseValueConvertible, _ database: Database) throws {
        let statement = try database.makeStatement(sql: "UPDATE \(table) SET \(name) = ? WHERE id = ?")
        let data = bytes.map { Data($0) }
        try statement.execute(arguments: [data, id])
    }

    /// Returns a playlist as it was loaded; decodes the JSON of a version 1 catalog that was opened for reading only.
    private static func decode(_ data: Data) -> [UInt8] {
        guard data.first == UInt8(ascii: "["), let bytes = try? JSONDecoder().decode([UInt8].self, from: data) else {
            return Array(data)
        }
        return bytes
    }
}

extension AssetRecord {
    /// Returns the bytes of the source playlist; `nil` if it is not loaded.
    func sourceBytes(_ database: Database) throws -> [UInt8]? {
        try PlaylistColumn.source.bytes(ofRow: id, database)
    }

    /// Returns a Boolean value that indicates whether the source playlist is stored.
    func hasSourcePlaylist(_ database: Database) throws -> Bool {
        try PlaylistColumn.source.isPresent(inRow: id, database)
    }

    /// Stores the source playlist, or removes it.
    func storeSourcePlaylist(_ bytes: [UInt8]?, _ database: Database) throws {
        try PlaylistColumn.source.store(bytes, inRow: id, database)
    }
}

extension RenditionRecord {
    /// Returns the bytes of the media playlist; for a recording, only its header.
    func playlistBytes(_ database: Database) throws -> [UInt8] {
        guard let id else { return [] }
        return try PlaylistColumn.media.bytes(ofRow: id, database) ?? []
    }

    /// Inserts the record together with its media playlist.
    ///
    /// - Parameters:
    ///   - playlist: The bytes of the playlist.
    ///   - database: The catalog.
    /// - Throws: An error if the catalog cannot be changed.
    mutating func insert(with playlist: [UInt8], _ database: Database) throws {
        var row = RenditionInsertion(record: self)
        try row.insert(database)
        self = row.record
        guard let id else { return }
        try PlaylistColumn.media.store(playlist, inRow: id, database)
    }
}

/// A rendition that is inserted before its playlist is stored.
private struct RenditionInsertion: MutablePersistableRecord {
    static let databaseTableName = RenditionRecord.databaseTableName

    var record: RenditionRecord

    func encode(to container: inout PersistenceContainer) throws {
        try record.encode(to: &container)
        // The column must not be NULL.
        container[PlaylistColumn.media.name] = ""
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { record.didInsert(inserted) }
}
