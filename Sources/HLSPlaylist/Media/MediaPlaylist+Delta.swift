import MediaTiming

/// Why a delta update could not be applied: the whole playlist has to be loaded.
public enum PlaylistUpdateError: Error, Sendable, Hashable {
    /// Segments that the update leaves out are not in the previous playlist.
    case segmentsMissing(first: Int64, count: Int64)
    /// The previous playlist is a delta update itself.
    case previousIsIncomplete
    /// The whole playlist would pass a limit.
    case limitExceeded(PlaylistLimits.Limit)
}

extension PlaylistUpdateError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        switch self {
        case .segmentsMissing(let first, let count):
            "the update leaves out \(count) segments from number \(first), which the previous playlist does not have"
        case .previousIsIncomplete: "the previous playlist leaves segments out itself"
        case .limitExceeded(let limit): "with the segments that the update leaves out, \(limit)"
        }
    }
}

extension MediaPlaylist {
    /// The playlist that a delta update means: what it leaves out comes from this, the previous, playlist
    /// (RFC 8216bis §4.4.5.2 and §6.3.7).
    ///
    /// The lines of the update stay as they are but for `EXT-X-SKIP`, in whose place the lines of the skipped segments
    /// stand, with the key, the map, the bit rate and the date that hold for the first of them. Parts of skipped segments
    /// are left out: servers do not list parts that old. Date ranges stay where the update says which are gone, else those
    /// of the update count.
    ///
    /// - Parameters:
    ///   - update: What the server answered; a whole playlist is returned as it is.
    ///   - limits: How large the whole playlist may be.
    /// - Returns: The whole playlist.
    /// - Throws: ``PlaylistUpdateError`` where something is missing, and the whole playlist has to be loaded.
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

/// Writes the lines of an update with those of the skipped segments among them.
private struct DeltaMerger {
    let previous: MediaPlaylist
    let update: MediaPlaylist
    private(set) var output: [UInt8] = []
    /// The IDs of the date ranges that the update says are gone, and the lines of those that it has.
    private let goneRanges: Set<String>
    private let updatedLines: Set<[UInt8]>
    private let keepsRanges: Bool

    init(previous: MediaPlaylist, update: MediaPlaylist) {
        self.previous = previous
        self.update = update
        keepsRanges = update.recentlyRemovedDateRanges != nil
        goneRanges = Set(update.recentlyRemovedDateRanges ?? [])
        updatedLines = Set(
            update.index.tags.filter { $0.tag == .dateRange }.compactMap { record in
                update.bytes.line(at: Int(record.lineStart)).map {
                    Array(update.bytes[$0.trimmed(in: update.bytes.span)])
                }
            }
        )
    }

    /// Puts segments in the place of a tag, and takes those out that repeat it.
    mutating func merge(
        _ skipped: Range<Int>,
        at skip: PlaylistIndex.TagRecord,
        without repetitions: ArraySlice<PlaylistIndex.TagRecord>
    ) {
        let skipLine = update.bytes.line(at: Int(skip.lineStart))?.range ?? 0..<0
        output += update.bytes[..<skipLine.lowerBound]
        writeDateRanges(outside: skipped)
        writeWhatHolds(for: skipped.lowerBound)
        for position in skipped { writeSegment(position, isFirst: position == skipped.lowerBound) }
        var rest = skipLine.upperBound
        for repetition in repetitions {
            guard let line = update.bytes.line(at: Int(repetition.lineStart))?.range else { continue }
            output += update.bytes[rest..<line.lowerBound]
            rest = line.upperBound
        }
        output += update.bytes[rest...]
    }

    /// Date ranges that do not stand among the skipped segments.
    private mutating func writeDateRanges(outside skipped: Range<Int>) {
        guard keepsRanges else { return }
        for record in previous.index.tags where record.tag == .dateRange && !skipped.contains(Int(record.segment)) {
            guard let line = previous.bytes.line(at: Int(record.lineStart)), isOurs(line) else { continue }
            write(line.range)
        }
    }

    private func isOurs(_ line: Line) -> Bool {
        guard keepsRanges, let tag = TagLine(line, in: previous.bytes),
            let id = AttributeList(previous.bytes, in: tag.value)["ID"]
        else { return false }
        // A tag that is there again stays once; one with the same ID and more attributes adds to it (§4.4.5.1).
        return !goneRanges.contains(id)
            && !updatedLines.contains(Array(previous.bytes[line.trimmed(in: previous.bytes.span)]))
    }

    /// What stands before the first skipped segment and holds for it.
    private mutating func writeWhatHolds(for position: Int) {
        if let map = previous.mapLine(for: position), !map.isOwn {
            for line in previous.mapKeyLines(for: position) { write(line) }
            write(map.line)
            // The map's keys hold on, unless something ends them.
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
        // Before the first segment, unknown tags up to the last line about the whole playlist are the playlist's.
        let headEnd = position > 0 ? 0 : lines.last { $0.tag.map(Self.isAboutAll) ?? false }?.range.upperBound ?? 0
        for line in lines {
            switch line.tag {
            case .part: continue
            case .dateRange:
                guard let whole = previous.bytes.line(at: line.range.lowerBound), isOurs(whole) else { continue }
            case .byteRange where isFirst && previous.hasImpliedOffset(position):
                if let range = previous.segments[position].byteRange {
                    output += Array("#EXT-X-BYTERANGE:\(range)\n".utf8)
                    continue
                }
            case let tag?:
                // What is about the whole playlist stands before its first segment; the update has its own.
                if Self.isAboutAll(tag) || tag.scope == .metadata { continue }
            case nil:
                if line.range.lowerBound < headEnd { continue }
            }
            write(line.range)
        }
    }

    private static func isAboutAll(_ tag: TagName) -> Bool { tag.scope == .any || tag.scope == .mediaPlaylist }

    /// Copies a line of the previous playlist, with an end where it has none.
    private mutating func write(_ range: Range<Int>) {
        output += previous.bytes[range]
        if let last = output.last, last != UInt8(ascii: "\n"), last != UInt8(ascii: "\r") {
            output.append(UInt8(ascii: "\n"))
        }
    }
}
