import Foundation
import GRDB
package import HLSPlaylist
package import MediaTiming
import ResourceAddressing
import Synchronization

/// The writer of one media playlist of a recording.
///
/// A segment is added to the catalog when it appears at the origin. It is added to the local playlist, which has the
/// type `EVENT`, when it and all segments before it are stored or marked as gaps. The cost of a segment does not depend
/// on the length of the recording. All methods block. Only one task at a time may add segments.
package final class RecordingWriter: Sendable {
    /// A file to fetch for a segment.
    package struct File: Sendable, Hashable {
        /// The zero-based index in the recording of the segment that needs the file.
        package let position: Int
        /// The media sequence number of the segment at the origin.
        package let sequence: Int64
        /// The file; several segments can need the same key or initialization section.
        package let resource: StoredResource

        /// A Boolean value that indicates whether the file is the segment itself.
        package var isSegment: Bool { resource.kind == .segment || resource.kind == .subtitle }

        /// Creates a file with a new description, such as one with another URL.
        package init(_ file: File, _ resource: StoredResource) {
            self.init(position: file.position, sequence: file.sequence, resource: resource)
        }

        init(position: Int, sequence: Int64, resource: StoredResource) {
            self.position = position
            self.sequence = sequence
            self.resource = resource
        }
    }

    /// The last recorded segment, after which the recording continues.
    package struct Last: Sendable, Hashable {
        /// The media sequence number at the origin.
        package let sequence: Int64
        /// The URI at the origin.
        package let uri: String
        /// The date of the end of the segment; `nil` if the playlist has no dates.
        package let endDate: ProgramDateTime?
    }

    /// The functions that a writer calls while it adds segments.
    package struct Supervision: Sendable {
        /// A function that throws an error if the recording was canceled; it is called before each segment and date range.
        package var checkCancellation: @Sendable () throws -> Void
        /// A function that is called with a number of bytes before they are stored, and throws an error if they exceed a limit.
        package var willStore: @Sendable (_ byteCount: Int64) throws -> Void

        /// Creates the functions; by default, they permit everything.
        package init(
            checkCancellation: @escaping @Sendable () throws -> Void = {},
            willStore: @escaping @Sendable (_ byteCount: Int64) throws -> Void = { _ in }
        ) {
            self.checkCancellation = checkCancellation
            self.willStore = willStore
        }
    }

    /// The state at the end of the recording, where segments are added.
    private struct State {
        var nextPosition = 0
        var end = MediaTime.zero
        var last: Last?
        var tags = RecordedTagState()
    }

    /// The segments that are added together.
    private struct Addition {
        /// The segments in the catalog.
        var records: [RecordedSegment] = []
        /// The segments in the local playlist, by position.
        var segments: [Int: RecordingPlaylistFile.Segment] = [:]

        /// The number of bytes of all lines.
        var byteCount: Int {
            records.reduce(segments.values.reduce(0) { $0 +| $1.lines.utf8.count }) { $0 +| $1.lines.utf8.count }
        }
    }

    /// The role of the rendition in the presentation.
    package let role: StoredRendition.Role
    /// The zero-based index among the variants, or among the renditions, of the source; -1 if the source is a media
    /// playlist.
    package let position: Int
    /// The directory of the rendition inside the package.
    package let folder: String
    private let library: AssetLibrary
    private let assetID: String
    private let renditionID: Int64
    /// The number of bytes that the lines of the rendition had in the catalog and in the local playlist when the writer was created.
    package let formerByteCount: Int64
    private let state: Mutex<State>
    private let playlistFile: RecordingPlaylistFile
    /// The recorded tags of the origin that do not belong to a single segment; only the task that adds segments uses
    /// them.
    private let metadata: Mutex<RecordedMetadata>
    private let budget: MetadataBudget

    /// Creates the writer of a rendition that is in the catalog.
    init(
        _ record: RenditionRecord,
        id: Int64,
        in library: AssetLibrary,
        _ budget: MetadataBudget,
        _ database: Database
    ) throws {
        self.library = library
        self.budget = budget
        assetID = record.assetID
        renditionID = id
        role = record.role
        position = record.position
        folder = record.folder
        var state = State()
        let segments = RecordedSegment.filter(Column("renditionID") == id)
        if let last = try segments.order(Column("position").desc).fetchOne(database) {
            state.nextPosition = last.position + 1
            let duration = MediaTime(decimal: last.duration) ?? .zero
            state.last = Last(
                sequence: last.sequence,
                uri: last.lines.split(separator: "\n").last.map { String($0) } ?? "",
                endDate: last.date.flatMap { ProgramDateTime($0)?.advanced(by: duration) }
            )
            let durations = try String.fetchCursor(
                database,
                sql: "SELECT duration FROM recordedSegment WHERE renditionID = ?",
                arguments: [id]
            )
            while let text = try durations.next() { state.end = state.end + (MediaTime(decimal: text) ?? .zero) }
            state.tags = RecordedTagState(
                hasFormerKeys: try !segments.filter(Column("lines").like("%#EXT-X-KEY:METHOD=%")).isEmpty(database),
                hasMap: try !segments.filter(Column("lines").like("%#EXT-X-MAP:%")).isEmpty(database)
            )
        }
        playlistFile = RecordingPlaylistFile(
            at: library.packageDirectory(record.assetID)
                .appendingPathComponent("\(record.folder)/\(AssetLibrary.mediaName)"),
            files: library.files,
            segmentCount: state.nextPosition,
            targetDuration: try record.recordingHeader(database).targetDuration
        )
        let recorded = try RecordedMetadata(of: id, database, budget)
        let size = try Int64.fetchOne(
            database,
            sql: "SELECT SUM(LENGTH(CAST(lines AS BLOB))) FROM recordedSegment WHERE renditionID = ?",
            arguments: [id]
        )
        let doubled = (size ?? 0) *| 2
        formerByteCount = doubled
        self.state = Mutex(state)
        metadata = Mutex(recorded)
    }

    /// The duration of the recorded segments, including gaps.
    package var end: MediaTime { state.withLock { $0.end } }
    /// The last segment that was added; `nil` if there is none.
    package var last: Last? { state.withLock { $0.last } }
    /// Returns a Boolean value that indicates whether metadata of any rendition was omitted because it exceeds a limit,
    /// and resets it.
    package func takeMetadataOmission() -> Bool { budget.takeOmission() }

    // MARK: Adding segments

    /// Adds segments of the origin to the recording.
    ///
    /// - Parameters:
    ///   - positions: The segments of the playlist to add.
    ///   - playlist: The playlist at the origin.
    ///   - gaps: The durations of the segments before them that were lost, which are marked with `EXT-X-GAP`.
    ///   - hasDiscontinuity: A Boolean value that indicates whether there is a discontinuity before the first segment.
    ///   - supervision: The functions to call meanwhile.
    /// - Returns: The files to fetch, in the order in which a player needs them, and the number of segments that are
    ///   marked as gaps because they have no initialization section, although earlier segments have one. No tag ends
    ///   the effect of `EXT-X-MAP` (RFC 8216bis §4.4.4.5), so such segments cannot be played.
    /// - Throws: ``StorageError``, or an error of `supervision`, after which nothing is added.
    package func append(
        _ positions: Range<Int>,
        of playlist: MediaPlaylist,
        gaps: [MediaTime] = [],
        hasDiscontinuity: Bool = false,
        supervision: Supervision = Supervision()
    ) throws -> (files: [File], unplayableCount: Int64) {
        guard !positions.isEmpty else { return ([], 0) }
        var unplayable: Set<Int> = []
        var new = state.withLock { $0 }
        let isFirst = new.last == nil
        var addition = Addition()
        var targetDuration: Int64 = 0
        var changes: [RecordedMetadata.Change] = []
        if !gaps.isEmpty {
            addGaps(gaps, before: playlist.segments[positions.lowerBound].sequence, to: &new, &addition)
        }
        let shift = new.nextPosition - positions.lowerBound
        let starts = new.end
        let plan = PackagePlan(folder: folder, role: role, playlist: playlist, firstPosition: shift)
        for position in positions {
            try supervision.checkCancellation()
            let segment = playlist.segments[position]
            let begins = position == positions.lowerBound
            var lines = RecordedLines()
            if segment.hasDiscontinuity && !(begins && isFirst) || begins && hasDiscontinuity {
                lines.add("#EXT-X-DISCONTINUITY")
            }
            new.tags.addTags(of: segment, plan, to: &lines)
            if let date = segment.programDateTime, segment.hasOwnProgramDateTime || begins && addition.records.isEmpty {
                lines.add("#EXT-X-PROGRAM-DATE-TIME:\(date)")
            }
            if begins {
                let next = new.nextPosition
                let ranges = try metadata.withLock { metadata in
                    try metadata.newDateRanges(of: playlist, from: segment, at: next, supervision.checkCancellation)
                }
                for range in ranges.lines { lines.add(range.text, isLocal: !range.isInterstitial) }
                changes = ranges.changes
            }
            let unknownTags = metadata.withLock { $0.unknownTags(ofSegment: position, in: playlist) }
            for line in unknownTags { lines.add(line) }
            if segment.map == nil, new.tags.hasMap, !segment.isGap { unplayable.insert(position) }
            let isGap = segment.isGap || unplayable.contains(position)
            if isGap { lines.add("#EXT-X-GAP") }
            lines.add("#EXTINF:\(segment.duration),\(WrittenText.line(segment.title ?? ""))")
            if let range = segment.byteRange { lines.addAtOrigin("#EXT-X-BYTERANGE:\(range)") }
            let uri = WrittenText.uri(segment.address.text)
            lines.add(uri, local: plan.localName(plan.path(of: segment)))
            add(
                RecordedSegment(
                    renditionID: renditionID,
                    position: new.nextPosition,
                    sequence: segment.sequence,
                    lines: lines.origin,
                    duration: segment.duration.description,
                    date: segment.programDateTime?.description
                ),
                local: lines.local,
                isSettled: isGap,
                segment.duration,
                to: &new,
                &addition
            )
            new.last = Last(
                sequence: segment.sequence,
                uri: uri,
                endDate: segment.programDateTime?.advanced(by: segment.duration)
            )
            targetDuration = max(targetDuration, segment.duration.roundedSeconds)
        }
        try supervision.willStore(Int64(changes.reduce(addition.byteCount) { $0 +| $1.addedByteCount }))
        let files = try insert(addition.records, positions, besides: unplayable, plan, startingAt: starts, changes)
        state.withLock { $0 = new }
        let isLonger = playlistFile.add(addition.segments, targetDuration: targetDuration)
        if isLonger {
            try playlistFile.changeHeader { seconds in
                try library.write {
                    try RecordingHeader.change(of: renditionID, $0) { $0.targetDuration = seconds }
                }
            }
        }
        try playlistFile.publish()
        return (files, Int64(clamping: unplayable.count))
    }

    /// Updates the recorded date ranges whose attributes have changed in a version of the playlist without new
    /// segments.
    ///
    /// - Parameters:
    ///   - playlist: The playlist at the origin.
    ///   - supervision: The functions to call meanwhile.
    /// - Throws: ``StorageError``, or an error of `supervision`.
    package func updateDateRanges(of playlist: MediaPlaylist, supervision: Supervision = Supervision()) throws {
        let changes = try metadata.withLock { metadata in
            try metadata.changedDateRanges(of: playlist, supervision.checkCancellation)
        }
        guard !changes.isEmpty else { return }
        try supervision.willStore(Int64(changes.reduce(0) { $0 +| $1.addedByteCount }))
        try library.write { try RecordedMetadata.Change.apply(changes, to: renditionID, $0) }
    }

    private func addGaps(
        _ durations: [MediaTime],
        before sequence: Int64,
        to new: inout State,
        _ addition: inout Addition
    ) {
        for (index, duration) in durations.enumerated() {
            // The URI of a segment that must not be loaded (RFC 8216bis §4.4.4.7).
            let text = "#EXT-X-GAP\n#EXTINF:\(duration),\n\(PackagePlan.number(new.nextPosition)).gap\n"
            let record = RecordedSegment(
                renditionID: renditionID,
                position: new.nextPosition,
                sequence: sequence -| Int64(durations.count - index),
                lines: text,
                duration: duration.description,
                date: nil
            )
            add(record, local: text, isSettled: true, duration, to: &new, &addition)
        }
    }

    private func add(
        _ record: RecordedSegment,
        local: String,
        isSettled: Bool,
        _ duration: MediaTime,
        to new: inout State,
        _ addition: inout Addition
    ) {
        addition.records.append(record)
        addition.segments[new.nextPosition] = RecordingPlaylistFile.Segment(lines: local, isSettled: isSettled)
        new.nextPosition += 1
        new.end = new.end + duration
    }

    private func insert(
        _ records: [RecordedSegment],
        _ positions: Range<Int>,
        besides unplayable: Set<Int>,
        _ plan: PackagePlan,
        startingAt start: MediaTime,
        _ changes: [RecordedMetadata.Change]
    ) throws -> [File] {
        let offset = start - plan.playlist.segments[positions.lowerBound].start
        let folders = [renditionID: folder]
        return try library.write { database in
            for record in records { try record.insert(database) }
            try RecordedMetadata.Change.apply(changes, to: renditionID, database)
            var files: [File] = []
            // A key or an initialization section is reported before the first segment that needs it.
            var shared: [StoredResource] = []
            try plan.forEachResource(in: positions) { resource in
                guard !unplayable.contains(resource.position) else { return }
                let isShared = resource.position < 0
                if isShared, let known = try self.resource(at: resource.path, database) {
                    if known.bytes == nil, let file = StoredResource(known, folders) { shared.append(file) }
                    return
                }
                let time = resource.timeRange.start + offset
                var row = ResourceRecord(
                    assetID: assetID,
                    renditionID: renditionID,
                    position: isShared ? resource.position : resource.position + plan.firstPosition,
                    kind: resource.kind,
                    address: resource.address.text,
                    rangeStart: resource.byteRange?.start,
                    rangeLength: resource.byteRange?.length,
                    path: resource.path,
                    start: time.description,
                    duration: resource.timeRange.duration.description,
                    startTime: time.seconds
                )
                try row.insert(database)
                guard let file = StoredResource(row, folders) else { return }
                guard !isShared else { return shared.append(file) }
                let sequence = plan.playlist.segments[resource.position].sequence
                files += (shared + [file]).map { File(position: row.position, sequence: sequence, resource: $0) }
                shared = []
            }
            return files
        }
    }

    private func resource(at path: String, _ database: Database) throws -> ResourceRecord? {
        try ResourceRecord.filter(Column("assetID") == assetID).filter(Column("path") == path).fetchOne(database)
    }

    // MARK: Stored segments

    /// Changes the URL of a file that has moved at the origin.
    ///
    /// - Returns: The file with the new URL.
    /// - Throws: ``StorageError``.
    package func move(_ file: File, to segment: MediaSegment) throws -> File {
        try library.write { database in
            try database.execute(
                sql: "UPDATE resource SET address = ? WHERE id = ?",
                arguments: [segment.address.text, file.resource.id]
            )
            guard let row = try ResourceRecord.fetchOne(database, key: file.resource.id),
                let resource = StoredResource(row, [renditionID: folder])
            else { return file }
            return File(file, resource)
        }
    }

    /// Adds a segment whose file is stored to the local playlist, as soon as the segments before it are in this
    /// playlist.
    package func settle(_ position: Int) throws {
        playlistFile.settle(position)
        try playlistFile.publish()
    }

    /// Marks a segment that cannot be fetched as a gap.
    package func markAsGap(_ position: Int) throws {
        try library.write { try RecordedSegment.markAsGap(position, renditionID, $0) }
        playlistFile.markAsGap(position)
        try playlistFile.publish()
    }
}
