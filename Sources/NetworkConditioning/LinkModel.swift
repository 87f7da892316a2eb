import MediaTiming

/// A model of a network link that computes when sent data arrives.
///
/// Each direction has one bottleneck with a queue. Transfers share its bandwidth if each has one chunk at a time in the
/// queue. The model reads no clock, and equal calls give equal results.
public struct LinkModel: Sendable {
    /// A direction of transmission, as seen from the client.
    public enum Direction: Sendable, Hashable {
        /// The direction toward the client.
        case down
        /// The direction away from the client.
        case up
    }

    /// The state of one transfer in one direction.
    public struct Flow: Sendable, Hashable {
        /// The time at which the last chunk left the bottleneck, in nanoseconds.
        var lastSendEnd = Int64.min
        /// The time at which the last chunk arrived, in nanoseconds; chunks that follow cannot arrive earlier.
        var lastArrival = Int64.min

        /// Creates a flow that has sent no data.
        public init() {}
    }

    /// The result of sending a chunk.
    public struct Transmission: Sendable, Hashable {
        /// The time at which the chunk has left the bottleneck and the next chunk of its flow may be sent.
        public let sendEnd: Duration
        /// The time at which the chunk arrives.
        public let arrival: Duration
        /// A Boolean value that indicates whether the connection breaks at ``arrival`` instead of delivering the chunk.
        public let breaksConnection: Bool
    }

    /// The conditions of the link.
    public private(set) var profile: LinkProfile
    private var origin: Int64
    private var freeDown = Int64.min
    private var freeUp = Int64.min
    private var lossModel: LossModel
    private let timerTolerance: Int64

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - profile: The conditions of the link.
    ///   - now: The time at which the profile starts.
    ///   - timerTolerance: The maximum delay after which a chunk still counts as sent on time. Timers of a real clock fire late,
    ///     and without this tolerance the link would be idle in the meantime.
    ///   - seed: The seed for packet loss; equal seeds lose the same packets.
    public init(_ profile: LinkProfile, startingAt now: Duration, timerTolerance: Duration = .zero, seed: UInt64 = 1) {
        self.profile = profile
        origin = now.saturatingNanoseconds
        self.timerTolerance = timerTolerance.saturatingNanoseconds
        lossModel = LossModel(seed: seed)
    }

    /// Replaces the conditions of the link; the trace and the outages of the new profile start at `now`.
    public mutating func change(to profile: LinkProfile, at now: Duration) {
        self.profile = profile
        origin = now.saturatingNanoseconds
        // Callers resend chunks that are still in the queue, under the new conditions.
        freeDown = min(freeDown, origin)
        freeUp = min(freeUp, origin)
    }

    /// Returns the number of bytes to send at once: whole packets for about five milliseconds, at most 64 KiB.
    public func chunkSize(_ direction: Direction, at now: Duration) -> Int {
        guard let rate = bandwidth(direction, at: now.saturatingNanoseconds).rate else { return Self.maximumChunkSize }
        let packets = rate / Self.bandwidthPerPacket
        return min(Self.maximumChunkSize, max(1, Int(clamping: packets)) *| Self.packetSize)
    }

    /// Returns the number of bytes that cross in `duration` under the conditions at `now`, or `nil` for unlimited
    /// bandwidth.
    public func byteCount(_ direction: Direction, in duration: Duration, at now: Duration) -> Int64? {
        guard let rate = bandwidth(direction, at: now.saturatingNanoseconds).rate else { return nil }
        return Int64(clamping: Int128(rate) *| Int128(max(0, duration.saturatingNanoseconds)) / 8_000_000_000)
    }

    /// Returns the latency of one direction at `now`.
    public func latency(_ direction: Direction, at now: Duration) -> Duration {
        switch direction {
        case .up: profile.up.latency
        case .down:
            profile.trace?.period(at: now.saturatingNanoseconds -| origin).period.latency ?? profile.down.latency
        }
    }

    /// Sends a chunk.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the chunk.
    ///   - direction: The direction of transmission.
    ///   - flow: The transfer that the chunk belongs to.
    ///   - available: The time since which the sender has the chunk, or `nil` if it is ready as soon as the previous
    ///     chunk has left.
    ///   - now: The current time.
    /// - Returns: The times at which the chunk leaves and arrives, or `nil` if it never arrives under this profile.
    public mutating func send(
        _ byteCount: Int,
        _ direction: Direction,
        of flow: inout Flow,
        availableAt available: Duration? = nil,
        at now: Duration
    ) -> Transmission? {
        let way = direction == .down ? profile.down : profile.up
        guard way.loss < 1 else { return nil }
        let moment = now.saturatingNanoseconds
        let earliest =
            available.map { $0.saturatingNanoseconds.addingSaturated(latency(direction, at: $0).saturatingNanoseconds) }
            ?? .min
        let free = direction == .down ? freeDown : freeUp
        let start = max(
            earliest,
            flow.lastSendEnd,
            free,
            earliestStart(of: flow, isReady: available == nil, at: moment)
        )
        guard let leaves = transmissionEnd(direction, from: start, bits: Int64(max(0, byteCount)) *| 8) else {
            return nil
        }
        flow.lastSendEnd = leaves
        if direction == .down { freeDown = leaves } else { freeUp = leaves }
        let fate = lossModel.retransmissionDelay(byteCount: byteCount, loss: way.loss, roundTrip: roundTrip(at: now))
        flow.lastArrival = max(flow.lastArrival, leaves.addingSaturated(fate.delay))
        return Transmission(
            sendEnd: .nanoseconds(leaves),
            arrival: .nanoseconds(flow.lastArrival),
            breaksConnection: fate.breaksConnection
        )
    }

    /// Returns the time before which a chunk cannot have been sent, in nanoseconds.
    ///
    /// A sender that has its data ready sends without a pause, unless the request for the next chunk is later than
    /// ``timerTolerance``.
    private func earliestStart(of flow: Flow, isReady: Bool, at moment: Int64) -> Int64 {
        guard isReady else { return .min }
        guard flow.lastSendEnd > .min else { return moment }
        // A lost packet delays the receiver's next request, although the sender continues in the meantime.
        return moment.subtractingSaturated(timerTolerance).addingSaturated(
            flow.lastSendEnd -| max(flow.lastSendEnd, flow.lastArrival)
        )
    }

    private func roundTrip(at now: Duration) -> Int64 {
        latency(.up, at: now).saturatingNanoseconds.addingSaturated(latency(.down, at: now).saturatingNanoseconds)
    }

    /// The size of a packet, the unit of loss, in bytes: the payload of a TCP segment on Ethernet.
    static let packetSize = 1_460
    private static let maximumChunkSize = 64 << 10
    /// The bandwidth in bits per second at which one packet takes five milliseconds.
    private static let bandwidthPerPacket: Int64 = 8 * 200 * 1_460

    // MARK: Bandwidth over time

    /// Returns the bandwidth at `moment` in bits per second (`nil` if unlimited) and the time until which it applies.
    private func bandwidth(_ direction: Direction, at moment: Int64) -> (rate: Int64?, end: Int64) {
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

    /// Returns the time at which `bits` bits have crossed, in nanoseconds, or `nil` if they never do.
    private func transmissionEnd(_ direction: Direction, from start: Int64, bits: Int64) -> Int64? {
        var moment = start
        // The unit is 10^−9 bit, so that products of a bandwidth and a time in nanoseconds are exact.
        var rest = Int128(bits) *| 1_000_000_000
        if direction == .down, let trace = profile.trace, trace.capacity == 0 { return nil }
        if direction == .down, profile.outages.isEmpty, let trace = profile.trace {
            let rounds = Int64(clamping: rest.dividedSaturated(by: trace.capacity))
            rest -|= Int128(rounds) *| trace.capacity
            let skipped = rounds.multipliedReportingOverflow(by: trace.ends.last ?? 0)
            moment = moment.addingSaturated(skipped.overflow ? .max : skipped.partialValue)
        }
        for _ in 0..<Self.maximumBandwidthChangeCount {
            guard rest > 0 else { return moment }
            let (rate, end) = bandwidth(direction, at: moment)
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

    /// The maximum number of bandwidth changes while one chunk crosses; with more, the chunk never arrives.
    private static let maximumBandwidthChangeCount = 100_000
}

extension LinkProfile.Outage {
    /// Returns a Boolean value that indicates whether the outage is active, and the time of its next change in
    /// nanoseconds.
    fileprivate func state(at offset: Int64) -> (isOut: Bool, change: Int64) {
        let (first, length) = (start.saturatingNanoseconds, duration.saturatingNanoseconds)
        guard offset >= first else { return (false, first) }
        guard let round = interval?.saturatingNanoseconds, round > 0 else {
            let end = first.addingSaturated(length)
            return offset < end ? (true, end) : (false, .max)
        }
        // Bounded: the interval is greater than zero.
        let into = (offset -| first) % round
        return into < length
            ? (true, offset.addingSaturated(length -| into)) : (false, offset.addingSaturated(round -| into))
    }
}
