internal import MediaTiming

/// The bit rate over time of all transfers together, in which time shared by several transfers counts once.
///
/// A transfer reports only how many bytes arrived between two times. Its bits are distributed over that interval by
/// filling the parts with the lowest rate first, as if the bandwidth of the link were as constant as possible.
/// Therefore a transfer does not have to be reported while it runs: while one of two concurrent transfers is still
/// unreported, a part of the link's rate is missing. When that transfer ends, its bits fill this part. The bits of the
/// most recent transfers are redistributed when an overlapping transfer is added.
///
/// Times are nanoseconds on the caller's clock. At most ``maximumPieceCount`` pieces are kept; ``removeExcess(fullWeightBits:)``
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
    static let maximumPieceCount = 128
    /// The maximum number of transfers whose bits can still be redistributed: two for each of eight concurrent
    /// transfers.
    private static let maximumRecentTransferCount = 16
    /// The number of redistribution passes for each new transfer; three are enough to recover the constant rate of a
    /// link.
    private static let redistributionPassCount = 3
    /// The longest part of a transfer that is counted, in nanoseconds: its last hour, which limits the effect of wrong
    /// clocks.
    static let maximumTransferDuration: Int64 = 3_600_000_000_000
    /// The maximum bit rate, 100 Gbit/s; higher values result from wrong times.
    static let maximumBitsPerSecond = 100_000_000_000.0

    /// The pieces in ascending order of time, without overlaps.
    private(set) var pieces: [Piece] = []
    /// The time before which the timeline cannot change, because the pieces before this time have been removed.
    private var unchangeableUntil = Int64.min
    /// The most recent transfers, in the order in which they were added.
    private var recentTransfers: [Transfer] = []

    /// Marks the interval between two times as busy and distributes the given bits over it.
    mutating func addTransfer(bits: Double, from start: Int64, to end: Int64) {
        let first = max(start, unchangeableUntil, end -| Self.maximumTransferDuration)
        guard first < end else { return }
        fillGaps(from: first, to: end)
        let kept = bits * Double(end -| first) / Double(end -| start)
        let shares = distribute(bits: first, from: end, to: kept)
        if recentTransfers.count == Self.maximumRecentTransferCount { recentTransfers.removeFirst() }
        recentTransfers.append(Transfer(start: first, end: end, shares: shares))
        redistributeTransfers(from: first, to: end)
        mergeEqualPieces()
    }

    /// Distributes bits over the busy time between two times, without adding busy time.
    mutating func addToBusyTime(bits: Double, from start: Int64, to end: Int64) {
        split(at: start)
        split(at: end)
        _ = distribute(bits: start, from: end, to: bits)
        mergeEqualPieces()
    }

    /// Returns whether any transfer received bytes immediately before the given time.
    func isBusy(before moment: Int64) -> Bool {
        let index = pieces.partitioningIndex { $0.end >= moment }
        return index < pieces.count && pieces[index].start < moment
    }

    /// Returns the measurements of all pieces, oldest first.
    ///
    /// - Parameter fullWeightBits: A number of bits; a contiguous busy interval with fewer bits has a proportionally smaller
    ///   weight.
    /// - Returns: One measurement for each piece.
    func measurements(fullWeightBits: Double) -> [Measurement] {
        var result: [Measurement] = []
        var first = 0
        while first < pieces.count {
            var next = first + 1
            var bits = pieces[first].bits
            while next < pieces.count, pieces[next].start == pieces[next - 1].end {
                bits += pieces[next].bits
                next += 1
            }
            let trust = fullWeightBits > 0 ? min(1, bits / fullWeightBits) : 1
            for piece in pieces[first..<next] {
                result.append(Measurement(bitsPerSecond: piece.bitsPerSecond, weight: piece.seconds * trust))
            }
            first = next
        }
        return result
    }

    /// Removes the oldest pieces in excess of ``maximumPieceCount`` and returns their measurements.
    mutating func removeExcess(fullWeightBits: Double) -> [Measurement] {
        let excess = pieces.count - Self.maximumPieceCount
        guard excess > 0 else { return [] }
        let removed = Array(measurements(fullWeightBits: fullWeightBits).prefix(excess))
        unchangeableUntil = pieces[excess - 1].end
        pieces.removeFirst(excess)
        return removed
    }

    /// Removes all pieces and returns their measurements; afterwards, transfers at any time can be added.
    mutating func removeAll(fullWeightBits: Double) -> [Measurement] {
        let removed = measurements(fullWeightBits: fullWeightBits)
        pieces = []
        recentTransfers = []
        unchangeableUntil = .min
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
    private mutating func fillGaps(from start: Int64, to end: Int64) {
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
    private mutating func distribute(bits start: Int64, from end: Int64, to bits: Double) -> [Piece] {
        let range = self.range(from: start, to: end)
        guard !range.isEmpty, bits > 0 else { return [] }
        let level = Self.fillLevel(of: pieces[range], addingBits: bits)
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
    /// The newest transfer comes first: its bits displace the bits of the previous transfer, and so on back in time.
    private mutating func redistributeTransfers(from start: Int64, to end: Int64) {
        let overlapping = recentTransfers.count { $0.start < end && start < $0.end }
        guard overlapping > 1 else { return }
        for _ in 0..<Self.redistributionPassCount {
            for index in recentTransfers.indices.reversed() {
                let first = max(recentTransfers[index].start, unchangeableUntil)
                guard first < recentTransfers[index].end else { continue }
                let bits = removeShares(recentTransfers[index].shares)
                split(at: first)
                split(at: recentTransfers[index].end)
                recentTransfers[index].shares = distribute(bits: first, from: recentTransfers[index].end, to: bits)
            }
        }
    }

    /// Removes the given shares from the pieces that can still change and returns the number of bits removed.
    private mutating func removeShares(_ shares: [Piece]) -> Double {
        var bits = 0.0
        for share in shares where share.end > unchangeableUntil {
            split(at: share.start)
            split(at: share.end)
            for index in range(from: max(share.start, unchangeableUntil), to: share.end) {
                pieces[index].bitsPerSecond = max(0, pieces[index].bitsPerSecond - share.bitsPerSecond)
                bits += share.bitsPerSecond * pieces[index].seconds
            }
        }
        return bits
    }

    /// Joins adjacent pieces with the same rate.
    private mutating func mergeEqualPieces() {
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
    private static func fillLevel(of pieces: ArraySlice<Piece>, addingBits bits: Double) -> Double {
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
        return min(level + left / seconds, maximumBitsPerSecond)
    }
}
