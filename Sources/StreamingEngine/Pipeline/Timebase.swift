public import MediaTiming

/// The mapping from real time to media time: a media time, the real time at which it applies, and the rate from then
/// on.
public struct Timebase: Sendable, Hashable {
    /// The media time at the anchor.
    public let mediaTime: MediaTime
    /// The real time of the anchor, on the clock of the session.
    public let time: Duration
    /// The playback rate: 1 is normal, 0 is paused, and negative rates are reverse playback.
    public let rate: Double

    /// Creates a timebase.
    public init(mediaTime: MediaTime = .zero, time: Duration = .zero, rate: Double = 0) {
        self.mediaTime = mediaTime
        self.time = time
        self.rate = rate
    }

    /// Returns the media time at a real time, to the nanosecond; before the anchor, it is constant.
    public func mediaTime(at now: Duration) -> MediaTime {
        guard rate != 0, now > time else { return mediaTime }
        return mediaTime + MediaTime(now - time, scaledBy: rate)
    }

    /// Returns the real time at which a media time is reached, or `nil` if the rate is zero or in the opposite
    /// direction.
    public func time(reaching target: MediaTime) -> Duration? {
        let distance = target - mediaTime
        if distance == .zero { return time }
        guard rate != 0, (distance > .zero) == (rate > 0) else { return nil }
        return time + distance.duration / rate
    }

    /// Returns a timebase with the same media time at another anchor, and another rate from then on.
    public func continued(at now: Duration, rate: Double) -> Timebase {
        Timebase(mediaTime: mediaTime(at: now), time: now, rate: rate)
    }
}

extension MediaTime {
    private static let nanosecond: Int64 = 1_000_000_000

    /// Creates a media time from a real duration, to the nanosecond; limited to 292 years.
    package init(_ duration: Duration) { self.init(duration, scaledBy: 1) }

    /// Creates the media time that elapses in a real duration at a rate.
    package init(_ duration: Duration, scaledBy rate: Double) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int128(seconds) *| 1_000_000_000 +| Int128(attoseconds / 1_000_000_000)
        let scaled = rate == 1 ? nanoseconds : Int128(saturating: (Double(nanoseconds) * rate).rounded())
        self.init(value: Int64(clamping: scaled), timescale: Self.nanosecond)
    }
}
