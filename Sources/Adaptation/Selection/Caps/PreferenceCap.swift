public import MediaTiming

/// A cap that excludes the rungs above a preferred maximum of the viewer or the application.
///
/// If all rungs are above the maximum, the lowest remains allowed, so that playback is possible.
public struct PreferenceCap: LadderCap, Hashable {
    /// The maximum peak bit rate (`preferredPeakBitRate` of AVPlayerItem); `nil` or zero for no limit.
    public var peakBitRate: BitRate?
    /// The maximum video width in pixels; `nil` or zero for no limit.
    public var width: Int?
    /// The maximum video height in pixels; `nil` or zero for no limit.
    public var height: Int?

    /// Creates a cap with the given limits.
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

    /// Excludes the rungs above the limits.
    ///
    /// - Parameters:
    ///   - restriction: The restriction to narrow.
    ///   - ladder: The ladder of the restriction.
    public func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder) {
        if let peakBitRate, peakBitRate.bitsPerSecond > 0 {
            restriction.exclude(because: .preferredBitRate) { ladder.rungs[$0].peakBitRate > peakBitRate }
        }
        restriction.exclude(because: .preferredResolution) { rung in
            isAbove(ladder.rungs[rung].width, width) || isAbove(ladder.rungs[rung].height, height)
        }
    }

    private func isAbove(_ size: Int?, _ limit: Int?) -> Bool {
        guard let size, let limit, limit > 0 else { return false }
        return size > limit
    }
}
