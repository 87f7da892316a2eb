import MediaTiming

/// The measurements of a track's entries that its playlist and variant need.
struct TrackMeasure {
    /// The longest duration of an entry, rounded to seconds.
    var longestSeconds: Int64 = 0
    /// The starts on the timeline of the presentation; empty for static presentations.
    var starts = EntryStarts()
    /// The duration of the first entry.
    var firstDuration: MediaTime = .zero
    /// The end of the last entry on the timeline of the presentation.
    var end: MediaTime = .zero
    var duration: MediaTime = .zero
    var byteCount: Int64 = 0
    /// The highest bit rate of a segment, in bits per second.
    var peak: Int64 = 0
    /// A Boolean value that indicates whether the sizes of all segments are known.
    var hasSizes = true
    /// A Boolean value that indicates whether all entries but the last have the same duration.
    var isUniform = true
    var hasSkippedHole = false
    /// The number of entries.
    var entryCount = 0

    /// A Boolean value that indicates whether the first entry begins at a multiple of its duration.
    var isAligned: Bool {
        guard let start = starts.first, firstDuration > .zero else { return false }
        let count = TrackWindow.quotient(start, firstDuration)
        let difference = start - firstDuration.scaled(by: MediaTime(seconds: count))
        let tolerance = MediaTime(value: 1, timescale: 100)
        return difference < tolerance && MediaTime.zero - tolerance < difference
    }

    /// Returns a Boolean value that indicates whether each entry begins nearest to the next multiple of the duration of
    /// another track's entries.
    func isParallel(to other: TrackMeasure) -> Bool {
        guard let start = starts.first, other.firstDuration > .zero else { return false }
        let first = TrackWindow.quotient(start, other.firstDuration)
        return (0..<starts.count).allSatisfy { index in
            TrackWindow.quotient(starts[index], other.firstDuration) == first +| Int64(clamping: index)
        }
    }

    /// The average bit rate, in bits per second, or `nil` if it is not known.
    var average: Int64? {
        hasSizes && duration > .zero ? TranslatedRate.bitsPerSecond(byteCount, duration) : nil
    }
}

/// A namespace for bit rates of segments.
enum TranslatedRate {
    /// Returns the bits per second of a number of bytes, rounded to the nearest integer.
    static func bitsPerSecond(_ byteCount: Int64, _ duration: MediaTime) -> Int64 {
        guard duration > .zero else { return 0 }
        return MediaTime(seconds: byteCount *| 8)
            .scaled(by: MediaTime(value: duration.timescale, timescale: duration.value)).roundedSeconds
    }
}
