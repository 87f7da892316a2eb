import GRDB
import HLSPlaylist
import ResourceAddressing

extension AssetLibrary {
    /// The stored part of an incomplete recording, as a complete presentation.
    struct RecordingSnapshot {
        /// The multivariant playlist, which lists only renditions with stored segments.
        var multivariant: [UInt8] = []
        /// The media playlists by their directories, relative to the package.
        var media: [String: [UInt8]] = [:]
        /// The paths of the files that the media playlists name, relative to the package.
        var paths: [String] = []
        /// The paths of the encryption keys, which are also in ``paths``.
        var keys: Set<String> = []
    }

    /// Returns a Boolean value that indicates whether a process is recording an asset now.
    ///
    /// The value is `false` for a recording whose process has ended, for example because the process was killed.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The value.
    /// - Throws: The error of the catalog.
    package func isBeingRecorded(_ id: String) throws -> Bool {
        try isRecording(id) && PackageLock.isHeld(packageDirectory(id))
    }

    /// Returns the stored part of an incomplete recording, as a complete presentation.
    ///
    /// If no process records the asset, each segment that is not stored becomes a gap. The end of a playlist has no gaps:
    /// the playlist ends after its last stored segment. If a process records the asset, each media playlist ends before
    /// the first segment that is not stored yet.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The playlists and the files.
    /// - Throws: ``StorageError``; with ``StorageError/Code/incomplete`` if nothing can be played: each variant, or its
    ///   audio, has no stored segment.
    func recordingSnapshot(of id: String) throws -> RecordingSnapshot {
        let isContinued = PackageLock.isHeld(packageDirectory(id))
        var snapshot = try catalog.read { database in
            var snapshot = RecordingSnapshot()
            for row in try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database) {
                // A rendition that an earlier run has recorded is not listed.
                guard row.position < Self.unlistedPosition else { continue }
                try Self.add(row, isContinued: isContinued, to: &snapshot, database)
            }
            return snapshot
        }
        let bytes = try snapshot.media.isEmpty ? nil : measuredPlaylist(of: id) ?? multivariantPlaylist(of: id)
        // A playlist without entries cannot be parsed.
        let entire = bytes.flatMap { try? MultivariantPlaylist(parsing: $0) }
        let playlist = bytes.flatMap { try? Self.playlist($0, in: Set(snapshot.media.keys)) }
        guard let entire, let playlist, !playlist.variants.isEmpty || entire.variants.isEmpty else {
            throw StorageError(
                .incomplete,
                "nothing of the recording \(id) can be exported, because no segment of it is stored completely"
            )
        }
        snapshot.multivariant = playlist.bytes
        return snapshot
    }

    /// Adds the playlist and the files of a rendition to a snapshot, unless no segment is stored.
    private static func add(
        _ row: RenditionRecord,
        isContinued: Bool,
        to snapshot: inout RecordingSnapshot,
        _ database: Database
    ) throws {
        let context = PlaylistContext(stored: ResourceAddress(row.address))
        guard let bytes = try row.closedPlaylist(isContinued: isContinued, database),
            let playlist = try? MediaPlaylist(parsing: bytes, context: context)
        else { return }
        let usual = PackagePlan(folder: row.folder, role: row.role, playlist: playlist)
        let plan = try withStoredPaths(usual, of: row.id, database)
        snapshot.media[row.folder] = plan.localPlaylist
        plan.forEachResource { resource in
            snapshot.paths.append(resource.path)
            if resource.kind.keySize != nil { snapshot.keys.insert(resource.path) }
        }
    }
}

extension RenditionRecord {
    /// Returns the playlist of a recording up to its last stored segment, with an end marker.
    ///
    /// - Parameters:
    ///   - isContinued: A Boolean value that indicates whether missing segments are still being fetched. If they are,
    ///     the playlist ends before the first missing segment; otherwise missing segments become gaps.
    ///   - database: The catalog.
    /// - Returns: The playlist with the URLs of the origin; `nil` if no segment is stored, or if the rendition is not recorded.
    /// - Throws: The error of the catalog.
    func closedPlaylist(isContinued: Bool, _ database: Database) throws -> [UInt8]? {
        guard let id, try isRecording(database) else { return nil }
        let missing = try missingSegments(database)
        let limit = isContinued ? missing.min() ?? .max : .max
        guard let last = try lastStoredSegment(before: limit, besides: missing, database) else { return nil }
        var header = try recordingHeader(database)
        header.hasEnded = true
        var result = Array(header.text.utf8)
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT position, lines FROM recordedSegment WHERE renditionID = ? AND position <= ? ORDER BY position
                """,
            arguments: [id, last]
        )
        while let row = try rows.next() {
            let (position, lines): (Int, String) = (row[0], row[1])
            let text = missing.contains(position) ? RecordedSegment.withGap(lines) : lines
            result.append(contentsOf: text.utf8)
        }
        result.append(contentsOf: RecordingHeader.endMarker.utf8)
        return result
    }

    /// Returns the stored part of the playlist if the recording has not ended; otherwise ``entirePlaylist(_:)``.
    ///
    /// The stored part ends before the first segment that is not stored.
    ///
    /// - Parameter database: The catalog.
    /// - Returns: The playlist with the URLs of the origin.
    /// - Throws: The error of the catalog.
    func storedPlaylist(_ database: Database) throws -> [UInt8] {
        guard let id, try isRecording(database), try !recordingHeader(database).hasEnded else {
            return try entirePlaylist(database)
        }
        let missing = try Int.fetchOne(
            database,
            sql: "SELECT MIN(position) FROM resource WHERE renditionID = ? AND bytes IS NULL AND position >= 0",
            arguments: [id]
        )
        let limit = missing ?? Int.max
        var result = Array(try recordingHeader(database).text.utf8)
        let lines = try String.fetchCursor(
            database,
            sql: "SELECT lines FROM recordedSegment WHERE renditionID = ? AND position < ? ORDER BY position",
            arguments: [id, limit]
        )
        while let text = try lines.next() { result.append(contentsOf: text.utf8) }
        return result
    }

    /// Returns the positions of the segments that cannot be played: the segment, its key or its initialization section
    /// is not stored.
    private func missingSegments(_ database: Database) throws -> Set<Int> {
        guard let id else { return [] }
        let positions = try Int.fetchAll(
            database,
            sql: "SELECT position FROM resource WHERE renditionID = ? AND bytes IS NULL AND position >= 0",
            arguments: [id]
        )
        return try AssetLibrary.unplayableSegments(of: self, id, database).union(positions)
    }

    /// Returns the position of the last segment before a limit that can be played; `nil` if there is none.
    private func lastStoredSegment(
        before limit: Int,
        besides missing: Set<Int>,
        _ database: Database
    ) throws -> Int? {
        let positions = try Int.fetchCursor(
            database,
            sql: """
                SELECT position FROM resource
                WHERE renditionID = ? AND bytes IS NOT NULL AND position >= 0 AND position < ? ORDER BY position DESC
                """,
            arguments: [id, limit]
        )
        while let position = try positions.next() {
            if !missing.contains(position) { return position }
        }
        return nil
    }
}
