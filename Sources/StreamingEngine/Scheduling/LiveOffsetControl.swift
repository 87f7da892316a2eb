import MediaTiming

/// Brings a live stream back to its distance from the live edge, by playing a little faster or slower.
struct LiveOffsetControl: Sendable {
    /// The largest change of the rate; few people hear it.
    static let strongest = 0.05
    /// A distance that is off by less is left alone.
    private static let tolerance = MediaTime(value: 1, timescale: 2)
    /// A correction goes on until the distance is off by less than this.
    private static let goal = MediaTime(value: 1, timescale: 10)

    private var isCorrecting = false

    /// The factor on the rate.
    ///
    /// - Parameters:
    ///   - offset: How far the play head is from the live edge.
    ///   - wanted: How far it shall be.
    ///   - ahead: What lies ahead: it shall not be played faster than it comes.
    ///   - least: What has to lie ahead before it is played faster.
    /// - Returns: 1 where nothing is to be corrected.
    mutating func factor(offset: MediaTime, wanted: MediaTime, ahead: Duration, least: Duration) -> Double {
        let late = offset - wanted
        let distance = late < .zero ? MediaTime.zero - late : late
        if distance >= Self.tolerance { isCorrecting = true }
        if distance < Self.goal { isCorrecting = false }
        guard isCorrecting else { return 1 }
        if late > .zero { return ahead > least ? 1 + Self.strongest : 1 }
        return 1 - Self.strongest
    }
}
