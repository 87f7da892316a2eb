import MediaTiming
import StreamingEngine

/// The motion of the playhead of an item, for time observers.
struct Motion: Sendable, Hashable {
    /// The identity of the item; `nil` for none.
    var item: ObjectIdentifier?
    /// The timebase of the playhead.
    var timebase = Timebase()

    /// Returns the time at which the playhead reaches a media time; `nil` if it is stopped or moves in the other
    /// direction.
    func time(reaching target: MediaTime) -> Duration? {
        guard timebase.rate < 0 else { return timebase.time(reaching: target) }
        // A `Timebase` computes forward motion only, so reverse motion is mirrored at zero.
        let mirrored = Timebase(mediaTime: .zero - timebase.mediaTime, time: timebase.time, rate: -timebase.rate)
        return mirrored.time(reaching: .zero - target)
    }

    /// The difference between two motions.
    enum Change: Sendable, Hashable {
        /// The playhead continues as before.
        case none
        /// The playhead started or stopped.
        case startedOrStopped
        /// The position of the playhead changed discontinuously.
        case jumped
    }

    /// The maximum difference of positions that counts as clock drift and not as a jump: 40 ms, one frame at 25 frames
    /// per second.
    private static let drift = MediaTime(value: 40, timescale: 1_000)

    /// Returns the change from an earlier motion.
    func change(from earlier: Motion, at now: Duration) -> Change {
        guard self != earlier else { return .none }
        guard item == earlier.item else { return item == nil ? .startedOrStopped : .jumped }
        let moves = timebase.rate != 0
        let moved = earlier.timebase.rate != 0
        // The earlier motion is extrapolated only up to the anchor of the new one, since the rate may differ after it.
        let anchor = min(max(timebase.time, earlier.timebase.time), now)
        let distance = timebase.mediaTime(at: anchor) - earlier.timebase.mediaTime(at: anchor)
        let tolerance = moves || moved ? Self.drift : .zero
        if distance > tolerance || distance < .zero - tolerance { return .jumped }
        return moves == moved ? .none : .startedOrStopped
    }
}
