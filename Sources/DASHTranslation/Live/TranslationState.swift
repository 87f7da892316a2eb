import MediaTiming

/// The values that successive translations of a dynamic presentation share, so that sequence numbers are continuous.
package struct TranslationState: Sendable, Hashable {
    /// The tracks in the order of the playlists.
    package internal(set) var tracks: [TrackDescriptor] = []
    /// The target duration of all playlists, in seconds; it only grows.
    package internal(set) var targetDuration: Int64 = 0
    /// The discontinuity sequence numbers of the periods in the previous manifest, by their keys.
    var discontinuities: [String: Int64] = [:]
    /// The windows of the playlists in the previous translation, in the order of the tracks.
    var windows: [TrackWindow] = []
    /// The media sequence numbers of the first segments after a restart, which begin with a discontinuity, in the order of
    /// the tracks; empty if there was none.
    var restarts: [Int64] = []

    /// Creates the state before the first translation.
    package init() {}
}

/// The segments that a media playlist listed, by which the next version finds its sequence numbers.
struct TrackWindow: Sendable, Hashable {
    /// The media sequence number of the first segment.
    let firstSequence: Int64
    /// The starts of the segments on the timeline of the presentation.
    let starts: EntryStarts
    /// The end of the last segment.
    let end: MediaTime

    /// Returns the media sequence number of a segment that begins at a time.
    ///
    /// A segment after the end of the window is counted on, with the segments of its duration that were never listed.
    ///
    /// - Parameters:
    ///   - start: The start of the segment on the timeline of the presentation.
    ///   - duration: The duration of the segment.
    /// - Returns: The number, or `nil` for a segment before the window.
    func sequence(of start: MediaTime, duration: MediaTime) -> Int64? {
        // The nearest start counts, because manifests round.
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = low + (high - low) / 2
            if starts[middle] + half(duration) < start || starts[middle] + half(duration) == start {
                low = middle + 1
            } else {
                high = middle
            }
        }
        // A segment can be shorter than the distance within which others count.
        while low + 1 < starts.count, Self.distance(starts[low + 1], start) < Self.distance(starts[low], start) {
            low += 1
        }
        if low < starts.count {
            guard low > 0 || starts[0] - start <= half(duration) else { return nil }
            return firstSequence +| Int64(clamping: low)
        }
        let missing = start - end
        let count = firstSequence +| Int64(clamping: starts.count)
        guard missing > half(duration), duration > .zero else { return count }
        return count +| Self.quotient(missing, duration)
    }

    private static func distance(_ first: MediaTime, _ second: MediaTime) -> MediaTime {
        max(first - second, second - first)
    }

    private func half(_ duration: MediaTime) -> MediaTime { duration.scaled(by: MediaTime(value: 1, timescale: 2)) }

    /// Returns the quotient of two times, rounded to the nearest integer.
    static func quotient(_ dividend: MediaTime, _ divisor: MediaTime) -> Int64 {
        guard divisor > .zero else { return 0 }
        return dividend.scaled(by: MediaTime(value: divisor.timescale, timescale: divisor.value)).roundedSeconds
    }
}
