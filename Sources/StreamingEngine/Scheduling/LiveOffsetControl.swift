import MediaTiming

/// Corrects the distance of a live stream to the live edge by playing slightly faster or slower.
struct LiveOffsetControl: Sendable {
    /// The maximum change of the rate, 5 %, which is hardly audible.
    static let maximumRateChange = 0.05
    /// The deviation from which a correction begins, 0.5 s.
    private static let startTolerance = MediaTime(value: 1, timescale: 2)
    /// The deviation below which a correction ends, 0.1 s.
    private static let endTolerance = MediaTime(value: 1, timescale: 10)

    private var isCorrecting = false

    /// Returns the factor on the playback rate.
    ///
    /// - Parameters:
    ///   - offset: The current distance to the live edge.
    ///   - target: The desired distance.
    ///   - bufferedDuration: The duration of the buffered media, which limits faster playback.
    ///   - minimumBuffer: The minimum duration of buffered media for faster playback.
    /// - Returns: The factor, or 1 if no correction is needed.
    mutating func rateFactor(
        offset: MediaTime,
        target: MediaTime,
        bufferedDuration: Duration,
        minimumBuffer: Duration
    ) -> Double {
        let late = offset - target
        let distance = late < .zero ? MediaTime.zero - late : late
        if distance >= Self.startTolerance { isCorrecting = true }
        if distance < Self.endTolerance { isCorrecting = false }
        guard isCorrecting else { return 1 }
        if late > .zero { return bufferedDuration > minimumBuffer ? 1 + Self.maximumRateChange : 1 }
        return 1 - Self.maximumRateChange
    }
}
