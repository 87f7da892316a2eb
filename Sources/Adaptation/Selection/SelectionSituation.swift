public import MediaTiming

/// What a selector is asked about: the moment before a segment is requested.
public struct SelectionSituation: Sendable, Hashable {
    /// The rungs to choose from.
    public var ladder: Ladder
    /// Which of them are open, and why the others are not.
    ///
    /// Default: all are open.
    public var restriction: LadderRestriction
    /// The rung of the segment before this one; `nil` at the start.
    public var current: Int?
    /// How much media lies ahead of the play head.
    public var bufferLevel: Duration
    /// How much the caller will keep there at most, this segment included.
    ///
    /// Live, no more than the distance to the live edge can ever be there.
    public var bufferCapacity: Duration
    /// How long the segment is that will be requested.
    public var segmentDuration: Duration
    /// The sizes of the coming segments, by segment and then by rung; empty where they are not known.
    ///
    /// They are known with byte ranges, `EXT-X-BITRATE`, or an index. A size of zero counts as unknown.
    public var upcomingSizes: [[ByteCount]]
    /// How many segments are left with this one; `nil` where that is not known, as live.
    public var remainingSegments: Int?
    /// How fast the media plays, 1 for normal; its sign does not matter, and 0 counts as 1.
    public var rate: Double
    /// Whether nothing has been shown yet, at the start or after a seek.
    public var isStarting: Bool
    /// The time on the clock of the measurements; it tells how long the caller waited.
    public var now: Duration

    /// Makes a situation.
    ///
    /// - Parameters:
    ///   - ladder: See ``ladder``.
    ///   - restriction: See ``restriction``; `nil` opens all rungs.
    ///   - current: See ``current``.
    ///   - bufferLevel: See ``bufferLevel``.
    ///   - bufferCapacity: See ``bufferCapacity``.
    ///   - segmentDuration: See ``segmentDuration``.
    ///   - upcomingSizes: See ``upcomingSizes``.
    ///   - remainingSegments: See ``remainingSegments``.
    ///   - rate: See ``rate``.
    ///   - isStarting: See ``isStarting``.
    ///   - now: See ``now``.
    public init(
        ladder: Ladder,
        restriction: LadderRestriction? = nil,
        current: Int? = nil,
        bufferLevel: Duration = .zero,
        bufferCapacity: Duration = .seconds(30),
        segmentDuration: Duration,
        upcomingSizes: [[ByteCount]] = [],
        remainingSegments: Int? = nil,
        rate: Double = 1,
        isStarting: Bool = false,
        now: Duration = .zero
    ) {
        self.ladder = ladder
        self.restriction = restriction ?? LadderRestriction(ladder)
        self.current = current
        self.bufferLevel = bufferLevel
        self.bufferCapacity = bufferCapacity
        self.segmentDuration = segmentDuration
        self.upcomingSizes = upcomingSizes
        self.remainingSegments = remainingSegments
        self.rate = rate
        self.isStarting = isStarting
        self.now = now
    }
}

extension SelectionSituation {
    /// Media seconds a second, 0.1 to 16.
    var playbackRate: Double {
        guard rate.isFinite, rate != 0 else { return 1 }
        return min(max(abs(rate), 0.1), 16)
    }

    /// How long the buffer lasts, in seconds.
    var bufferSeconds: Double { max(0, bufferLevel.clampedSeconds) / playbackRate }

    /// How long a segment lasts, in seconds: at least 10 ms.
    var segmentSeconds: Double { min(max(0.01, segmentDuration.clampedSeconds), 3_600) / playbackRate }

    /// How long a full buffer lasts, in seconds: no less than a segment.
    var capacitySeconds: Double { max(bufferCapacity.clampedSeconds / playbackRate, segmentSeconds) }

    /// The open rungs, ascending, never empty.
    var openRungs: [Int] {
        let open = ladder.rungs.indices.filter(restriction.isOpen)
        return open.isEmpty ? [0] : open
    }

    /// The rung that plays now, if it is one of the ladder.
    var currentRung: Int? { current.flatMap { ladder.rungs.indices.contains($0) ? $0 : nil } }

    /// Bits of the coming segment on a rung, `nil` where its size is not known.
    func knownBits(of rung: Int) -> Double? {
        guard let sizes = upcomingSizes.first, sizes.indices.contains(rung), sizes[rung].bytes > 0 else { return nil }
        return Double(sizes[rung].bytes) * 8
    }

    /// Bits of the coming segment on a rung, by its bit rate where nothing better is known; at least one.
    func expectedBits(of rung: Int) -> Double {
        knownBits(of: rung) ?? typicalBits(of: rung)
    }

    /// Bits of a segment on a rung by its bit rate; at least one.
    func typicalBits(of rung: Int) -> Double {
        max(1, ladder.bitsPerSecond(of: rung) * segmentSeconds * playbackRate)
    }
}

extension Ladder {
    /// The expected bit rate of a rung, 1 bit/s to 1 Tbit/s.
    func bitsPerSecond(of rung: Int) -> Double {
        min(max(1, Double(rungs[rung].expectedBitRate.bitsPerSecond)), 1e12)
    }
}
