internal import MediaTiming

/// When bytes flowed, and how many a second: the union of all transfers, so that time shared by two is counted once.
///
/// A transfer says only how many bytes came between two moments. Its bits are poured over its time as water: the
/// lowest places fill first, as if the link ran as evenly as it can. So it does not matter that a transfer is only
/// known when it has ended. While one of two runs, half of the link is missing; when it ends, its bits go there. The
/// bits of the last few transfers move once more when they learn of one beside them.
///
/// Times are nanoseconds on the caller's clock. At most ``mostPieces`` pieces are kept; the oldest are handed out by
/// ``removeExcess(fullTrust:)``.
struct BusyTimeline: Sendable {
    /// A stretch of time with one rate.
    struct Piece: Sendable, Equatable {
        var start: Int64
        var end: Int64
        var bitsPerSecond: Double

        var seconds: Double { Double(end -| start) / 1_000_000_000 }
        var bits: Double { bitsPerSecond * seconds }
    }

    /// A rate, and for how many seconds it shall count.
    struct Measurement: Sendable {
        let bitsPerSecond: Double
        let weight: Double
    }

    /// The bits of a transfer: where they lie now.
    private struct Transfer {
        let start: Int64
        let end: Int64
        var shares: [Piece]
    }

    /// 128 pieces are 3 KiB; eight transfers at a time leave about twenty that still change.
    static let mostPieces = 128
    /// How many transfers can still be moved: two for each of eight side by side.
    private static let mostMovable = 16
    /// How often they are moved for a new one; with three times, a link of a constant rate comes out even.
    private static let rounds = 3
    /// A single transfer counts for its last hour, whatever the clock says.
    static let longestTransfer: Int64 = 3_600_000_000_000
    /// 100 Gbit/s: more is a wrong number, not a link.
    static let fastestBitsPerSecond = 100_000_000_000.0

    /// The pieces, ascending, without overlaps.
    private(set) var pieces: [Piece] = []
    /// Before this moment nothing can be changed: those pieces have been handed out.
    private var settledUntil = Int64.min
    /// The last transfers, in the order in which they came.
    private var movable: [Transfer] = []

    /// Counts the time between two moments as busy, and bits that came in it.
    mutating func pour(_ bits: Double, from start: Int64, to end: Int64) {
        let first = max(start, settledUntil, end -| Self.longestTransfer)
        guard first < end else { return }
        cover(from: first, to: end)
        let kept = bits * Double(end -| first) / Double(end -| start)
        let shares = raise(from: first, to: end, by: kept)
        if movable.count == Self.mostMovable { movable.removeFirst() }
        movable.append(Transfer(start: first, end: end, shares: shares))
        levelTransfers(from: first, to: end)
        joinEqualPieces()
    }

    /// Counts bits that came at some time between two moments, without adding busy time.
    mutating func pourIntoBusyTime(_ bits: Double, from start: Int64, to end: Int64) {
        split(at: start)
        split(at: end)
        _ = raise(from: start, to: end, by: bits)
        joinEqualPieces()
    }

    /// Whether bytes of some transfer were flowing just before `moment`.
    func isBusy(before moment: Int64) -> Bool {
        let index = pieces.partitioningIndex { $0.end >= moment }
        return index < pieces.count && pieces[index].start < moment
    }

    /// What all pieces say, oldest first.
    ///
    /// - Parameter fullTrust: Bits; an unbroken stretch with fewer counts for less than its time.
    /// - Returns: One measurement a piece.
    func measurements(fullTrust: Double) -> [Measurement] {
        var result: [Measurement] = []
        var first = 0
        while first < pieces.count {
            var next = first + 1
            var bits = pieces[first].bits
            while next < pieces.count, pieces[next].start == pieces[next - 1].end {
                bits += pieces[next].bits
                next += 1
            }
            let trust = fullTrust > 0 ? min(1, bits / fullTrust) : 1
            for piece in pieces[first..<next] {
                result.append(Measurement(bitsPerSecond: piece.bitsPerSecond, weight: piece.seconds * trust))
            }
            first = next
        }
        return result
    }

    /// Takes out the oldest pieces where there are too many, and says what they say.
    mutating func removeExcess(fullTrust: Double) -> [Measurement] {
        let excess = pieces.count - Self.mostPieces
        guard excess > 0 else { return [] }
        let removed = Array(measurements(fullTrust: fullTrust).prefix(excess))
        settledUntil = pieces[excess - 1].end
        pieces.removeFirst(excess)
        return removed
    }

    /// Takes out all pieces and begins anew: any time can be added again.
    mutating func removeAll(fullTrust: Double) -> [Measurement] {
        let removed = measurements(fullTrust: fullTrust)
        pieces = []
        movable = []
        settledUntil = .min
        return removed
    }
}

extension BusyTimeline {
    /// Makes a piece end where `moment` is.
    private mutating func split(at moment: Int64) {
        let index = pieces.partitioningIndex { $0.end > moment }
        guard index < pieces.count, pieces[index].start < moment else { return }
        var left = pieces[index]
        left.end = moment
        pieces[index].start = moment
        pieces.insert(left, at: index)
    }

    /// Fills the holes between two moments with pieces in which nothing flowed yet.
    private mutating func cover(from start: Int64, to end: Int64) {
        split(at: start)
        split(at: end)
        var index = pieces.partitioningIndex { $0.end > start }
        var moment = start
        while moment < end {
            let next = index < pieces.count ? min(pieces[index].start, end) : end
            if next > moment {
                pieces.insert(Piece(start: moment, end: next, bitsPerSecond: 0), at: index)
            }
            moment = pieces[index].end
            index += 1
        }
    }

    /// Pours bits over the pieces between two moments, at which pieces end; the lowest fill first.
    ///
    /// - Returns: What each piece got.
    private mutating func raise(from start: Int64, to end: Int64, by bits: Double) -> [Piece] {
        let range = self.range(from: start, to: end)
        guard !range.isEmpty, bits > 0 else { return [] }
        let level = Self.level(of: pieces[range], raisedBy: bits)
        var shares: [Piece] = []
        for index in range where pieces[index].bitsPerSecond < level {
            var share = pieces[index]
            share.bitsPerSecond = level - share.bitsPerSecond
            shares.append(share)
            pieces[index].bitsPerSecond = level
        }
        return shares
    }

    /// Pours the last transfers once more, each without its own bits in the way, if a new one overlaps with any.
    ///
    /// The newest goes first: it pushes the one before it back in time, and that one those before.
    private mutating func levelTransfers(from start: Int64, to end: Int64) {
        let overlapping = movable.count { $0.start < end && start < $0.end }
        guard overlapping > 1 else { return }
        for _ in 0..<Self.rounds {
            for index in movable.indices.reversed() {
                let first = max(movable[index].start, settledUntil)
                guard first < movable[index].end else { continue }
                let bits = takeBack(movable[index].shares)
                split(at: first)
                split(at: movable[index].end)
                movable[index].shares = raise(from: first, to: movable[index].end, by: bits)
            }
        }
    }

    /// Takes bits out of the pieces that have not been handed out, and counts them.
    private mutating func takeBack(_ shares: [Piece]) -> Double {
        var bits = 0.0
        for share in shares where share.end > settledUntil {
            split(at: share.start)
            split(at: share.end)
            for index in range(from: max(share.start, settledUntil), to: share.end) {
                pieces[index].bitsPerSecond = max(0, pieces[index].bitsPerSecond - share.bitsPerSecond)
                bits += share.bitsPerSecond * pieces[index].seconds
            }
        }
        return bits
    }

    /// Makes one piece of neighbours with the same rate.
    private mutating func joinEqualPieces() {
        var joined: [Piece] = []
        for piece in pieces {
            if let last = joined.last, last.end == piece.start, last.bitsPerSecond == piece.bitsPerSecond {
                joined[joined.count - 1].end = piece.end
            } else {
                joined.append(piece)
            }
        }
        pieces = joined
    }

    /// The pieces that lie between two moments altogether.
    private func range(from start: Int64, to end: Int64) -> Range<Int> {
        let low = pieces.partitioningIndex { $0.start >= start }
        return low..<max(low, pieces.partitioningIndex { $0.end > end })
    }

    /// How high the water stands when bits, more than none, are poured over pieces.
    private static func level(of pieces: ArraySlice<Piece>, raisedBy bits: Double) -> Double {
        var left = bits
        var level = 0.0
        var seconds = 0.0
        for piece in pieces.sorted(by: { $0.bitsPerSecond < $1.bitsPerSecond }) {
            let needed = (piece.bitsPerSecond - level) * seconds
            guard needed < left else { break }
            left -= needed
            level = piece.bitsPerSecond
            seconds += piece.seconds
        }
        return min(level + left / seconds, fastestBitsPerSecond)
    }
}
