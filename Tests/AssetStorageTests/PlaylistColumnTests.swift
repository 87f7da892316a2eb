import GRDB
import Testing

@testable import AssetStorage

/// Tests that playlists are stored beside the records of the catalog, and not as a part of them.
@Suite struct PlaylistColumnTests {
    private let temporary: TemporaryLibrary
    private let playlist = Array("#EXTM3U\n".utf8)

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Inserts a rendition into an asset.
    private func insert(into id: String, _ database: Database) throws -> RenditionRecord {
        var record = RenditionRecord(
            assetID: id,
            folder: "media",
            role: .variant,
            position: -1,
            codecs: "",
            address: "https://origin.example/media.m3u8"
        )
        try record.insert(with: playlist, database)
        return record
    }

    @Test(arguments: [("[35,69]", "#E"), ("[35,", "[35,"), ("#EXTM3U", "#EXTM3U"), ("", "")])
    func playlistOfARenditionIsStoredAsBytesOrAsAJSONArray(stored: String, bytes: String) throws {
        let id = try temporary.enter()
        let read = try library.write { database in
            let record = try insert(into: id, database)
            try database.execute(sql: "UPDATE rendition SET playlist = CAST(? AS BLOB)", arguments: [stored])
            return try record.playlistBytes(database)
        }
        #expect(read == Array(bytes.utf8))
    }

    @Test func insertedRenditionHasItsPlaylist() throws {
        let id = try temporary.enter()
        let (record, type) = try library.write { database in
            let record = try insert(into: id, database)
            return (record, try String.fetchOne(database, sql: "SELECT TYPEOF(playlist) FROM rendition"))
        }
        let row = try #require(record.id)
        #expect(type == "blob")
        let read = try library.catalog.read { database in
            try RenditionRecord.fetchOne(database, key: row)?.playlistBytes(database)
        }
        #expect(read == playlist)
    }

    /// The catalog refuses each statement that writes a playlist.
    @Test func updateOfARecordDoesNotWriteItsPlaylist() throws {
        let id = try temporary.enter()
        let (media, source) = try library.write { database in
            var rendition = try insert(into: id, database)
            var asset = try AssetLibrary.record(id, database)
            try asset.storeSourcePlaylist(playlist, database)
            for (table, column) in [("rendition", "playlist"), ("asset", "sourcePlaylist")] {
                try database.execute(
                    sql: """
                        CREATE TEMPORARY TRIGGER \(table)Refusal AFTER UPDATE OF \(column) ON \(table) BEGIN
                        SELECT RAISE(ABORT, 'a playlist is written');
                        END
                        """
                )
            }
            rendition.codecs = "avc1.64001f"
            try rendition.update(database)
            asset.title = "Another title"
            try asset.update(database)
            return (try rendition.playlistBytes(database), try asset.sourceBytes(database))
        }
        #expect(media == playlist)
        #expect(source == playlist)
        #expect(try library.asset(id).title == "Another title")
    }

    @Test func sourcePlaylistIsPresentAfterItIsStored() throws {
        let id = try temporary.enter()
        let present = try library.write { database in
            let asset = try AssetLibrary.record(id, database)
            return try [nil, playlist, nil].map { bytes in
                try asset.storeSourcePlaylist(bytes, database)
                return try asset.hasSourcePlaylist(database)
            }
        }
        #expect(present == [false, true, false])
    }

    @Test(arguments: [(7, false), (8, true)])
    func playlistAboveTheLimitIsNotRead(limit: Int, isRead: Bool) throws {
        let id = try temporary.enter()
        let bytes = try library.write { database in
            let rendition = try #require(try insert(into: id, database).id)
            return try PlaylistColumn.media.bytes(ofRow: rendition, upTo: limit, database)
        }
        #expect(bytes == (isRead ? playlist : nil))
    }
}
