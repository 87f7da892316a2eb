import Foundation
import GRDB
package import HLSPlaylist
public import ResourceAddressing

/// URLs that are signed anew: an asset is found by a URL that has another signature than its source.
extension AssetLibrary {
    /// Returns the asset whose source differs from a URL only in its signature.
    ///
    /// A signature consists of the query parameters that permit a request: signatures, tokens, and the times until which they
    /// are valid, such as `Policy`, `Signature`, `Key-Pair-Id`, `Expires`, `X-Amz-Date`, `hdnts` and `token`. Other parameters may select
    /// another stream.
    ///
    /// - Parameter source: The URL of a source.
    /// - Returns: The asset; `nil` if there is none, if there are several, or if an asset has exactly this URL.
    /// - Throws: An error if the catalog cannot be read.
    public func asset(differingInSignatureFrom source: ResourceAddress) throws -> StoredAsset? {
        guard source.isHTTP else { return nil }
        let wanted = source.withoutSignature
        let base = String(
            Substring(source.text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        )
        return try catalog.read { database -> StoredAsset? in
            // The index of the sources limits the rows: `@` follows `?` in the order of their codes.
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT id, source FROM asset WHERE source >= ? AND source < ? AND state <> ?",
                arguments: [base, base + "@", AssetRecord.State.deleting.rawValue]
            )
            var found: String?
            while let row = try rows.next() {
                let (id, text): (String, String) = (row[0], row[1])
                let other = ResourceAddress(text)
                guard other.withoutSignature == wanted else { continue }
                guard other != source, found == nil else { return nil }
                found = id
            }
            return try found.map { try Self.asset(try Self.record($0, database), database) }
        }
    }

    /// Returns a Boolean value that indicates whether playlists are those of an asset, apart from the signatures of their URLs.
    ///
    /// A token can also select the stream, so that the same path has another one. Playlists of recordings are never the same, since a
    /// live stream has other media each time.
    ///
    /// - Parameters:
    ///   - source: The playlist of the source.
    ///   - renditions: The media playlists to download.
    ///   - id: The identifier of the asset.
    /// - Returns: The value; `true` if the playlists of the asset are not loaded yet.
    /// - Throws: ``StorageError`` if there is no asset.
    package func hasPlaylists(_ source: Playlist, _ renditions: [PlannedRendition], of id: String) throws -> Bool {
        try catalog.read { database -> Bool in
            let record = try Self.record(id, database)
            guard let bytes = try record.sourceBytes(database) else { return true }
            guard let old = try? Playlist.parse(bytes), old.kind == source.kind else { return false }
            let stored = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
            guard try !stored.contains(where: { try $0.isRecording(database) }) else { return false }
            let variants = Set(Self.identities(in: old, .variants))
            guard old.kind == .media || !variants.isDisjoint(with: Self.identities(in: source, .variants)) else {
                return false
            }
            return try renditions.allSatisfy { rendition in
                guard rendition.role != .iFrames,
                    let former = Self.formerRecord(of: rendition, from: source, in: stored, of: old)
                else { return true }
                let context = PlaylistContext(stored: ResourceAddress(former.address))
                let bytes = try former.playlistBytes(database)
                guard let playlist = try? MediaPlaylist(parsing: bytes, context: context) else { return false }
                return try !SegmentMatching.formerPositions(of: rendition.standalonePlaylist, in: playlist).isEmpty
            }
        }
    }

    /// Returns the stored record of a media playlist of a source that was loaded again; `nil` if there is none.
    private static func formerRecord(
        of rendition: PlannedRendition,
        from source: Playlist,
        in records: [RenditionRecord],
        of old: Playlist
    ) -> RenditionRecord? {
        let list = rendition.role.list
        var position = -1
        if rendition.position >= 0 {
            let names = identities(in: source, list)
            guard names.indices.contains(rendition.position),
                let former = identities(in: old, list).firstIndex(of: names[rendition.position])
            else { return nil }
            position = former
        }
        return records.first { $0.role.list == list && $0.positions.contains(position) }
    }

    /// Replaces the URL of the source of an asset, and of its downloads.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - source: The URL.
    /// - Throws: ``StorageError``; ``StorageError/Code/busy`` if another asset has the URL.
    package func replaceSource(of id: String, with source: ResourceAddress) throws {
        try write { database in
            var record = try Self.record(id, database)
            guard record.source != source.text else { return }
            guard try AssetRecord.filter(Column("source") == source.text).isEmpty(database) else {
                throw StorageError(.busy, "the stream has just been added to the library; try again")
            }
            try database.execute(
                sql: "UPDATE \(DownloadRecord.tableName) SET source = ? WHERE assetID = ? AND source = ?",
                arguments: [source.text, id, record.source]
            )
            record.source = source.text
            try record.update(database)
        }
    }
}
