import MediaTiming

/// The media that the decoder refused without an interruption.
struct UndecodableRun: Sendable {
    /// The distance between two ranges up to which they belong to the same run, as the media between them cannot be
    /// presented either.
    private static let tolerance = MediaTime(value: 1, timescale: 2)
    /// The minimum duration after which playback ends.
    private static let minimumLimit = MediaTime(seconds: 10)

    private var range: MediaTimeRange?

    /// Adds a range that could not be decoded.
    ///
    /// - Parameters:
    ///   - new: The range.
    ///   - targetDuration: The target duration of the playlist.
    ///   - skippedSegments: The maximum number of consecutive segments that are skipped after failures.
    /// - Returns: Whether the run is longer than the segments that may be skipped, and longer than ten seconds, so that
    ///   what follows is not expected to be decodable either.
    mutating func isOverLimit(adding new: MediaTimeRange, targetDuration: MediaTime, skippedSegments: Int) -> Bool {
        var run = new
        if let range, new.start <= range.end + Self.tolerance, new.end >= range.start - Self.tolerance {
            run = MediaTimeRange(start: min(range.start, new.start), end: max(range.end, new.end))
        }
        range = run
        return run.duration > max(Self.minimumLimit, targetDuration * Int64(clamping: skippedSegments))
    }
}
