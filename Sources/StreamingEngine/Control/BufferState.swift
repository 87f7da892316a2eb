import MediaTiming

/// The state of the buffer relative to the playback position.
struct BufferState: Sendable, Hashable {
    /// The duration of the media that can be played without further loading, in the direction of playback.
    var ahead: Duration = .zero
    /// A Boolean value that indicates whether the media is buffered up to the end of the item.
    var reachesEnd = false
    /// A Boolean value that indicates whether the buffer suffices to begin playback, or to resume it after a stall.
    var suffices = false
    /// A Boolean value that indicates whether loading waits until some of the buffer has been played.
    var isFull = false

    /// A Boolean value that indicates whether the buffer is empty although the end has not been reached.
    ///
    /// Less than 20 ms, half a frame at 24 frames per second, counts as empty.
    var isEmpty: Bool { !reachesEnd && ahead < .milliseconds(20) }
}

/// The rule that determines how much media has to be buffered before playback begins.
///
/// The buffer has to last until it grows during playback: one segment if the throughput exceeds the media's bit rate,
/// or else enough to compensate for the difference for some time.
struct KeepUpRule: Sendable, Hashable {
    /// The minimum duration of buffered media.
    var least: Duration = .seconds(2)
    /// The duration of buffered media that is always sufficient.
    var most: Duration = .seconds(15)
    /// The time for which the buffer has to last if the throughput is below the media's bit rate.
    var horizon: Duration = .seconds(20)

    /// Returns whether the buffer suffices to begin or resume playback.
    ///
    /// - Parameters:
    ///   - ahead: The duration of the buffered media.
    ///   - needed: The bit rate of the media at the playback rate.
    ///   - throughput: The estimated throughput, or `nil` if it is unknown.
    ///   - segment: The duration of a segment. With a fast network, no more than one segment is required.
    /// - Returns: Whether the buffer suffices.
    func suffices(ahead: Duration, needed: BitRate, throughput: BitRate?, segment: Duration) -> Bool {
        guard ahead > .zero else { return false }
        if ahead >= most { return true }
        let least = segment > .zero ? min(least, segment * 0.9) : least
        guard ahead >= least else { return false }
        guard let throughput, throughput.bitsPerSecond > 0 else { return true }
        let ratio = Double(throughput.bitsPerSecond) / Double(max(1, needed.bitsPerSecond))
        // While a duration is played, `ratio` times that duration is loaded.
        return ratio >= 1 || ahead >= horizon * (1 - ratio)
    }
}
