public import MediaTiming

/// One way to watch the same content, as a selector sees it.
public struct LadderRung: Sendable, Hashable {
    /// Where the caller keeps the variant: any number that means something to it.
    ///
    /// A ``Ladder`` sorts its rungs; this is the way back to the playlist. Default 0.
    public let variantIndex: Int
    /// The most that any stretch of it needs: `BANDWIDTH` (RFC 8216bis §4.4.6.2).
    public let peakBitRate: BitRate
    /// What all of it needs on average: `AVERAGE-BANDWIDTH`; `nil` where the playlist does not say.
    public let averageBitRate: BitRate?
    /// Picture width in pixels; `nil` where it is not known or there is no picture.
    public let width: Int?
    /// Picture height in pixels; `nil` where it is not known or there is no picture.
    public let height: Int?
    /// Pictures a second; `nil` where it is not known.
    public let frameRate: Double?
    /// The author's own rank, `SCORE`: higher is better; `nil` where the playlist does not say.
    ///
    /// For the caller, who may leave out rungs that cost more and rank lower. Selectors go by bit rate.
    public let score: Double?

    /// Makes a rung.
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

    /// The bit rate that a selector counts with: the average where one is written, else the peak.
    ///
    /// An average above the peak contradicts itself; then the peak counts.
    public var expectedBitRate: BitRate {
        guard let averageBitRate, averageBitRate.bitsPerSecond > 0 else { return peakBitRate }
        return min(averageBitRate, peakBitRate)
    }
}
