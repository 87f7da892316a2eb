public import MediaTiming

/// Closes rungs above what the viewer or the application asked for.
///
/// Where all rungs are above it, the lowest stays open: a preference is no reason to play nothing.
public struct PreferenceCap: LadderCap, Hashable {
    /// The most that a rung may need at its peak (AVPlayerItem's `preferredPeakBitRate`); `nil` or zero for no limit.
    public var peakBitRate: BitRate?
    /// The largest picture width in pixels; `nil` for no limit.
    public var width: Int?
    /// The largest picture height in pixels; `nil` for no limit.
    public var height: Int?

    /// Makes a cap.
    ///
    /// - Parameters:
    ///   - peakBitRate: See ``peakBitRate``.
    ///   - width: See ``width``.
    ///   - height: See ``height``.
    public init(peakBitRate: BitRate? = nil, width: Int? = nil, height: Int? = nil) {
        self.peakBitRate = peakBitRate
        self.width = width
        self.height = height
    }

    /// Closes the rungs above the preference.
    ///
    /// - Parameters:
    ///   - restriction: What is open.
    ///   - ladder: The rungs.
    public func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder) {
        if let peakBitRate, peakBitRate.bitsPerSecond > 0 {
            restriction.close(because: .preferredBitRate) { ladder.rungs[$0].peakBitRate > peakBitRate }
        }
        restriction.close(because: .preferredResolution) { rung in
            isAbove(ladder.rungs[rung].width, width) || isAbove(ladder.rungs[rung].height, height)
        }
    }

    private func isAbove(_ size: Int?, _ limit: Int?) -> Bool {
        guard let size, let limit, limit > 0 else { return false }
        return size > limit
    }
}
