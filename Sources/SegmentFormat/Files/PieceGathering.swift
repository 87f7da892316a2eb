import MediaTiming

/// Puts neighbouring fragments together until they are long enough for a piece.
struct PieceGathering {
    private let length: MediaTime
    private var closed: [MediaFilePiece] = []
    private var time: MediaTimeRange?
    private var bytes = FileBytes.nothing

    init(_ length: MediaTime) {
        self.length = length
    }

    /// Where the bytes gathered so far end.
    var end: Int64 { bytes.end }
    /// What time was gathered so far.
    var timeEnd: MediaTime? { time?.end }
    var isEmpty: Bool { time == nil }

    /// Adds a fragment that follows the ones before; `canBegin` tells whether a piece may begin with it.
    mutating func add(_ fragment: MediaTimeRange, from start: Int64, to end: Int64, canBegin: Bool) {
        guard let time else { return begin(fragment, start, end) }
        // Where timestamps begin anew in the middle of a file, its timeline goes on.
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

    /// Bytes that belong to the last fragment.
    mutating func extend(to end: Int64) {
        bytes = ByteRange(start: bytes.start, length: max(bytes.end, end) -| bytes.start) ?? bytes
    }

    private mutating func begin(_ fragment: MediaTimeRange, _ start: Int64, _ end: Int64) {
        time = fragment
        bytes = ByteRange(start: start, length: max(0, end.subtractingSaturated(start))) ?? FileBytes.nothing
    }

    /// All pieces, moved so that the first begins at zero, and where it began before.
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
