import MediaTiming

/// A link as a value: told what is sent and when, it says when that arrives.
///
/// It has one bottleneck each way, in which whatever is sent waits in line: of several transfers that each have one piece in
/// line, each gets its share. It reads no clock, and the same questions get the same answers.
public struct LinkModel: Sendable {
    /// Which way.
    public enum Direction: Sendable, Hashable {
        /// Towards us.
        case down
        /// Away from us.
        case up
    }

    /// One transfer in one direction: what of it crossed so far.
    public struct Flow: Sendable, Hashable {
        /// When its last piece left the bottleneck.
        var left = Int64.min
        /// When its last piece arrived; what follows cannot overtake it.
        var arrived = Int64.min

        /// Makes a flow that has sent nothing.
        public init() {}
    }

    /// What becomes of a piece.
    public struct Passage: Sendable, Hashable {
        /// When it has left the bottleneck: the next piece of its flow may follow.
        public let leaves: Duration
        /// When it arrives.
        public let arrives: Duration
        /// Whether it does not arrive at all, and the connection breaks at that moment instead.
        public let breaks: Bool
    }

    /// What the link does.
    public private(set) var profile: LinkProfile
    private var origin: Int64
    private var freeDown = Int64.min
    private var freeUp = Int64.min
    private var dice: LossDice
    private let slack: Int64

    /// Makes a link.
    ///
    /// - Parameters:
    ///   - profile: What it does.
    ///   - now: When that begins.
    ///   - slack: How late a piece may be asked for and still count as sent in time: the waits of a real clock end late,
    ///     and without it the link would be idle meanwhile.
    ///   - seed: What decides about losses; the same seed loses the same packets.
    public init(_ profile: LinkProfile, startingAt now: Duration, slack: Duration = .zero, seed: UInt64 = 1) {
        self.profile = profile
        origin = now.saturatingNanoseconds
        self.slack = slack.saturatingNanoseconds
        dice = LossDice(seed: seed)
    }

    /// Changes what the link does; its time begins anew.
    public mutating func change(to profile: LinkProfile, at now: Duration) {
        self.profile = profile
        origin = now.saturatingNanoseconds
        // What waited under the old conditions is asked for again under the new ones.
        freeDown = min(freeDown, origin)
        freeUp = min(freeUp, origin)
    }

    /// How many bytes should be sent at once: about five milliseconds' worth, whole packets, at most 64 KiB.
    public func pieceSize(_ direction: Direction, at now: Duration) -> Int {
        guard let rate = stretch(direction, at: now.saturatingNanoseconds).rate else { return Self.largestPiece }
        let packets = rate / Self.bitsPerPieceAndSecond
        return min(Self.largestPiece, max(1, Int(clamping: packets)) *| Self.packetSize)
    }

    /// How many bytes cross in a time, if the link stays as it is at a moment; `nil` where it knows no bound.
    public func byteCount(_ direction: Direction, in duration: Duration, at now: Duration) -> Int64? {
        guard let rate = stretch(direction, at: now.saturatingNanoseconds).rate else { return nil }
        return Int64(clamping: Int128(rate) *| Int128(max(0, duration.saturatingNanoseconds)) / 8_000_000_000)
    }

    /// How long a byte is on its way at some moment.
    public func latency(_ direction: Direction, at now: Duration) -> Duration {
        switch direction {
        case .up: profile.up.latency
        case .down:
            profile.trace?.period(at: now.saturatingNanoseconds -| origin).period.latency ?? profile.down.latency
        }
    }

    /// Sends a piece.
    ///
    /// - Parameters:
    ///   - byteCount: Its size.
    ///   - direction: Which way.
    ///   - flow: The transfer that it belongs to.
    ///   - available: Since when the sender has it; `nil` where it has it ready as soon as the piece before it is gone.
    ///   - now: The time.
    /// - Returns: When it arrives; `nil` where it never does under this profile.
    public mutating func send(
        _ byteCount: Int,
        _ direction: Direction,
        of flow: inout Flow,
        availableAt available: Duration? = nil,
        at now: Duration
    ) -> Passage? {
        let way = direction == .down ? profile.down : profile.up
        guard way.loss < 1 else { return nil }
        let moment = now.saturatingNanoseconds
        let earliest =
            available.map { $0.saturatingNanoseconds.addingSaturated(latency(direction, at: $0).saturatingNanoseconds) }
            ?? .min
        let free = direction == .down ? freeDown : freeUp
        let start = max(earliest, flow.left, free, latestStart(of: flow, available == nil, at: moment))
        guard let leaves = finish(direction, from: start, bits: Int64(max(0, byteCount)) *| 8) else { return nil }
        flow.left = leaves
        if direction == .down { freeDown = leaves } else { freeUp = leaves }
        let fate = dice.fate(ofBytes: byteCount, loss: way.loss, roundTrip: roundTrip(at: now))
        flow.arrived = max(flow.arrived, leaves.addingSaturated(fate.delay))
        return Passage(leaves: .nanoseconds(leaves), arrives: .nanoseconds(flow.arrived), breaks: fate.breaks)
    }

    /// Before when a piece cannot have been sent: a sender has it ready in time, but for one that waits too long.
    private func latestStart(of flow: Flow, _ isReady: Bool, at moment: Int64) -> Int64 {
        guard isReady else { return .min }
        guard flow.left > .min else { return moment }
        // A receiver that waited for a lost packet comes later, and the sender sent on meanwhile.
        return moment.subtractingSaturated(slack).addingSaturated(flow.left -| max(flow.left, flow.arrived))
    }

    private func roundTrip(at now: Duration) -> Int64 {
        latency(.up, at: now).saturatingNanoseconds.addingSaturated(latency(.down, at: now).saturatingNanoseconds)
    }

    /// The size of what gets lost at once, as on Ethernet.
    static let packetSize = 1_460
    private static let largestPiece = 64 << 10
    /// The bits per second at which a packet takes five milliseconds.
    private static let bitsPerPieceAndSecond: Int64 = 8 * 200 * 1_460

    // MARK: Bandwidth over time

    /// What the link carries at a moment, `nil` for no bound, and until when.
    private func stretch(_ direction: Direction, at moment: Int64) -> (rate: Int64?, end: Int64) {
        let offset = max(0, moment -| origin)
        var (rate, end) = (profile.up.bandwidth?.bitsPerSecond, Int64.max)
        if direction == .down {
            if let (period, periodEnd) = profile.trace?.period(at: offset) {
                (rate, end) = (period.bandwidth.bitsPerSecond, periodEnd)
            } else {
                rate = profile.down.bandwidth?.bitsPerSecond
            }
        }
        for outage in profile.outages {
            let (isOut, change) = outage.state(at: offset)
            if isOut { rate = 0 }
            end = min(end, change)
        }
        return (rate, end == .max ? .max : end.addingSaturated(origin))
    }

    /// When so many bits have crossed; `nil` where they never do.
    private func finish(_ direction: Direction, from start: Int64, bits: Int64) -> Int64? {
        var moment = start
        // In bits times a billion, so that no stretch of time rounds anything away.
        var rest = Int128(bits) *| 1_000_000_000
        if direction == .down, let trace = profile.trace, trace.capacity == 0 { return nil }
        if direction == .down, profile.outages.isEmpty, let trace = profile.trace {
            let rounds = Int64(clamping: rest.dividedSaturated(by: trace.capacity))
            rest -|= Int128(rounds) *| trace.capacity
            let skipped = rounds.multipliedReportingOverflow(by: trace.ends.last ?? 0)
            moment = moment.addingSaturated(skipped.overflow ? .max : skipped.partialValue)
        }
        for _ in 0..<Self.mostStretches {
            guard rest > 0 else { return moment }
            let (rate, end) = stretch(direction, at: moment)
            guard let rate else { return moment }
            let capacity = end == .max ? Int128.max : Int128(end -| moment) *| Int128(rate)
            if rate > 0, capacity >= rest {
                return moment.addingSaturated(
                    Int64(clamping: (rest +| Int128(rate) -| 1).dividedSaturated(by: Int128(rate)))
                )
            }
            guard end < .max else { return nil }
            rest -|= Int128(end -| moment) *| Int128(rate)
            moment = end
        }
        return nil
    }

    /// More changes of a link than these while one piece crosses, and it does not cross.
    private static let mostStretches = 100_000
}

extension LinkProfile.Outage {
    /// Whether nothing crosses at a moment, and when that changes, in nanoseconds.
    fileprivate func state(at offset: Int64) -> (isOut: Bool, change: Int64) {
        let (first, length) = (start.saturatingNanoseconds, duration.saturatingNanoseconds)
        guard offset >= first else { return (false, first) }
        guard let round = interval?.saturatingNanoseconds, round > 0 else {
            let end = first.addingSaturated(length)
            return offset < end ? (true, end) : (false, .max)
        }
        // Bounded: the interval is longer than no time.
        let into = (offset -| first) % round
        return into < length
            ? (true, offset.addingSaturated(length -| into)) : (false, offset.addingSaturated(round -| into))
    }
}
