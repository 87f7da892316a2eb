import DASHManifest
import MediaTiming

/// A segment of a media playlist, or a gap in its place.
struct TrackEntry<Time> {
    /// The index of the segment in its period, or `nil` for a gap.
    let index: Int64?
    /// The start relative to the start of the period.
    let start: Time
    /// The end relative to the start of the period.
    let end: Time
}

/// The segments of a track in a period, with overlaps removed and missing intervals filled by gaps.
///
/// A segment is extended or shortened to end where the next one begins, so that rounding errors do not accumulate.
/// Longer intervals without segments become gaps.
struct TrackEntries<Timing: EntryTiming> {
    /// The maximum duration of an interval without segments that extends the segment before it instead of becoming a
    /// gap: 0.1 seconds.
    ///
    /// Encoders round the starts of audio to whole frames of about 0.02 seconds.
    private let tolerance: Timing.Time

    private var timing: Timing
    private let isGap: Bool
    private let end: Int64
    private let piece: Timing.Time
    /// The longest interval without segments that gaps fill, 1,000 of them at most; longer intervals are omitted.
    private let longestGap: Timing.Time
    private let periodEnd: Timing.Time?
    private let isFollowed: Bool
    private let endsWithPeriod: Bool
    private var index: Int64
    private var position: Timing.Time?
    private var current: (start: Timing.Time, duration: Timing.Time)?
    /// A Boolean value that indicates whether an interval without segments was too long to be filled with gaps.
    private(set) var hasSkippedHole = false

    /// Creates the entries of a range of segments.
    ///
    /// - Parameters:
    ///   - timing: The times of the segments.
    ///   - range: The indices of the segments.
    ///   - isGap: Whether the entries are gaps, because the segments are missing.
    ///   - fillsStart: Whether an interval without segments at the start of the period becomes a gap.
    ///   - periodEnd: The duration of the period, or `nil` if an interval without segments at its end does not become a
    ///     gap.
    ///   - isFollowed: Whether another period follows.
    ///   - endsWithPeriod: Whether the last segment ends where the next period begins, whatever its duration.
    init(
        _ timing: Timing,
        range: Range<Int64>,
        isGap: Bool,
        fillsStart: Bool,
        periodEnd: MediaTime?,
        isFollowed: Bool,
        endsWithPeriod: Bool
    ) {
        var timing = timing
        tolerance = timing.time(MediaTime(value: 1, timescale: 10))
        self.isGap = isGap
        end = range.upperBound
        index = range.lowerBound
        current = range.isEmpty ? nil : timing.timing(at: range.lowerBound)
        position = fillsStart && range.lowerBound == 0 ? Timing.Time.zero : nil
        let shortest = timing.time(MediaTime(seconds: 1))
        let longest = current.map { max($0.duration, shortest) } ?? timing.time(MediaTime(seconds: 10))
        piece = min(longest, timing.time(MediaTime(seconds: 60)))
        longestGap = timing.product(piece, 1_000)
        self.periodEnd = periodEnd.map { timing.time($0) }
        self.isFollowed = isFollowed
        self.endsWithPeriod = endsWithPeriod
        self.timing = timing
    }

    mutating func next() -> TrackEntry<Timing.Time>? {
        while let segment = current {
            if let position, segment.start - position > tolerance, let gap = gap(from: position, to: segment.start) {
                return gap
            }
            let own = index
            index +|= 1
            let following = index < end ? timing.timing(at: index) : nil
            var stop = segment.start + segment.duration
            if let following, following.start - stop <= tolerance {
                stop = max(segment.start, following.start)
            }
            if isFollowed, endsWithPeriod, let periodEnd,
                stop > periodEnd || following == nil && periodEnd - stop <= tolerance
            {
                stop = periodEnd
            }
            current = following
            position = stop
            guard stop > segment.start else { continue }
            return TrackEntry(index: isGap ? nil : own, start: segment.start, end: stop)
        }
        // At the end of the presentation, tracks commonly differ by less than a segment, so no gap is added.
        guard let periodEnd, let position, periodEnd - position > (isFollowed ? tolerance : piece) else {
            return nil
        }
        return gap(from: position, to: periodEnd)
    }

    /// Returns the next gap of an interval without segments, or `nil` if the interval is too long.
    private mutating func gap(from start: Timing.Time, to end: Timing.Time) -> TrackEntry<Timing.Time>? {
        guard end - start <= longestGap else {
            hasSkippedHole = true
            position = end
            return nil
        }
        let stop = min(start + piece, end)
        position = stop
        return TrackEntry(index: nil, start: start, end: stop)
    }
}
