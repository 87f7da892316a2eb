import MediaTiming
import StreamingEngine

/// The play head of an item, as observers of time see it.
struct Motion: Sendable, Hashable {
    /// Which item; `nil` for none.
    var item: ObjectIdentifier?
    /// How its play head moves.
    var timebase = Timebase()

    /// When the play head reaches a media time; `nil` where it stands or goes the other way.
    func time(reaching target: MediaTime) -> Duration? {
        guard timebase.rate < 0 else { return timebase.time(reaching: target) }
        // Backwards is forwards in a mirror.
        let mirrored = Timebase(mediaTime: .zero - timebase.mediaTime, time: timebase.time, rate: -timebase.rate)
        return mirrored.time(reaching: .zero - target)
    }

    /// What makes it differ from the motion before.
    enum Change: Sendable, Hashable {
        /// It goes on as it did.
        case none
        /// It went over to moving, or to standing.
        case startedOrStopped
        /// The play head is elsewhere than the passing of time explains.
        case jumped
    }

    /// So little is the difference between two clocks, and not a jump: a frame at 25 frames a second.
    private static let drift = MediaTime(value: 40, timescale: 1_000)

    /// Compares with an earlier motion.
    func change(from earlier: Motion, at now: Duration) -> Change {
        guard self != earlier else { return .none }
        guard item == earlier.item else { return item == nil ? .startedOrStopped : .jumped }
        let moves = timebase.rate != 0
        let moved = earlier.timebase.rate != 0
        // It went on as before up to the anchor of the new motion: what came later may have another speed.
        let anchor = min(max(timebase.time, earlier.timebase.time), now)
        let distance = timebase.mediaTime(at: anchor) - earlier.timebase.mediaTime(at: anchor)
        let tolerance = moves || moved ? Self.drift : .zero
        if distance > tolerance || distance < .zero - tolerance { return .jumped }
        return moves == moved ? .none : .startedOrStopped
    }
}
