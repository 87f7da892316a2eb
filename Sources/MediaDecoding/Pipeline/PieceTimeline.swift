import MediaTiming

/// What was appended of one type, by the time of the item: where two overlap, the later one to come holds.
struct PieceTimeline<Piece> {
    /// A piece, and what of it is to be played.
    struct Entry {
        /// Tells it from others; the rests of a piece that was cut in two share it.
        let id: Int
        /// What was appended.
        let piece: Piece
        /// The stretch in which it holds.
        var range: MediaTimeRange
    }

    /// In the order of their times, without overlaps.
    private(set) var entries: [Entry] = []
    /// The sum of the costs of all entries.
    private(set) var cost = 0
    private var lastID = 0
    private let costOfPiece: @Sendable (Piece) -> Int

    /// Creates a timeline without pieces.
    ///
    /// - Parameter cost: What a piece costs, as bytes.
    init(cost: @escaping @Sendable (Piece) -> Int = { _ in 0 }) { costOfPiece = cost }

    /// Takes a piece.
    ///
    /// - Returns: Its identifier.
    @discardableResult
    mutating func insert(_ piece: Piece, at range: MediaTimeRange) -> Int {
        remove(range) { _ in true }
        lastID += 1
        let entry = Entry(id: lastID, piece: piece, range: range)
        cost += costOfPiece(piece)
        entries.insert(entry, at: entries.partitioningIndex { $0.range.start >= range.start })
        return lastID
    }

    /// Forgets what lies in a range; a piece that sticks out is kept in part.
    mutating func remove(_ range: MediaTimeRange, where isMeant: (Piece) -> Bool) {
        guard !range.isEmpty else { return }
        let low = entries.partitioningIndex { $0.range.end > range.start }
        var high = low
        var rests: [Entry] = []
        while high < entries.count, entries[high].range.start < range.end {
            let entry = entries[high]
            high += 1
            guard isMeant(entry.piece) else {
                rests.append(entry)
                continue
            }
            if entry.range.start < range.start {
                var rest = entry
                rest.range = MediaTimeRange(start: entry.range.start, end: range.start)
                rests.append(rest)
            }
            if entry.range.end > range.end {
                var rest = entry
                rest.range = MediaTimeRange(start: range.end, end: entry.range.end)
                rests.append(rest)
            }
        }
        for entry in entries[low..<high] { cost -= costOfPiece(entry.piece) }
        for rest in rests { cost += costOfPiece(rest.piece) }
        entries.replaceSubrange(low..<high, with: rests)
    }

    /// Where the entry is in which a time lies.
    func index(at time: MediaTime) -> Int? {
        let index = entries.partitioningIndex { $0.range.end > time }
        return index < entries.count && entries[index].range.contains(time) ? index : nil
    }

    /// Where the first entry is that ends behind a time.
    func index(endingAfter time: MediaTime) -> Int? {
        let index = entries.partitioningIndex { $0.range.end > time }
        return index < entries.count ? index : nil
    }

    /// Whether one entry follows another without a hole that could be heard or seen.
    func isContiguous(_ index: Int) -> Bool {
        guard index > 0, index < entries.count else { return false }
        return entries[index].range.start - entries[index - 1].range.end <= Self.seam
    }

    /// Holes up to this long are nobody's fault: durations in playlists are rounded.
    static var seam: MediaTime { MediaTime(value: 1, timescale: 4) }
}

extension PieceTimeline: Sendable where Piece: Sendable {}
extension PieceTimeline.Entry: Sendable where Piece: Sendable {}
