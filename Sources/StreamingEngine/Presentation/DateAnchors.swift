import HLSPlaylist
import MediaTiming

/// Which presentation time goes with which date: the dates that a playlist writes, where they say something new.
///
/// Dates never shift media time; they may jump to either side, at discontinuities and elsewhere (RFC 8216bis §4.4.4.6).
struct DateAnchors: Sendable {
    /// A date that holds on from its place until the next one.
    struct Anchor: Sendable {
        let place: Int64
        let date: ProgramDateTime
        /// The date in nanoseconds since 1970; those of the year 2262 and later are clamped.
        let nanoseconds: Int64

        init(place: Int64, date: ProgramDateTime) {
            self.place = place
            self.date = date
            nanoseconds = date.sinceEpoch.nanoseconds
        }

        /// The date of a place, counted on or back from this one.
        func date(at other: Int64) -> ProgramDateTime {
            date.advanced(by: MediaTime(nanoseconds: other.subtractingSaturated(place)))
        }

        /// The same in nanoseconds since 1970.
        func nanoseconds(at other: Int64) -> Int64 {
            nanoseconds.addingSaturated(other.subtractingSaturated(place))
        }
    }

    private(set) var anchors: [Anchor] = []

    /// Packagers round dates to milliseconds: what differs by less goes on where the last date was.
    private static let tolerance: Int64 = 1_000_000

    var isEmpty: Bool { anchors.isEmpty }

    /// Takes a date that is written behind all others.
    mutating func append(_ date: ProgramDateTime, at place: Int64) {
        let anchor = Anchor(place: place, date: date)
        if let last = anchors.last {
            let difference = anchor.nanoseconds.subtractingSaturated(last.nanoseconds(at: place))
            if difference.magnitude <= Self.tolerance.magnitude { return }
            if last.place == place { anchors.removeLast() }
        }
        anchors.append(anchor)
    }

    /// Forgets what no longer holds from `place` on.
    mutating func forget(before place: Int64) {
        let first = anchors.partitioningIndex { $0.place > place }
        if first > 1 { anchors.removeFirst(first - 1) }
    }

    /// Moves all places.
    mutating func shift(by offset: Int64) {
        anchors = anchors.map { Anchor(place: $0.place.addingSaturated(offset), date: $0.date) }
    }

    /// The one that holds at a place; before the first, the first is counted back from (§4.4.4.6).
    func anchor(at place: Int64) -> Anchor? {
        guard !anchors.isEmpty else { return nil }
        return anchors[max(0, anchors.partitioningIndex { $0.place > place } - 1)]
    }

    /// Where a date lies.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - start: Where the timeline begins.
    ///   - end: Where it ends.
    /// - Returns: The first place that has the date. Where none has: the first behind a jump over it, else the border of
    ///   the timeline that is nearer to it. `nil` without dates.
    /// - Complexity: O(*n*) in jumps of the date.
    func place(of date: ProgramDateTime, from start: Int64, to end: Int64) -> (place: Int64, relation: DateRelation)? {
        guard let first = anchors.first else { return nil }
        let date = date.sinceEpoch.nanoseconds
        var earliest = first.nanoseconds(at: start)
        var latest = earliest
        var isBehindJump: Int64?
        for (position, anchor) in anchors.enumerated() {
            let low = position == 0 ? start : anchor.place
            let high = position + 1 < anchors.count ? anchors[position + 1].place : end
            let (lowDate, highDate) = (anchor.nanoseconds(at: low), anchor.nanoseconds(at: high))
            if date >= lowDate, date < highDate {
                return (low.addingSaturated(date.subtractingSaturated(lowDate)), .inside)
            }
            if isBehindJump == nil, date < lowDate, date >= latest { isBehindJump = low }
            earliest = min(earliest, lowDate)
            latest = max(latest, highDate)
        }
        if let isBehindJump { return (isBehindJump, .betweenJumps) }
        return date < earliest ? (start, .beforeStart) : (end, .afterEnd)
    }
}
