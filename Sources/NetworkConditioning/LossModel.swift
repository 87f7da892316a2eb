import MediaTiming

/// A model of packet loss on a TCP connection that gives the same losses for the same seed.
///
/// TCP hides loss from HTTP: a lost packet arrives late, and so does all data after it. It is retransmitted after about
/// one round trip (RFC 5681 §3.2), and if the retransmission is lost too, after a timeout of at least 200 ms that
/// doubles each time (RFC 6298 §5.5; the minimum timeout is that of Linux).
struct LossModel: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The number of successive losses of one packet after which the connection breaks.
    static let maximumLossCount = 6
    /// The maximum number of packets of one chunk for which loss is simulated, 1.4 GiB; later packets are not lost.
    private static let maximumPacketCount = 1 << 20
    private static let minimumTimeout: Int64 = 200_000_000

    /// Returns the delay of a chunk by retransmissions in nanoseconds, and whether the connection breaks instead.
    mutating func retransmissionDelay(
        byteCount: Int,
        loss: Double,
        roundTrip: Int64
    ) -> (delay: Int64, breaksConnection: Bool) {
        guard loss > 0 else { return (0, false) }
        var most = 0
        let packets = byteCount.addingSaturated(LinkModel.packetSize - 1) / LinkModel.packetSize
        for _ in 0..<max(1, min(packets, Self.maximumPacketCount)) where most < Self.maximumLossCount {
            var losses = 0
            while losses < Self.maximumLossCount, next() < loss { losses += 1 }
            most = max(most, losses)
        }
        guard most > 0 else { return (0, false) }
        var delay = roundTrip
        var timeout = max(Self.minimumTimeout, roundTrip.addingSaturated(roundTrip / 2))
        for _ in 1..<most {
            delay = delay.addingSaturated(timeout)
            timeout = timeout.addingSaturated(timeout)
        }
        return (delay, most >= Self.maximumLossCount)
    }

    /// Returns the next pseudorandom number, from 0 to less than 1 (SplitMix64).
    private mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / Double(UInt64(1) << 53)
    }
}
