import MediaTiming

/// An amount of media, and the part of it that is certainly lost.
///
/// Only bytes or samples that no intact segment contains count as lost. Media that a segment merely lacks does not: the
/// last segment, sparse video or a key frame for trick play may be much shorter than the playlist declares. Media that
/// is missing between two segments is found from their timestamps (``DecodableSegment/missingMedia(before:offset:)``).
struct MediaLoss: Sendable, Hashable {
    /// The part of ``total`` that is lost.
    private(set) var lost = 0
    /// The amount of media, in bytes or samples.
    private(set) var total = 0

    /// A Boolean value that indicates whether more than half of the media is lost.
    var isMostOfMedia: Bool { lost > total / 2 }

    /// Adds media.
    ///
    /// - Parameters:
    ///   - lost: The part that is lost, in the same unit as `total`.
    ///   - total: The amount of media.
    mutating func add(_ lost: Int, of total: Int) {
        self.lost +|= lost
        self.total +|= total
    }
}

extension MediaTimeRange {
    /// Returns the range from the earlier start to the later end.
    func union(_ other: MediaTimeRange) -> MediaTimeRange {
        MediaTimeRange(start: min(start, other.start), end: max(end, other.end))
    }

    /// Returns the union of ranges in ascending order, in which ranges are joined if the time between them is at most
    /// 100 ms, as it is between packets whose timestamps are rounded or whose durations are unknown.
    static func joined(_ ranges: [MediaTimeRange]) -> [MediaTimeRange] {
        let tolerance = MediaTime(value: 1, timescale: 10)
        var result: [MediaTimeRange] = []
        for range in ranges.sorted(by: { $0.start < $1.start }) {
            if let last = result.last, range.start - last.end <= tolerance {
                result[result.count - 1] = last.union(range)
            } else {
                result.append(range)
            }
        }
        return result
    }
}
