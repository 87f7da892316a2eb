import MediaTiming

/// The state of the buffer relative to the playback position.
struct BufferState: Sendable, Hashable {
    /// The duration of the media that can be played without further loading, in the direction of playback.
    var bufferedDuration: Duration = .zero
    /// A Boolean value that indicates whether the media is buffered up to the end of the item.
    var reachesEnd = false
    /// A Boolean value that indicates whether the buffer suffices to begin playback, or to resume it after a stall.
    var isSufficient = false
    /// A Boolean value that indicates whether loading waits until some of the buffer has been played.
    var isFull = false

    /// A Boolean value that indicates whether the buffer is empty although the end has not been reached.
    ///
    /// Less than 20 ms, half a frame at 24 frames per second, counts as empty.
    var isEmpty: Bool { !reachesEnd && bufferedDuration < .milliseconds(20) }
}

/// The rule that determines how much media has to be buffered before playback begins.
///
/// The buffer has to last until it grows during playback: one segment if the throughput exceeds the media's bit rate,
/// or else enough to compensate for the difference for some time.
struct KeepUpRule: Sendable, Hashable {
    /// The minimum duration of buffered media.
    var minimumBuffer: Duration = .seconds(2)
    /// The duration of buffered media that is always sufficient.
    var sufficientBuffer: Duration = .seconds(15)
    /// The time for which the buffer has to last if the throughput is below the media's bit rate.
    var horizon: Duration = .seconds(20)

    /// Returns whether the buffer suffices to begin or resume playback.
    ///
    /// - Parameters:
    ///   - bufferedDuration: The duration of the buffered media.
    ///   - mediaBitRate: The bit rate of the media at the playback rate.
    ///   - throughput: The estimated throughput, or `nil` if it is unknown.
    ///   - segmentDuration: The duration of a segment. With a fast network, no more than one segment is required.
    /// - Returns: Whether the buffer suffices.
    func isSufficient(
        bufferedDuration: Duration,
        mediaBitRate: BitRate,
        throughput: BitRate?,
        segmentDuration: Duration
    ) -> Bool {
        guard bufferedDuration > .zero else { return false }
        if bufferedDuration >= sufficientBuffer { return true }
        let least = segmentDuration > .zero ? min(minimumBuffer, segmentDuration * 0.9) : minimumBuffer
        guard bufferedDuration >= least else { return false }
        guard let throughput, throughput.bitsPerSecond > 0 else { return true }
        let ratio = Double(throughput.bitsPerSecond) / Double(max(1, mediaBitRate.bitsPerSecond))
        // While a duration is played, `ratio` times that duration is loaded.
        return bufferedDuration >= horizon * max(0, 1 - ratio)
    }
}
