import HLSPlaylist
import MediaTiming

/// An index of the presentation times of dates, in which each lookup is a binary search.
///
/// The results are those of ``DateAnchors/position(of:from:to:)``, which iterates over all anchors for each date.
struct DateIndex: Sendable {
    /// A range of dates that is mapped to presentation time by one anchor.
    private struct MappedRange {
        var dates: Range<Int64>
        /// The presentation time of the first date, in nanoseconds.
        var position: Int64
    }

    /// The ranges in the order of their dates, without overlaps: a date that occurs twice has its first presentation
    /// time.
    private var mappedRanges: [MappedRange] = []
    /// The forward jumps in the order of their dates: the skipped dates, and the presentation time after the jump.
    private var jumps: [MappedRange] = []
    private var earliest: Int64 = 0
    private let start: Int64
    private let end: Int64
    private let isEmpty: Bool

    /// Creates an index.
    ///
    /// - Complexity: O(*n* log *n*) in anchors.
    init(_ anchors: DateAnchors, from start: Int64, to end: Int64) {
        self.start = start
        self.end = end
        let all = anchors.anchors
        isEmpty = all.isEmpty
        guard let first = all.first else { return }
        earliest = first.nanoseconds(at: start)
        var latest = earliest
        var found: [MappedRange] = []
        for (position, anchor) in all.enumerated() {
            let low = position == 0 ? start : anchor.position
            let high = position + 1 < all.count ? all[position + 1].position : end
            let (lowDate, highDate) = (anchor.nanoseconds(at: low), anchor.nanoseconds(at: high))
            if lowDate > latest { jumps.append(MappedRange(dates: latest..<lowDate, position: low)) }
            if lowDate < highDate { found.append(MappedRange(dates: lowDate..<highDate, position: low)) }
            earliest = min(earliest, lowDate)
            latest = max(latest, highDate)
        }
        mappedRanges = Self.withoutOverlaps(found)
    }

    /// Assigns each date to the first range that contains it.
    private static func withoutOverlaps(_ found: [MappedRange]) -> [MappedRange] {
        // Between two adjacent boundaries, all dates belong to the same ranges.
        let boundaries = Set(found.flatMap { [$0.dates.lowerBound, $0.dates.upperBound] }).sorted()
        var owners = [Int?](repeating: nil, count: boundaries.count)
        // A disjoint-set forest that finds the next cell without an owner.
        var next = Array(0...boundaries.count)
        func free(_ cell: Int) -> Int {
            var cell = cell
            while next[cell] != cell {
                next[cell] = next[next[cell]]
                cell = next[cell]
            }
            return cell
        }
        for (owner, stretch) in found.enumerated() {
            let low = boundaries.partitioningIndex { $0 >= stretch.dates.lowerBound }
            let high = boundaries.partitioningIndex { $0 >= stretch.dates.upperBound }
            var cell = free(low)
            while cell < high {
                owners[cell] = owner
                next[cell] = cell + 1
                cell = free(cell)
            }
        }
        return owners.indices.compactMap { cell in
            guard let owner = owners[cell], cell + 1 < boundaries.count else { return nil }
            let distance = boundaries[cell].subtractingSaturated(found[owner].dates.lowerBound)
            return MappedRange(
                dates: boundaries[cell]..<boundaries[cell + 1],
                position: found[owner].position.addingSaturated(distance)
            )
        }
    }

    /// Returns the presentation time of a date and its relation to the timeline, or `nil` without dates.
    ///
    /// - Complexity: O(log *n*) in the number of anchors.
    func position(of date: ProgramDateTime) -> (place: Int64, relation: DateRelation)? {
        guard !isEmpty else { return nil }
        let date = date.sinceEpoch.nanoseconds
        if let stretch = Self.range(containing: date, in: mappedRanges) {
            return (stretch.position.addingSaturated(date.subtractingSaturated(stretch.dates.lowerBound)), .inside)
        }
        if let jump = Self.range(containing: date, in: jumps) { return (jump.position, .skipped) }
        return date < earliest ? (start, .beforeStart) : (end, .afterEnd)
    }

    private static func range(containing date: Int64, in list: [MappedRange]) -> MappedRange? {
        let behind = list.partitioningIndex { $0.dates.lowerBound > date }
        guard behind > 0, list[behind - 1].dates.contains(date) else { return nil }
        return list[behind - 1]
    }
}
