import MediaTiming

/// Corrects the distance of a live stream to the live edge by playing slightly faster or slower.
struct LiveOffsetControl: Sendable {
    /// The maximum change of the rate, 5 %, which is hardly audible.
    static let strongest = 0.05
    /// The deviation from which a correction begins, 0.5 s.
    private static let tolerance = MediaTime(value: 1, timescale: 2)
    /// The deviation below which a correction ends, 0.1 s.
    private static let goal = MediaTime(value: 1, timescale: 10)

    private var isCorrecting = false

    /// Returns the factor on the playback rate.
    ///
    /// - Parameters:
    ///   - offset: The current distance to the live edge.
    ///   - wanted: The desired distance.
    ///   - ahead: The duration of the buffered media, which limits faster playback.
    ///   - least: The minimum duration of buffered media for faster playback.
    /// - Returns: The factor, or 1 if no correction is needed.
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
