import MediaTiming

/// What lies ahead of the play head.
struct BufferState: Sendable, Hashable {
    /// The media time that can be played without another byte, in the direction of play.
    var ahead: Duration = .zero
    /// Whether that goes up to the end of the item.
    var reachesEnd = false
    /// Whether it is enough to begin, or to go on after a stall.
    var suffices = false
    /// Whether no more is to be fetched before some of it is played.
    var isFull = false

    /// Whether there is nothing left to play.
    ///
    /// What is shorter than a frame of film counts as nothing.
    var isEmpty: Bool { !reachesEnd && ahead < .milliseconds(20) }
}

/// How much has to lie ahead before playing begins.
///
/// As much as will last until the buffer grows by itself: where the network is faster than the media, one segment; else
/// what is needed to bridge the difference for a while.
struct KeepUpRule: Sendable, Hashable {
    /// The least media time that is enough to begin with.
    var least: Duration = .seconds(2)
    /// The most that is ever waited for.
    var most: Duration = .seconds(15)
    /// For so long the buffer has to hold out where the network is slower than the media.
    var horizon: Duration = .seconds(20)

    /// Whether what lies ahead suffices.
    ///
    /// - Parameters:
    ///   - ahead: What lies ahead.
    ///   - needed: The bit rate of the media at the rate of play.
    ///   - throughput: What the network carries, where that is known.
    ///   - segment: How long segments are: more than what one brings is never asked for to begin with a fast network.
    /// - Returns: Whether playing can begin, or go on.
    func suffices(ahead: Duration, needed: BitRate, throughput: BitRate?, segment: Duration) -> Bool {
        guard ahead > .zero else { return false }
        if ahead >= most { return true }
        let least = segment > .zero ? min(least, segment * 0.9) : least
        guard ahead >= least else { return false }
        guard let throughput, throughput.bitsPerSecond > 0 else { return true }
        let ratio = Double(throughput.bitsPerSecond) / Double(max(1, needed.bitsPerSecond))
        // While so much is played, ratio times as much arrives.
        return ratio >= 1 || ahead >= horizon * (1 - ratio)
    }
}
