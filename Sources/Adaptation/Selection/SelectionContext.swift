public import MediaTiming

/// The input of a selector's decision: the state immediately before a segment is requested.
public struct SelectionContext: Sendable, Hashable {
    /// The rungs to choose from.
    public var ladder: Ladder
    /// The rungs that are allowed, and the reasons for which the others are excluded.
    ///
    /// Default: all are allowed.
    public var restriction: LadderRestriction
    /// The rung of the previous segment, or `nil` at the start.
    public var previousRung: Int?
    /// The duration of the buffered media after the playback position.
    public var bufferLevel: Duration
    /// The maximum duration of media that the caller buffers, including this segment.
    ///
    /// For a live stream, it is at most the distance to the live edge.
    public var bufferCapacity: Duration
    /// The duration of the segment to be requested.
    public var segmentDuration: Duration
    /// The sizes of the next segments, by segment and then by rung; empty if they are unknown.
    ///
    /// They are known with byte ranges, `EXT-X-BITRATE`, or a segment index. A size of zero counts as unknown.
    public var upcomingSizes: [[ByteCount]]
    /// The number of remaining segments including this one; `nil` if it is unknown, as for a live stream.
    public var remainingSegments: Int?
    /// The playback rate; its sign is ignored, and 0 counts as 1.
    public var playbackRate: Double
    /// A Boolean value that indicates whether playback has not begun yet, at the start or after a seek.
    public var isStarting: Bool
    /// The time on the clock of the measurements, from which the idle time before the request is computed.
    public var now: Duration

    /// Creates a selection context.
    ///
    /// - Parameters:
    ///   - ladder: See ``ladder``.
    ///   - restriction: See ``restriction``; `nil` to allow all rungs.
    ///   - previousRung: See ``previousRung``.
    ///   - bufferLevel: See ``bufferLevel``.
    ///   - bufferCapacity: See ``bufferCapacity``.
    ///   - segmentDuration: See ``segmentDuration``.
    ///   - upcomingSizes: See ``upcomingSizes``.
    ///   - remainingSegments: See ``remainingSegments``.
    ///   - playbackRate: See ``playbackRate``.
    ///   - isStarting: See ``isStarting``.
    ///   - now: See ``now``.
    public init(
        ladder: Ladder,
        restriction: LadderRestriction? = nil,
        previousRung: Int? = nil,
        bufferLevel: Duration = .zero,
        bufferCapacity: Duration = .seconds(30),
        segmentDuration: Duration,
        upcomingSizes: [[ByteCount]] = [],
        remainingSegments: Int? = nil,
        playbackRate: Double = 1,
        isStarting: Bool = false,
        now: Duration = .zero
    ) {
        self.ladder = ladder
        self.restriction = restriction ?? LadderRestriction(ladder)
        self.previousRung = previousRung
        self.bufferLevel = bufferLevel
        self.bufferCapacity = bufferCapacity
        self.segmentDuration = segmentDuration
        self.upcomingSizes = upcomingSizes
        self.remainingSegments = remainingSegments
        self.playbackRate = playbackRate
        self.isStarting = isStarting
        self.now = now
    }
}

extension SelectionContext {
    /// The absolute playback rate, limited to 0.1 to 16.
    var clampedPlaybackRate: Double {
        guard playbackRate.isFinite, playbackRate != 0 else { return 1 }
        return min(max(abs(playbackRate), 0.1), 16)
    }

    /// The real-time duration of the buffer at the playback rate, in seconds.
    var bufferSeconds: Double { max(0, bufferLevel.clampedSeconds) / clampedPlaybackRate }

    /// The real-time duration of a segment at the playback rate, in seconds; media durations are limited to 10 ms to
    /// one hour.
    var segmentSeconds: Double { min(max(0.01, segmentDuration.clampedSeconds), 3_600) / clampedPlaybackRate }

    /// The real-time duration of a full buffer at the playback rate, in seconds; at least that of a segment.
    var capacitySeconds: Double { max(bufferCapacity.clampedSeconds / clampedPlaybackRate, segmentSeconds) }

    /// The indexes of the allowed rungs, ascending and never empty.
    var allowedRungs: [Int] {
        let open = ladder.rungs.indices.filter(restriction.isAllowed)
        return open.isEmpty ? [0] : open
    }

    /// The rung of the previous segment, or `nil` if it is not in the ladder.
    var validPreviousRung: Int? { previousRung.flatMap { ladder.rungs.indices.contains($0) ? $0 : nil } }

    /// Returns the known size in bits of the next segment on a rung, or `nil` if it is unknown.
    func knownBits(of rung: Int) -> Double? {
        guard let sizes = upcomingSizes.first, sizes.indices.contains(rung), sizes[rung].bytes > 0 else { return nil }
        return Double(sizes[rung].bytes) * 8
    }

    /// Returns the size in bits of the next segment on a rung, estimated from the bit rate if it is unknown; at least
    /// 1.
    func expectedBits(of rung: Int) -> Double {
        knownBits(of: rung) ?? typicalBits(of: rung)
    }

    /// Returns the size in bits of a segment on a rung, estimated from the bit rate; at least 1.
    func typicalBits(of rung: Int) -> Double {
        max(1, ladder.bitsPerSecond(of: rung) * segmentSeconds * clampedPlaybackRate)
    }
}

extension Ladder {
    /// Returns the expected bit rate of a rung, limited to 1 bit/s to 1 Tbit/s.
    func bitsPerSecond(of rung: Int) -> Double {
        min(max(1, Double(rungs[rung].expectedBitRate.bitsPerSecond)), 1e12)
    }
}
