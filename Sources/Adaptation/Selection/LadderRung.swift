public import MediaTiming

/// A variant as one rung of a bit rate ladder, with the properties that a selector uses.
public struct LadderRung: Sendable, Hashable {
    /// The caller's index of the variant.
    ///
    /// A ``Ladder`` sorts its rungs; this number maps a rung back to the playlist. Default 0.
    public let variantIndex: Int
    /// The peak segment bit rate: `BANDWIDTH` (RFC 8216bis §4.4.6.2).
    public let peakBitRate: BitRate
    /// The average segment bit rate: `AVERAGE-BANDWIDTH`; `nil` if the playlist does not contain it.
    public let averageBitRate: BitRate?
    /// The width of the video in pixels; `nil` if it is unknown or there is no video.
    public let width: Int?
    /// The height of the video in pixels; `nil` if it is unknown or there is no video.
    public let height: Int?
    /// The number of video frames per second; `nil` if it is unknown.
    public let frameRate: Double?
    /// The author's preference, `SCORE`: a higher value is better; `nil` if the playlist does not contain it.
    ///
    /// Selectors do not use it; ``ScoreCap`` excludes rungs before they choose.
    public let score: Double?

    /// Creates a rung.
    ///
    /// - Parameters:
    ///   - variantIndex: See ``variantIndex``.
    ///   - peakBitRate: See ``peakBitRate``.
    ///   - averageBitRate: See ``averageBitRate``.
    ///   - width: See ``width``.
    ///   - height: See ``height``.
    ///   - frameRate: See ``frameRate``.
    ///   - score: See ``score``.
    public init(
        variantIndex: Int = 0,
        peakBitRate: BitRate,
        averageBitRate: BitRate? = nil,
        width: Int? = nil,
        height: Int? = nil,
        frameRate: Double? = nil,
        score: Double? = nil
    ) {
        self.variantIndex = variantIndex
        self.peakBitRate = peakBitRate
        self.averageBitRate = averageBitRate
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.score = score
    }

    /// The bit rate that selectors use: the average, or the peak if there is no average.
    ///
    /// An average above the peak is contradictory; in this case the peak is used.
    public var expectedBitRate: BitRate {
        guard let averageBitRate, averageBitRate.bitsPerSecond > 0 else { return peakBitRate }
        return min(averageBitRate, peakBitRate)
    }
}
