import MediaTiming
import PlaybackReporting

/// The identification of a segment in reports.
struct SegmentIdentification: Sendable, Hashable {
    /// The URL of the segment, without user information.
    let address: String
    /// The media sequence number; `nil` for a part of a media file.
    let sequence: Int64?
}

/// The media of one rendition that was appended to the decoder and not discarded.
struct StreamBuffer: Sendable {
    /// A segment in the buffer.
    struct Entry: Sendable {
        let range: MediaTimeRange
        let type: MediaType
        let byteCount: Int
        let variant: VariantDescription?
        /// A Boolean value that indicates whether the segment was loaded for trick play, and contains only single
        /// frames.
        var isTrickPlay = false
        /// A Boolean value that indicates whether the segment has no media, because it is a gap or was unavailable.
        var hasNoMedia = false
        /// The identification of the segment for reports; `nil` for a range without a segment.
        var segment: SegmentIdentification?
    }

    /// The time ranges that can be played.
    private(set) var loaded = MediaTimeRangeSet()
    /// The time ranges that can be played and belong to the current selection.
    private(set) var current = MediaTimeRangeSet()
    /// The time ranges without media, which are passed over during playback.
    private(set) var withoutMedia = MediaTimeRangeSet()
    /// The segments in the order of their start times.
    private(set) var entries: [Entry] = []
    /// The total size in bytes.
    private(set) var byteCount = 0

    /// The average bit rate of the segments; `nil` if there are none with media for normal playback.
    var averageBitRate: BitRate? {
        var (byteCount, duration): (Int64, Double) = (0, 0)
        for entry in entries where !entry.hasNoMedia && !entry.isTrickPlay {
            byteCount +|= Int64(entry.byteCount)
            duration += entry.range.duration.seconds
        }
        guard byteCount > 0, duration > 0 else { return nil }
        return BitRate(bitsPerSecond: Int64(saturating: (Double(byteCount) * 8 / duration).rounded()))
    }

    /// Adds a segment.
    mutating func insert(_ entry: Entry) {
        loaded.insert(Self.closingGaps(around: entry.range, in: loaded))
        current.insert(Self.closingGaps(around: entry.range, in: current))
        if entry.hasNoMedia {
            withoutMedia.insert(entry.range)
        } else if !withoutMedia.ranges.isEmpty {
            withoutMedia.remove(entry.range)
        }
        let position = entries.partitioningIndex { $0.range.start > entry.range.start }
        entries.insert(entry, at: position)
        byteCount += entry.byteCount
    }

    /// Marks the media after a time as belonging to a previous selection; it remains playable until it is replaced.
    mutating func markOutdated(from time: MediaTime) {
        guard let end = current.ranges.last?.end, end > time else { return }
        current.remove(MediaTimeRange(start: time, end: end))
    }

    /// Removes the segments that end before a time.
    ///
    /// - Returns: The removed time ranges by type; empty if there are none.
    mutating func discard(before time: MediaTime) -> [MediaType: MediaTimeRange] {
        let count = entries.partitioningIndex { $0.range.end > time }
        return removeEntries(at: 0..<count)
    }

    /// Removes the segments that begin after a time.
    ///
    /// - Returns: The removed time ranges by type; empty if there are none.
    mutating func discard(after time: MediaTime) -> [MediaType: MediaTimeRange] {
        let first = entries.partitioningIndex { $0.range.start >= time }
        return removeEntries(at: first..<entries.count)
    }

    /// Removes everything.
    mutating func discardAll() { self = StreamBuffer() }

    /// Removes the segments that were loaded for trick play, and all segments that overlap them.
    ///
    /// - Returns: The removed time ranges.
    mutating func discardTrickPlay() -> [(type: MediaType, range: MediaTimeRange)] {
        let scanned = entries.filter(\.isTrickPlay).map(\.range)
        guard !scanned.isEmpty else { return [] }
        var forgotten: [(type: MediaType, range: MediaTimeRange)] = []
        for index in entries.indices.reversed()
        where entries[index].isTrickPlay || scanned.contains(where: { $0.intersection(entries[index].range) != nil }) {
            forgotten += removeEntries(at: index..<index + 1).map { (type: $0.key, range: $0.value) }
        }
        return forgotten
    }

    /// Returns the time before which media is to be removed, given the limits for media behind the playback position.
    func retentionStart(before position: MediaTime, duration: MediaTime, byteLimit: ByteCount) -> MediaTime {
        let start = position - duration
        // Usually all of the buffer is within the limit.
        guard self.byteCount > byteLimit.bytes else { return start }
        var byteCount: Int64 = 0
        for entry in entries.reversed() where entry.range.end <= position {
            byteCount +|= Int64(entry.byteCount)
            if byteCount > byteLimit.bytes { return max(start, entry.range.end) }
        }
        return start
    }

    /// Returns the time after which media is to be removed in reverse playback, given the limits for media that was played.
    func retentionEnd(after position: MediaTime, duration: MediaTime, byteLimit: ByteCount) -> MediaTime {
        let end = position + duration
        guard self.byteCount > byteLimit.bytes else { return end }
        var byteCount: Int64 = 0
        for entry in entries where entry.range.start >= position {
            byteCount +|= Int64(entry.byteCount)
            if byteCount > byteLimit.bytes { return min(end, entry.range.start) }
        }
        return end
    }

    /// Returns the variant that is played at a time.
    func variant(at time: MediaTime) -> VariantDescription? {
        let behind = entries.partitioningIndex { $0.range.start > time }
        return entries[..<behind].last { $0.variant != nil }?.variant
    }

    /// Returns the segment that contains the largest part of a time range of media.
    ///
    /// - Parameters:
    ///   - type: The media type, which a segment with muxed media contains too.
    ///   - range: The time range.
    /// - Returns: The segment that was appended last, if several contain the same part; `nil` if there is none.
    func segment(of type: MediaType, in range: MediaTimeRange) -> SegmentIdentification? {
        var longest: (segment: SegmentIdentification, duration: MediaTime)?
        for entry in entries.prefix(while: { $0.range.start < range.end }) where !entry.hasNoMedia {
            guard entry.type == type || entry.type == .muxed || type == .muxed, let segment = entry.segment,
                let part = entry.range.intersection(range), part.duration >= longest?.duration ?? .zero
            else { continue }
            longest = (segment, part.duration)
        }
        return longest?.segment
    }

    private mutating func removeEntries(at positions: Range<Int>) -> [MediaType: MediaTimeRange] {
        guard !positions.isEmpty else { return [:] }
        var forgotten: [MediaType: MediaTimeRange] = [:]
        for entry in entries[positions] {
            loaded.remove(entry.range)
            current.remove(entry.range)
            withoutMedia.remove(entry.range)
            byteCount -= entry.byteCount
            let known = forgotten[entry.type] ?? entry.range
            forgotten[entry.type] = MediaTimeRange(
                start: min(known.start, entry.range.start),
                end: max(known.end, entry.range.end)
            )
        }
        entries.removeSubrange(positions)
        // Restore the ranges of overlapping segments: later ones are ordered by start, and any earlier one may extend
        // into it.
        let end = forgotten.values.map(\.end).max() ?? .zero
        let behind = entries[positions.lowerBound...].prefix { $0.range.start < end }
        for entry in [entries[..<positions.lowerBound], behind].joined() {
            guard forgotten.values.contains(where: { $0.intersection(entry.range) != nil }) else { continue }
            loaded.insert(entry.range)
        }
        return forgotten
    }

    /// Extends a range to close the gaps before and after it that are within the gap tolerance.
    static func closingGaps(around range: MediaTimeRange, in ranges: MediaTimeRangeSet) -> MediaTimeRange {
        var (start, end) = (range.start, range.end)
        let following = ranges.ranges.partitioningIndex { $0.end > range.start }
        if following > 0 {
            let before = ranges.ranges[following - 1].end
            if range.start - before <= SegmentScheduler.gapTolerance { start = before }
        }
        // In reverse, segments are loaded before those that follow them.
        let behind = ranges.ranges.partitioningIndex { $0.start >= range.end }
        if behind < ranges.ranges.count {
            let after = ranges.ranges[behind].start
            if after - range.end <= SegmentScheduler.gapTolerance { end = after }
        }
        return MediaTimeRange(start: start, end: end)
    }
}
