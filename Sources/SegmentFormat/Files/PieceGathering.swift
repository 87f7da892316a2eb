import MediaTiming

/// A builder that combines consecutive fragments into segments of at least a minimum duration.
struct PieceGathering {
    private let length: MediaTime
    private var closed: [MediaFilePiece] = []
    private var time: MediaTimeRange?
    private var bytes = FileBytes.nothing

    init(_ length: MediaTime) {
        self.length = length
    }

    /// The end of the byte range collected so far.
    var end: Int64 { bytes.end }
    /// The end of the time range collected so far.
    var timeEnd: MediaTime? { time?.end }
    var isEmpty: Bool { time == nil }

    /// Adds the next fragment; `canBegin` indicates whether a segment may start with it.
    mutating func add(_ fragment: MediaTimeRange, from start: Int64, to end: Int64, canBegin: Bool) {
        guard let time else { return begin(fragment, start, end) }
        // If timestamps restart within the file, the timeline continues without a gap.
        let fragment = MediaTimeRange(
            start: fragment.start < time.start ? time.end : fragment.start,
            duration: fragment.duration
        )
        if canBegin, time.duration >= length, closed.count + 1 < Movie.mostPieces, start >= bytes.end {
            closed.append(
                MediaFilePiece(timeRange: MediaTimeRange(start: time.start, end: fragment.start), byteRange: bytes)
            )
            begin(fragment, start, end)
        } else {
            self.time = MediaTimeRange(start: time.start, end: max(time.end, fragment.end))
            extend(to: end)
        }
    }

    /// Extends the last fragment up to the given file offset.
    mutating func extend(to end: Int64) {
        bytes = ByteRange(start: bytes.start, length: max(bytes.end, end) -| bytes.start) ?? bytes
    }

    private mutating func begin(_ fragment: MediaTimeRange, _ start: Int64, _ end: Int64) {
        time = fragment
        bytes = ByteRange(start: start, length: max(0, end.subtractingSaturated(start))) ?? FileBytes.nothing
    }

    /// Returns all segments, shifted so that the first one starts at time zero, and its original start time.
    func pieces() -> (pieces: [MediaFilePiece], start: MediaTime) {
        guard let time else { return ([], .zero) }
        let all = closed + [MediaFilePiece(timeRange: time, byteRange: bytes)]
        let start = all.first?.timeRange.start ?? .zero
        let moved = all.map { piece in
            MediaFilePiece(
                timeRange: MediaTimeRange(start: piece.timeRange.start - start, duration: piece.timeRange.duration),
                byteRange: piece.byteRange
            )
        }
        return (moved, start)
    }
}
