public import MediaTiming

/// Where the play head is at any moment: a point in media time, a point in real time, and the speed from there on.
public struct Timebase: Sendable, Hashable {
    /// The play head at the anchor.
    public let mediaTime: MediaTime
    /// The real time of the anchor, on the clock of the session.
    public let time: Duration
    /// Seconds of media a second: 1 is normal, 0 stands still, below 0 goes backwards.
    public let rate: Double

    /// Makes a timebase.
    public init(mediaTime: MediaTime = .zero, time: Duration = .zero, rate: Double = 0) {
        self.mediaTime = mediaTime
        self.time = time
        self.rate = rate
    }

    /// The play head at a real time, to the nanosecond; before the anchor it stands there.
    public func mediaTime(at now: Duration) -> MediaTime {
        guard rate != 0, now > time else { return mediaTime }
        return mediaTime + MediaTime(now - time, scaledBy: rate)
    }

    /// When the play head reaches a media time; `nil` where it stands or goes the other way.
    public func time(reaching target: MediaTime) -> Duration? {
        let distance = target - mediaTime
        if distance == .zero { return time }
        guard rate != 0, (distance > .zero) == (rate > 0) else { return nil }
        return time + distance.duration / abs(rate)
    }

    /// The same play head, anchored at another real time, and going on at another speed.
    public func continued(at now: Duration, rate: Double) -> Timebase {
        Timebase(mediaTime: mediaTime(at: now), time: now, rate: rate)
    }
}

extension MediaTime {
    private static let nanosecond: Int64 = 1_000_000_000

    /// A real time as media time, to the nanosecond; beyond 292 years it is cut.
    public init(_ duration: Duration) { self.init(duration, scaledBy: 1) }

    /// The media time that passes in a real time at a rate.
    package init(_ duration: Duration, scaledBy rate: Double) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int128(seconds) *| 1_000_000_000 +| Int128(attoseconds / 1_000_000_000)
        let scaled = rate == 1 ? nanoseconds : Int128(saturating: (Double(nanoseconds) * rate).rounded())
        self.init(value: Int64(clamping: scaled), timescale: Self.nanosecond)
    }
}
