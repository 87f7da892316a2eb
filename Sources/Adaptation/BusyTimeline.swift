internal import MediaTiming

/// The bit rate over time of all transfers together, in which time shared by several transfers counts once.
///
/// A transfer reports only how many bytes arrived between two times. Its bits are distributed over that interval by
/// filling the parts with the lowest rate first, as if the bandwidth of the link were as constant as possible.
/// Therefore a transfer does not have to be reported while it runs: while one of two concurrent transfers is still
/// unreported, part of the link's rate is missing, and its bits fill that part when it ends. The bits of the most
/// recent transfers are redistributed when an overlapping transfer is added.
///
/// Times are nanoseconds on the caller's clock. At most ``mostPieces`` pieces are kept; ``removeExcess(fullTrust:)``
/// removes and returns the oldest.
struct BusyTimeline: Sendable {
    /// An interval with a constant bit rate.
    struct Piece: Sendable, Equatable {
        var start: Int64
        var end: Int64
        var bitsPerSecond: Double

        var seconds: Double { Double(end -| start) / 1_000_000_000 }
        var bits: Double { bitsPerSecond * seconds }
    }

    /// A bit rate and its weight in an average, in seconds.
    struct Measurement: Sendable {
        let bitsPerSecond: Double
        let weight: Double
    }

    /// A transfer and the distribution of its bits over the timeline.
    private struct Transfer {
        let start: Int64
        let end: Int64
        var shares: [Piece]
    }

    /// The maximum number of pieces, which occupy 3 KiB of memory.
    ///
    /// Eight concurrent transfers leave about 20 pieces that can still change.
    static let mostPieces = 128
    /// The maximum number of transfers whose bits can still be redistributed: two for each of eight concurrent
    /// transfers.
    private static let mostMovable = 16
    /// The number of redistribution passes for each new transfer; three are enough to recover the constant rate of a
    /// link.
    private static let rounds = 3
    /// The longest part of a transfer that is counted, in nanoseconds: its last hour, which limits the effect of wrong
    /// clocks.
    static let longestTransfer: Int64 = 3_600_000_000_000
    /// The maximum bit rate, 100 Gbit/s; higher values result from wrong times.
    static let fastestBitsPerSecond = 100_000_000_000.0

    /// The pieces in ascending order of time, without overlaps.
    private(set) var pieces: [Piece] = []
    /// The time before which the timeline cannot change, because those pieces have been removed.
    private var settledUntil = Int64.min
    /// The most recent transfers, in the order in which they were added.
    private var movable: [Transfer] = []

    /// Marks the interval between two times as busy and distributes the given bits over it.
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

    /// Distributes bits over the busy time between two times, without adding busy time.
    mutating func pourIntoBusyTime(_ bits: Double, from start: Int64, to end: Int64) {
        split(at: start)
        split(at: end)
        _ = raise(from: start, to: end, by: bits)
        joinEqualPieces()
    }

    /// Returns whether any transfer received bytes immediately before the given time.
    func isBusy(before moment: Int64) -> Bool {
        let index = pieces.partitioningIndex { $0.end >= moment }
        return index < pieces.count && pieces[index].start < moment
    }

    /// Returns the measurements of all pieces, oldest first.
    ///
    /// - Parameter fullTrust: A number of bits; a contiguous busy interval with fewer bits has a proportionally smaller
    ///   weight.
    /// - Returns: One measurement for each piece.
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

    /// Removes the oldest pieces in excess of ``mostPieces`` and returns their measurements.
    mutating func removeExcess(fullTrust: Double) -> [Measurement] {
        let excess = pieces.count - Self.mostPieces
        guard excess > 0 else { return [] }
        let removed = Array(measurements(fullTrust: fullTrust).prefix(excess))
        settledUntil = pieces[excess - 1].end
        pieces.removeFirst(excess)
        return removed
    }

    /// Removes all pieces and returns their measurements; afterwards, transfers at any time can be added.
    mutating func removeAll(fullTrust: Double) -> [Measurement] {
        let removed = measurements(fullTrust: fullTrust)
        pieces = []
        movable = []
        settledUntil = .min
        return removed
    }
}

extension BusyTimeline {
    /// Splits the piece that contains the given time so that a piece ends there.
    private mutating func split(at moment: Int64) {
        let index = pieces.partitioningIndex { $0.end > moment }
        guard index < pieces.count, pieces[index].start < moment else { return }
        var left = pieces[index]
        left.end = moment
        pieces[index].start = moment
        pieces.insert(left, at: index)
    }

    /// Fills the gaps between two times with pieces of rate zero.
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

    /// Distributes bits over the pieces between two times, lowest rates first.
    ///
    /// A piece has to begin or end at each of the two times.
    ///
    /// - Returns: The bit rate that each piece gained.
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

    /// Redistributes the bits of the most recent transfers if the given interval overlaps more than one of them.
    ///
    /// The newest transfer comes first: its bits displace those of the one before, and so on back in time.
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

    /// Removes the given shares from the pieces that can still change and returns the number of bits removed.
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

    /// Joins adjacent pieces with the same rate.
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

    /// Returns the indexes of the pieces that are entirely between two times.
    private func range(from start: Int64, to end: Int64) -> Range<Int> {
        let low = pieces.partitioningIndex { $0.start >= start }
        return low..<max(low, pieces.partitioningIndex { $0.end > end })
    }

    /// Returns the rate up to which the pieces are filled when the given bits, more than zero, are distributed over
    /// them.
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
