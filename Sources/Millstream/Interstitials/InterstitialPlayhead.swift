import MediaTiming
import StreamingEngine

/// The playhead of the primary item, which distinguishes continuous playback from jumps.
struct InterstitialPlayhead: Sendable, Hashable {
    /// A movement of the playhead other than continuous forward playback.
    enum Change: Sendable, Hashable {
        /// The position is known for the first time.
        case began(at: MediaTime)
        /// The item was played backward up to a position.
        case rewound(to: MediaTime)
        /// The playhead was moved from one position to another.
        case jumped(from: MediaTime, to: MediaTime)
    }

    /// The movement of the playhead; `nil` before its position is known.
    private(set) var motion: Motion?
    /// The position to which the playhead was sent after an interstitial, until it arrives there.
    private var destination: MediaTime?

    /// The maximum distance from ``destination`` at which a jump counts as the arrival: a pipeline may start up to one
    /// second away.
    private static let arrivalTolerance = MediaTime(seconds: 1)

    /// Returns the position; `nil` before it is known.
    func position(at now: Duration) -> MediaTime? { motion?.timebase.mediaTime(at: now) }

    /// Accepts a new movement of the playhead.
    ///
    /// - Parameters:
    ///   - timebase: The movement, of an item that is not seeking.
    ///   - now: The time of the clock.
    /// - Returns: The changes, in their order.
    mutating func follow(_ timebase: Timebase, at now: Duration) -> [Change] {
        let new = Motion(timebase: timebase)
        // The start position of the playhead counts, even if it moved on before this observation.
        let isRecent = now - timebase.time <= .seconds(1)
        let position = isRecent ? timebase.mediaTime : timebase.mediaTime(at: now)
        guard let old = motion else {
            motion = new
            return [.began(at: position)]
        }
        motion = new
        let rewound: [Change] = old.timebase.rate < 0 ? [.rewound(to: position)] : []
        guard new.change(from: old, at: now) == .jumped else { return rewound }
        if let destination = destination.take(), position.isNear(destination, within: Self.arrivalTolerance) {
            return rewound
        }
        return rewound + [.jumped(from: old.timebase.mediaTime(at: min(timebase.time, now)), to: position)]
    }

    /// Stops the playhead because the item is seeking.
    ///
    /// Its last position is the one that the seek leaves.
    ///
    /// - Returns: The changes, in their order.
    mutating func stop(at now: Duration) -> [Change] {
        guard let old = motion, old.timebase.rate != 0 else { return [] }
        motion = Motion(timebase: old.timebase.continued(at: now, rate: 0))
        return old.timebase.rate < 0 ? [.rewound(to: old.timebase.mediaTime(at: now))] : []
    }

    /// Stops the playhead at a position, so that the next jump starts there.
    mutating func stop(at position: MediaTime) { motion = Motion(timebase: Timebase(mediaTime: position)) }

    /// Accepts that the playhead was sent to a position, or is already there.
    ///
    /// - Parameters:
    ///   - position: The position.
    ///   - hasJumped: Whether a seek moved it there, which the engine may report later.
    ///   - timebase: The last movement that the engine reported.
    mutating func resume(at position: MediaTime, hasJumped: Bool, _ timebase: Timebase) {
        if hasJumped { destination = position }
        guard timebase.rate == 0 else { return }
        let hasArrived = timebase.mediaTime.isNear(position, within: .interstitialTolerance)
        if hasArrived { destination = nil }
        if hasArrived || destination != nil { motion = Motion(timebase: timebase) }
    }
}

/// The position of an item that is suspended for an interstitial, which shows whether a viewer moved the playhead
/// since.
enum SuspendedPosition: Sendable, Hashable {
    /// The item was told to stop near a position, and may still move on a little.
    case stopping(near: MediaTime)
    /// The item stopped at a position.
    case stopped(at: MediaTime)

    /// The position, as exactly as it is known.
    var time: MediaTime {
        switch self {
        case .stopping(let time), .stopped(let time): time
        }
    }

    /// Returns whether the playhead of a suspended item was moved, and records the position where it stopped.
    mutating func hasMoved(_ primary: InterstitialObservation.Primary) -> Bool {
        let timebase = primary.playback.timebase
        guard timebase.rate == 0, !primary.playback.isSeeking else { return false }
        switch self {
        case .stopping(let time):
            // At high rates the playhead moves further before it stops.
            let seconds = Int64(saturating: max(1, min(32, primary.rate.rounded(.up))))
            guard timebase.mediaTime.isNear(time, within: MediaTime(seconds: seconds)) else { return true }
            self = .stopped(at: timebase.mediaTime)
            return false
        case .stopped(let time):
            return !timebase.mediaTime.isNear(time, within: MediaTime(value: 250, timescale: 1000))
        }
    }
}

extension MediaTime {
    /// The distance below which two positions are considered the same.
    static let interstitialTolerance = MediaTime(value: 50, timescale: 1000)

    /// Returns whether a time differs from another one by at most the given tolerance.
    func isNear(_ other: MediaTime, within tolerance: MediaTime) -> Bool {
        let distance = self - other
        return distance <= tolerance && distance >= .zero - tolerance
    }
}
