import DASHManifest
import MediaTiming

/// A segment of a media playlist, or a gap in its place.
struct TrackEntry {
    /// The index of the segment in its period, or `nil` for a gap.
    let index: Int64?
    /// The start relative to the start of the period.
    let start: MediaTime
    /// The end relative to the start of the period.
    let end: MediaTime
}

/// The segments of a track in a period, with overlaps removed and missing intervals filled by gaps.
///
/// A segment is extended or shortened to end where the next one begins, so that rounding errors do not accumulate.
/// Longer intervals without segments become gaps.
struct TrackEntries: Sequence, IteratorProtocol {
    /// The maximum duration of an interval without segments that extends the segment before it instead of becoming a
    /// gap: 0.1 seconds.
    ///
    /// Encoders round the starts of audio to whole frames of about 0.02 seconds.
    static let tolerance = MediaTime(value: 1, timescale: 10)
    /// The maximum number of gaps that fill an interval without segments; longer intervals are omitted.
    private static let maximumGapCount: Int64 = 1_000

    private let addressing: SegmentAddressing
    private let isGap: Bool
    private let end: Int64
    private let piece: MediaTime
    private let periodEnd: MediaTime?
    private let isFollowed: Bool
    private var index: Int64
    private var position: MediaTime?
    private var current: (start: MediaTime, duration: MediaTime)?
    /// A Boolean value that indicates whether an interval without segments was too long to be filled with gaps.
    private(set) var hasSkippedHole = false

    /// Creates the entries of a range of segments.
    ///
    /// - Parameters:
    ///   - addressing: The addresses of the segments.
    ///   - range: The indices of the segments.
    ///   - isGap: Whether the entries are gaps, because the segments are missing.
    ///   - fillsStart: Whether an interval without segments at the start of the period becomes a gap.
    ///   - periodEnd: The duration of the period, or `nil` if an interval without segments at its end does not become a
    ///     gap.
    ///   - isFollowed: Whether another period follows, so that the last segment must end where that period begins.
    init(
        _ addressing: SegmentAddressing,
        range: Range<Int64>,
        isGap: Bool,
        fillsStart: Bool,
        periodEnd: MediaTime?,
        isFollowed: Bool
    ) {
        self.addressing = addressing
        self.isGap = isGap
        end = range.upperBound
        index = range.lowerBound
        current = range.isEmpty ? nil : addressing.timing(at: range.lowerBound)
        position = fillsStart && range.lowerBound == 0 ? .zero : nil
        let longest = current.map { Swift.max($0.duration, MediaTime(seconds: 1)) } ?? MediaTime(seconds: 10)
        piece = Swift.min(longest, MediaTime(seconds: 60))
        self.periodEnd = periodEnd
        self.isFollowed = isFollowed
    }

    mutating func next() -> TrackEntry? {
        while let segment = current {
            if let position, segment.start - position > Self.tolerance, let gap = gap(from: position, to: segment.start)
            {
                return gap
            }
            let own = index
            index +|= 1
            let following = index < end ? addressing.timing(at: index) : nil
            var stop = segment.start + segment.duration
            if let following, following.start - stop <= Self.tolerance {
                stop = Swift.max(segment.start, following.start)
            }
            if isFollowed, let periodEnd, stop > periodEnd || following == nil && periodEnd - stop <= Self.tolerance {
                stop = periodEnd
            }
            current = following
            position = stop
            guard stop > segment.start else { continue }
            return TrackEntry(index: isGap ? nil : own, start: segment.start, end: stop)
        }
        // At the end of the presentation, tracks commonly differ by less than a segment, so no gap is added.
        guard let periodEnd, let position, periodEnd - position > (isFollowed ? Self.tolerance : piece) else {
            return nil
        }
        return gap(from: position, to: periodEnd)
    }

    /// Returns the next gap of an interval without segments, or `nil` if the interval is too long.
    private mutating func gap(from start: MediaTime, to end: MediaTime) -> TrackEntry? {
        guard end - start <= piece * Self.maximumGapCount else {
            hasSkippedHole = true
            position = end
            return nil
        }
        let stop = Swift.min(start + piece, end)
        position = stop
        return TrackEntry(index: nil, start: start, end: stop)
    }
}
