import MediaTiming

/// A builder that combines consecutive fragments into segments of at least a minimum duration.
struct MediaFileSegmentBuilder {
    private let length: MediaTime
    private var finishedSegments: [MediaFileSegment] = []
    private var time: MediaTimeRange?
    private var bytes = LoadedFileParts.emptyRange

    init(_ length: MediaTime) {
        self.length = length
    }

    /// The end of the byte range collected so far.
    var end: Int64 { bytes.end }
    /// The end of the time range collected so far.
    var timeEnd: MediaTime? { time?.end }
    var isEmpty: Bool { time == nil }

    /// Adds the next fragment; `canStartSegment` indicates whether a segment may start with it.
    mutating func appendFragment(_ fragment: MediaTimeRange, from start: Int64, to end: Int64, canStartSegment: Bool) {
        guard let time else { return startSegment(fragment, from: start, to: end) }
        // If timestamps restart within the file, the timeline continues without a gap.
        let fragment = MediaTimeRange(
            start: fragment.start < time.start ? time.end : fragment.start,
            duration: fragment.duration
        )
        if canStartSegment, time.duration >= length, finishedSegments.count + 1 < Movie.maximumSegmentCount,
            start >= bytes.end
        {
            finishedSegments.append(
                MediaFileSegment(timeRange: MediaTimeRange(start: time.start, end: fragment.start), byteRange: bytes)
            )
            startSegment(fragment, from: start, to: end)
        } else {
            self.time = MediaTimeRange(start: time.start, end: max(time.end, fragment.end))
            extend(to: end)
        }
    }

    /// Extends the last fragment up to the given file offset.
    mutating func extend(to end: Int64) {
        bytes = ByteRange(start: bytes.start, length: max(bytes.end, end) -| bytes.start) ?? bytes
    }

    private mutating func startSegment(_ fragment: MediaTimeRange, from start: Int64, to end: Int64) {
        time = fragment
        bytes = ByteRange(start: start, length: max(0, end.subtractingSaturated(start))) ?? LoadedFileParts.emptyRange
    }

    /// Returns all segments, shifted so that the first one starts at time zero, and its original start time.
    func makeSegments() -> (pieces: [MediaFileSegment], start: MediaTime) {
        guard let time else { return ([], .zero) }
        let all = finishedSegments + [MediaFileSegment(timeRange: time, byteRange: bytes)]
        let start = all.first?.timeRange.start ?? .zero
        let moved = all.map { segment in
            MediaFileSegment(
                timeRange: MediaTimeRange(start: segment.timeRange.start - start, duration: segment.timeRange.duration),
                byteRange: segment.byteRange
            )
        }
        return (moved, start)
    }
}
