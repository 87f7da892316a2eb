import MediaTiming
public import ResourceAddressing

/// An error that prevents a delta update from being applied; the client must load the full playlist.
public enum PlaylistUpdateError: MillstreamError, Hashable {
    /// The previous playlist lacks segments that the update skips.
    case segmentsMissing(first: Int64, count: Int64)
    /// The previous playlist is a delta update itself.
    case previousIsIncomplete
    /// The full playlist would exceed a limit.
    case limitExceeded(PlaylistLimits.Limit)
}

extension PlaylistUpdateError {
    /// The kind of the error.
    public enum Code: String, ErrorCode {
        /// The previous playlist lacks segments.
        case segmentsMissing = "segments-missing"
        /// The previous playlist is a delta update itself.
        case previousIsIncomplete = "previous-is-incomplete"
        /// The full playlist would exceed a limit.
        case limitExceeded = "limit-exceeded"

        /// The code of the corresponding error of AVFoundation.
        public var number: Int? {
            switch self {
            case .segmentsMissing, .previousIsIncomplete: -11_866
            case .limitExceeded: -11_853
            }
        }
    }

    /// The kind of the error.
    public var code: Code {
        switch self {
        case .segmentsMissing: .segmentsMissing
        case .previousIsIncomplete: .previousIsIncomplete
        case .limitExceeded: .limitExceeded
        }
    }

    /// The description of the error.
    public var message: String { description }

    /// The error as a message for display.
    public var description: String {
        switch self {
        case .segmentsMissing(let first, let count):
            "the update skips \(count) segments from media sequence number \(first), which the previous playlist lacks"
        case .previousIsIncomplete: "the previous playlist is a delta update itself"
        case .limitExceeded(let limit): "with the skipped segments, \(limit)"
        }
    }
}

extension MediaPlaylist {
    /// Returns the full playlist for a delta update, with the skipped parts taken from this, the previous, playlist
    /// (RFC 8216bis §4.4.5.2 and §6.3.7).
    ///
    /// The lines of the update are unchanged, except that `EXT-X-SKIP` is replaced with the lines of the skipped
    /// segments and with the key, map, bit rate and date that apply to the first of them. Partial segments of skipped
    /// segments are omitted, because servers do not list parts that old. Date ranges of the previous playlist are
    /// included, except removed ones, if the update has `RECENTLY-REMOVED-DATERANGES`; otherwise only those of the
    /// update count.
    ///
    /// - Parameters:
    ///   - update: The response of the server; a full playlist is returned unchanged.
    ///   - limits: The maximum sizes of the full playlist.
    /// - Returns: The full playlist.
    /// - Throws: ``PlaylistUpdateError`` if information is missing and the full playlist must be loaded.
    public func applying(
        _ update: MediaPlaylist,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistUpdateError) -> MediaPlaylist {
        let skips = update.index.tags.filter { $0.tag == .skip }
        guard let skip = skips.first, update.skippedSegmentCount > 0 else { return update }
        guard skippedSegmentCount == 0 else { throw .previousIsIncomplete }
        let (count, dropped) = (update.skippedSegmentCount, update.mediaSequence -| mediaSequence)
        guard dropped >= 0, dropped <= segments.count, count <= Int64(segments.count) -| dropped else {
            throw .segmentsMissing(first: update.mediaSequence, count: count)
        }
        var merger = DeltaMerger(previous: self, update: update)
        merger.merge(Int(dropped)..<Int(dropped +| count), at: skip, without: skips.dropFirst())
        do {
            let merged = try MediaPlaylist(parsing: merger.output, context: update.context, limits: limits)
            if merged.segments.count == Int(count) + update.segments.count { return merged }
        } catch .limitExceeded(let limit, _) {
            throw .limitExceeded(limit)
        } catch {}
        throw .segmentsMissing(first: update.mediaSequence, count: count)
    }
}

/// A writer that inserts the lines of the skipped segments into the lines of an update.
private struct DeltaMerger {
    let previous: MediaPlaylist
    let update: MediaPlaylist
    private(set) var output: [UInt8] = []
    /// The IDs of the date ranges that the update reports as removed.
    private let removedDateRangeIDs: Set<String>
    /// The lines of the date ranges in the update.
    private let updatedDateRangeLines: Set<[UInt8]>
    private let preservesDateRanges: Bool

    init(previous: MediaPlaylist, update: MediaPlaylist) {
        self.previous = previous
        self.update = update
        preservesDateRanges = update.recentlyRemovedDateRanges != nil
        removedDateRangeIDs = Set(update.recentlyRemovedDateRanges ?? [])
        updatedDateRangeLines = Set(
            update.index.tags.filter { $0.tag == .dateRange }.compactMap { record in
                update.bytes.line(at: Int(record.lineStart)).map {
                    Array(update.bytes[$0.trimmed(in: update.bytes.span)])
                }
            }
        )
    }

    /// Replaces a skip tag with the lines of skipped segments, and removes further skip tags.
    mutating func merge(
        _ skipped: Range<Int>,
        at skip: PlaylistIndex.TagRecord,
        without repetitions: ArraySlice<PlaylistIndex.TagRecord>
    ) {
        let skipLine = update.bytes.line(at: Int(skip.lineStart))?.range ?? 0..<0
        output += update.bytes[..<skipLine.lowerBound]
        writeDateRanges(outside: skipped)
        writeInheritedTags(for: skipped.lowerBound)
        for position in skipped { writeSegment(position, isFirst: position == skipped.lowerBound) }
        var rest = skipLine.upperBound
        for repetition in repetitions {
            guard let line = update.bytes.line(at: Int(repetition.lineStart))?.range else { continue }
            output += update.bytes[rest..<line.lowerBound]
            rest = line.upperBound
        }
        output += update.bytes[rest...]
    }

    /// Writes the date ranges that do not belong to the skipped segments.
    private mutating func writeDateRanges(outside skipped: Range<Int>) {
        guard preservesDateRanges else { return }
        for record in previous.index.tags where record.tag == .dateRange && !skipped.contains(Int(record.segment)) {
            guard let line = previous.bytes.line(at: Int(record.lineStart)), isPreservedDateRange(line) else {
                continue
            }
            write(line.range)
        }
    }

    private func isPreservedDateRange(_ line: Line) -> Bool {
        guard preservesDateRanges, let tag = TagLine(line, in: previous.bytes),
            let id = AttributeList(previous.bytes, in: tag.value)["ID"]
        else { return false }
        // A tag that the update repeats is written once; one with the same ID and other attributes extends it
        // (§4.4.5.1).
        return !removedDateRangeIDs.contains(id)
            && !updatedDateRangeLines.contains(Array(previous.bytes[line.trimmed(in: previous.bytes.span)]))
    }

    /// Writes the tags before the first skipped segment that apply to it.
    private mutating func writeInheritedTags(for position: Int) {
        if let map = previous.mapLine(for: position), !map.isOwn {
            for key in previous.mapKeyLines(for: position) { write(key.line) }
            write(map.line)
            // The keys of the map apply to the segments as well, unless a tag ends them.
            if !previous.mapKeyLines(for: position).isEmpty { output += Array("#EXT-X-KEY:METHOD=NONE\n".utf8) }
        }
        for key in previous.keyLines(for: position) where !key.isOwn { write(key.line) }
        if let bitRate = previous.bitRateLine(for: position), !bitRate.isOwn { write(bitRate.line) }
        let segment = previous.segments[position]
        if let date = segment.programDateTime, !segment.hasOwnProgramDateTime {
            output += Array("#EXT-X-PROGRAM-DATE-TIME:\(date)\n".utf8)
        }
    }

    private mutating func writeSegment(_ position: Int, isFirst: Bool) {
        let lines = previous.lines(ofSegment: position)
        // Unknown tags between the playlist-wide tags belong to the playlist rather than to its first segment.
        let headEnd = position > 0 ? 0 : lines.last { $0.tag.map(Self.isPlaylistWide) ?? false }?.range.upperBound ?? 0
        for line in lines {
            switch line.tag {
            case .part: continue
            case .dateRange:
                guard let whole = previous.bytes.line(at: line.range.lowerBound), isPreservedDateRange(whole) else {
                    continue
                }
            case .byteRange where isFirst && previous.hasImpliedOffset(position):
                if let range = previous.segments[position].byteRange {
                    output += Array("#EXT-X-BYTERANGE:\(range)\n".utf8)
                    continue
                }
            case let tag?:
                // Playlist-wide tags precede the first segment; the update has its own.
                if Self.isPlaylistWide(tag) || tag.scope == .metadata { continue }
            case nil:
                if line.range.lowerBound < headEnd { continue }
            }
            write(line.range)
        }
    }

    private static func isPlaylistWide(_ tag: TagName) -> Bool { tag.scope == .any || tag.scope == .mediaPlaylist }

    /// Copies a line of the previous playlist, and adds a line ending if it has none.
    private mutating func write(_ range: Range<Int>) {
        output += previous.bytes[range]
        if let last = output.last, last != UInt8(ascii: "\n"), last != UInt8(ascii: "\r") {
            output.append(UInt8(ascii: "\n"))
        }
    }
}
