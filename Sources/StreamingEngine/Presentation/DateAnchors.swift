import HLSPlaylist
import MediaTiming

/// The mapping from presentation time to dates: the program dates of a playlist that cannot be derived from earlier
/// ones.
///
/// Dates never change media time. They may jump in either direction, at discontinuities and elsewhere (RFC 8216bis
/// §4.4.4.6).
struct DateAnchors: Sendable {
    /// A date that applies from a presentation time until the next anchor; ``position`` is in nanoseconds.
    struct Anchor: Sendable {
        let position: Int64
        let date: ProgramDateTime
        /// The date in nanoseconds since 1970; dates from the year 2262 on are clamped.
        let nanoseconds: Int64

        init(position: Int64, date: ProgramDateTime) {
            self.position = position
            self.date = date
            nanoseconds = date.sinceEpoch.nanoseconds
        }

        /// Returns the date of a presentation time, extrapolated from this anchor in either direction.
        func date(at other: Int64) -> ProgramDateTime {
            date.advanced(by: MediaTime(nanoseconds: other.subtractingSaturated(position)))
        }

        /// Returns the date of a presentation time in nanoseconds since 1970, extrapolated from this anchor.
        func nanoseconds(at other: Int64) -> Int64 {
            nanoseconds.addingSaturated(other.subtractingSaturated(position))
        }
    }

    private(set) var anchors: [Anchor] = []

    /// The maximum difference, in nanoseconds, up to which a date counts as a continuation of the previous anchor.
    ///
    /// 1 ms, because packagers round dates to milliseconds.
    private static let tolerance: Int64 = 1_000_000

    var isEmpty: Bool { anchors.isEmpty }

    /// Appends a date at a presentation time that is not before those of the other dates.
    mutating func append(_ date: ProgramDateTime, at position: Int64) {
        let anchor = Anchor(position: position, date: date)
        if let last = anchors.last {
            let difference = anchor.nanoseconds.subtractingSaturated(last.nanoseconds(at: position))
            if difference.magnitude <= Self.tolerance.magnitude { return }
            if last.position == position { anchors.removeLast() }
        }
        anchors.append(anchor)
    }

    /// Removes the anchors that do not apply at or after a presentation time.
    mutating func removeAnchors(before position: Int64) {
        let first = anchors.partitioningIndex { $0.position > position }
        if first > 1 { anchors.removeFirst(first - 1) }
    }

    /// Shifts all presentation times by an offset.
    mutating func shift(by offset: Int64) {
        anchors = anchors.map { Anchor(position: $0.position.addingSaturated(offset), date: $0.date) }
    }

    /// Returns the anchor that applies at a presentation time; before the first one, dates are extrapolated back
    /// (§4.4.4.6).
    func anchor(at position: Int64) -> Anchor? {
        guard !anchors.isEmpty else { return nil }
        return anchors[max(0, anchors.partitioningIndex { $0.position > position } - 1)]
    }

    /// Returns the presentation time of a date.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - start: The start of the timeline.
    ///   - end: The end of the timeline.
    /// - Returns: The first presentation time with the date. If there is none, the time after the first jump that skips
    ///   the date, or else the nearer end of the timeline. `nil` without dates.
    /// - Complexity: O(*n*) in the number of anchors.
    func position(of date: ProgramDateTime, from start: Int64, to end: Int64) -> (place: Int64, relation: DateRelation)?
    {
        guard let first = anchors.first else { return nil }
        let date = date.sinceEpoch.nanoseconds
        var earliest = first.nanoseconds(at: start)
        var latest = earliest
        var positionAfterJump: Int64?
        for (position, anchor) in anchors.enumerated() {
            let low = position == 0 ? start : anchor.position
            let high = position + 1 < anchors.count ? anchors[position + 1].position : end
            let (lowDate, highDate) = (anchor.nanoseconds(at: low), anchor.nanoseconds(at: high))
            if date >= lowDate, date < highDate {
                return (low.addingSaturated(date.subtractingSaturated(lowDate)), .inside)
            }
            if date < lowDate, date >= latest { positionAfterJump = low }
            earliest = min(earliest, lowDate)
            latest = max(latest, highDate)
        }
        if let positionAfterJump { return (positionAfterJump, .skipped) }
        return date < earliest ? (start, .beforeStart) : (end, .afterEnd)
    }
}
