import Foundation
import GRDB
package import HLSPlaylist
import MediaTiming
package import ResourceAddressing

extension AssetLibrary {
    /// Checks that an asset has no media that was downloaded.
    ///
    /// - Throws: ``StorageError/Code/notRecorded``.
    package func checkRecording(of id: String) throws {
        try catalog.read { database in
            let known = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
            try Self.checkRecording(known, of: id, database)
        }
    }

    private static func checkRecording(_ known: [RenditionRecord], of id: String, _ database: Database) throws {
        for row in known {
            guard try !row.recordingHeader(database).isRecording else { continue }
            throw StorageError(
                .notRecorded,
                "the asset \(id) has the downloaded media of this URL: delete it first, then record the stream"
            )
        }
    }

    /// Returns a Boolean value that indicates whether an asset is the recording of a live stream.
    ///
    /// The recording may have ended.
    package func isRecorded(_ id: String) throws -> Bool {
        try catalog.read { database in
            try RenditionRecord.filter(Column("assetID") == id).fetchAll(database).contains { row in
                try row.isRecording(database)
            }
        }
    }

    /// Returns a Boolean value that indicates whether an asset is the recording of a live stream that has not ended.
    package func isRecording(_ id: String) throws -> Bool {
        try catalog.read { try Self.isRecording(id, $0) }
    }

    /// Returns a Boolean value that indicates whether an asset is the recording of a live stream that has not ended.
    static func isRecording(_ id: String, _ database: Database) throws -> Bool {
        let parts = RenditionRecord.filter(Column("assetID") == id).filter(Column("isPart") == true)
        return try parts.fetchAll(database).contains { row in
            let header = try row.recordingHeader(database)
            return header.isRecording && !header.hasEnded
        }
    }

    /// Begins or continues the recording of a live stream.
    ///
    /// The caller must hold the lock of the asset. An asset that was recorded before is continued; its local playlists
    /// are of the type `EVENT` again.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - source: The source playlist.
    ///   - address: The URL of the source playlist after all redirects.
    ///   - renditions: The media playlists to record.
    /// - Returns: The writers of the renditions, in the same order, and the files that an earlier recording did not store;
    ///   ``publishRecording(_:)`` must be called after they were fetched or marked as gaps.
    /// - Throws: ``StorageError``; ``StorageError/Code/notRecorded`` if the asset was downloaded.
    package func beginRecording(
        of id: String,
        source: Playlist,
        at address: ResourceAddress,
        renditions: [PlannedRendition]
    ) throws -> (writers: [RecordingWriter], missing: [[RecordingWriter.File]]) {
        let result = try write { database in
            var record = try Self.record(id, database)
            var known = try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
            try Self.checkRecording(known, of: id, database)
            if case .multivariant = source {
                try record.storeSourcePlaylist(source.bytes, database)
            } else {
                try record.storeSourcePlaylist(nil, database)
            }
            record.sourceAddress = address.text
            record.state = .partial
            try record.update(database)
            var folders = Set(known.map(\.folder))
            var rows: [RenditionRecord] = []
            for rendition in renditions {
                if let index = known.firstIndex(where: { $0.hasSameAttributes(as: rendition) }) {
                    rows.append(known.remove(at: index))
                } else {
                    let folder = Self.unusedFolder(for: rendition, besides: folders)
                    folders.insert(folder)
                    rows.append(RenditionRecord(recording: rendition, in: folder, of: id))
                }
            }
            // A rendition that is not recorded any more is not listed, but its media stays.
            for (index, var row) in known.enumerated() {
                row.position = Self.unlistedPosition + index
                row.aliases = nil
                try row.update(database)
            }
            let budget = MetadataBudget()
            var writers: [RecordingWriter] = []
            var missing: [[RecordingWriter.File]] = []
            for (var row, rendition) in zip(rows, renditions) {
                row.position = rendition.position
                row.aliases = rendition.aliases.map(String.init).joined(separator: ",")
                row.address = rendition.address.text
                row.isPart = true
                if row.id == nil {
                    let header = RecordingHeader(of: rendition.playlist)
                    try row.insert(with: Array(header.text.utf8), database)
                } else {
                    try row.update(database)
                }
                guard let rowID = row.id else { continue }
                try RecordingHeader.change(of: rowID, database) { header in
                    header.hasEnded = false
                    header.targetDuration = max(
                        header.targetDuration,
                        RecordingHeader(of: rendition.playlist).targetDuration
                    )
                }
                writers.append(try RecordingWriter(row, id: rowID, in: self, budget, database))
                missing.append(try Self.missingFiles(ofRecording: rowID, row.folder, database))
            }
            return (writers, missing)
        }
        try makeFolders(id)
        try removeUnreferencedFiles(id)
        return result
    }

    /// The position of the first rendition that the local multivariant playlist does not list.
    static let unlistedPosition = 1_000_000

    private static func missingFiles(
        ofRecording id: Int64,
        _ folder: String,
        _ database: Database
    ) throws -> [RecordingWriter.File] {
        try ResourceRecord.filter(Column("renditionID") == id).filter(Column("bytes") == nil).order(Column("id"))
            .fetchAll(database).compactMap { row in
                let sequence = try RecordedSegment.filter(Column("renditionID") == id)
                    .filter(Column("position") == row.position).fetchOne(database)?.sequence
                return StoredResource(row, [id: folder]).map {
                    RecordingWriter.File(position: row.position, sequence: sequence ?? 0, resource: $0)
                }
            }
    }

    /// Writes the local playlists of a recording that was begun.
    package func publishRecording(_ id: String) throws { try writePlaylists(id) }

    /// Ends the recording of an asset: its playlists are of the type `VOD`, and have an end marker.
    ///
    /// Segments that are not stored are marked as gaps, and gaps at the end are removed. The caller must hold the lock of the asset.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - isComplete: Whether segments whose key or initialization section is not stored are marked as gaps as well, because it
    ///     is not requested again.
    ///   - ends: The indexes of the segments before which renditions end, by their directories, because the recording has ended
    ///     before the segments from there on could be requested; a later recording can still add them.
    /// - Returns: A Boolean value that indicates whether any media is recorded, and the number of segments that are marked as gaps
    ///   because they are not stored, without those at the end, which are removed.
    /// - Throws: ``StorageError``; with ``StorageError/Code/incomplete`` if a key or an initialization section is missing.
    package func endRecording(
        _ id: String,
        isComplete: Bool,
        endingBefore ends: [String: Int] = [:]
    ) throws -> (hasMedia: Bool, lostCount: Int64) {
        var hasRemovedFiles = false
        let result = try write { database in
            var (hasMedia, lostCount) = (false, Int64(0))
            hasRemovedFiles = false
            for row in try RenditionRecord.filter(Column("assetID") == id).fetchAll(database) {
                guard let rowID = row.id else { continue }
                if let end = ends[row.folder] {
                    let removed = ResourceRecord.filter(Column("renditionID") == rowID)
                        .filter(Column("position") >= end)
                    if try !removed.filter(Column("bytes") != nil).isEmpty(database) { hasRemovedFiles = true }
                    try removed.deleteAll(database)
                }
                let missing = try Int.fetchAll(
                    database,
                    sql: "SELECT position FROM resource WHERE renditionID = ? AND bytes IS NULL AND position >= 0",
                    arguments: [rowID]
                )
                for position in missing { try RecordedSegment.markAsGap(position, rowID, database) }
                if isComplete { try Self.markUnplayableSegments(of: row, rowID, database) }
                let last = try Int.fetchOne(
                    database,
                    sql: "SELECT MAX(position) FROM resource WHERE renditionID = ? AND position >= 0",
                    arguments: [rowID]
                )
                try database.execute(
                    sql: "DELETE FROM recordedSegment WHERE renditionID = ? AND position > ?",
                    arguments: [rowID, last ?? -1]
                )
                if let last {
                    hasMedia = true
                    lostCount +|= Int64(clamping: missing.count { $0 < last })
                }
                try RecordingHeader.change(of: rowID, database) { $0.hasEnded = true }
            }
            return (hasMedia, lostCount)
        }
        if hasRemovedFiles { try removeUnreferencedFiles(id) }
        if result.0 { try finish(id) } else { try writePlaylists(id) }
        return result
    }

    /// Marks the segments of a recording as gaps whose key or initialization section is not stored.
    private static func markUnplayableSegments(of row: RenditionRecord, _ rowID: Int64, _ database: Database) throws {
        for position in try unplayableSegments(of: row, rowID, database).sorted() {
            try RecordedSegment.markAsGap(position, rowID, database)
        }
        try ResourceRecord.filter(Column("renditionID") == rowID).filter(Column("bytes") == nil)
            .filter(Column("position") < 0).deleteAll(database)
    }

    /// Returns the positions of the recorded segments that lack their key or their initialization section.
    static func unplayableSegments(
        of row: RenditionRecord,
        _ rowID: Int64,
        _ database: Database
    ) throws -> Set<Int> {
        let shared = ResourceRecord.filter(Column("renditionID") == rowID).filter(Column("bytes") == nil)
            .filter(Column("position") < 0)
        let missing = Set(try shared.fetchAll(database).map { PackagePlan.Identity($0) })
        guard !missing.isEmpty else { return [] }
        let context = PlaylistContext(stored: ResourceAddress(row.address))
        let playlist = try MediaPlaylist(parsing: row.entirePlaylist(database), context: context)
        let plan = PackagePlan(folder: row.folder, role: row.role, playlist: playlist)
        var positions: Set<Int> = []
        for position in playlist.segments.indices {
            plan.forEachResource(in: position..<(position + 1)) { resource in
                guard missing.contains(resource.identity) else { return }
                positions.insert(position)
            }
        }
        return positions
    }
}

extension RenditionRecord {
    /// Creates the record of a rendition without recorded segments.
    fileprivate init(recording rendition: PlannedRendition, in folder: String, of id: String) {
        self.init(
            assetID: id,
            folder: folder,
            role: rendition.role,
            position: rendition.position,
            language: rendition.language,
            bandwidth: rendition.variant?.bandwidth?.bitsPerSecond,
            width: rendition.variant?.resolution?.width,
            height: rendition.variant?.resolution?.height,
            codecs: rendition.variant?.codecs.joined(separator: ",") ?? "",
            address: rendition.address.text
        )
    }

    /// Returns a Boolean value that indicates whether a rendition continues the recorded one.
    ///
    /// URLs are not compared, because they can contain a token.
    fileprivate func hasSameAttributes(as rendition: PlannedRendition) -> Bool {
        // The position of a rendition that is not recorded any more does not tell the kind of its source.
        guard role == rendition.role, (folder == StoredAsset.mediaPlaylistFolder) == (rendition.position < 0) else {
            return false
        }
        guard let variant = rendition.variant else { return LanguageMatching.isSame(language, rendition.language) }
        return bandwidth == variant.bandwidth?.bitsPerSecond && width == variant.resolution?.width
            && height == variant.resolution?.height && codecs == variant.codecs.joined(separator: ",")
    }

    /// Returns the header of a recording; for a rendition that is not recorded, text that is no such header.
    func recordingHeader(_ database: Database) throws -> RecordingHeader {
        guard let id else { return RecordingHeader("") }
        let bytes = try PlaylistColumn.media.bytes(ofRow: id, upTo: RecordingHeader.maximumSize, database)
        return RecordingHeader(String(decoding: bytes ?? [], as: UTF8.self))
    }

    /// Returns a Boolean value that indicates whether the rendition is recorded.
    func isRecording(_ database: Database) throws -> Bool {
        // A catalog of an earlier version that is open for reading only has no recordings.
        guard isPart == true else { return false }
        return try recordingHeader(database).isRecording
    }

    /// Returns the playlist with all segments of a recording; for other renditions, ``playlistBytes(_:)``.
    func entirePlaylist(_ database: Database) throws -> [UInt8] {
        guard let id, try isRecording(database) else { return try playlistBytes(database) }
        let header = try recordingHeader(database)
        var result = Array(header.text.utf8)
        let lines = try String.fetchCursor(
            database,
            sql: "SELECT lines FROM recordedSegment WHERE renditionID = ? ORDER BY position",
            arguments: [id]
        )
        while let text = try lines.next() { result.append(contentsOf: text.utf8) }
        if header.hasEnded { result.append(contentsOf: RecordingHeader.endMarker.utf8) }
        return result
    }
}

extension RecordedSegment {
    /// Marks a segment as a gap, and removes its file from the catalog.
    static func markAsGap(_ position: Int, _ renditionID: Int64, _ database: Database) throws {
        let row = RecordedSegment.filter(Column("renditionID") == renditionID).filter(Column("position") == position)
        if var segment = try row.fetchOne(database) {
            segment.lines = withGap(segment.lines)
            try segment.update(database)
        }
        try database.execute(
            sql: "DELETE FROM resource WHERE renditionID = ? AND position = ?",
            arguments: [renditionID, position]
        )
    }

    /// Returns the lines of a segment with the mark of a gap.
    static func withGap(_ lines: String) -> String {
        // Attributes can have any text, such as that of a tag.
        var list = lines.split(separator: "\n", omittingEmptySubsequences: false)
        guard !list.contains("#EXT-X-GAP"), let start = list.firstIndex(where: { $0.hasPrefix("#EXTINF:") }) else {
            return lines
        }
        list.insert("#EXT-X-GAP", at: start)
        return list.joined(separator: "\n")
    }
}
