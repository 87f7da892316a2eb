import MediaTiming
import StreamingEngine

/// A schedule that is due at each multiple of an interval of media time, when the playhead jumps, and when it starts
/// or stops.
struct PeriodicSchedule: TimeSchedule {
    /// The minimum time between two notifications, so that an observer with a short interval runs at most 1,000 times
    /// per second.
    private static let minimumPause = Duration.milliseconds(1)

    private let interval: MediaTime
    private var motion: Motion
    /// The last multiple of the interval that was reported or passed.
    private var lastTick: Int64
    private var lastFire: Duration?

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - interval: The interval in media time; must be positive.
    ///   - motion: The current motion of the playhead; only changes from it are reported.
    ///   - now: The current time.
    init(every interval: MediaTime, from motion: Motion, at now: Duration) {
        precondition(interval > .zero, "the interval of a periodic observer must be positive")
        self.interval = interval
        self.motion = motion
        lastTick = 0
        lastTick = tick(at: motion.timebase.mediaTime(at: now))
    }

    mutating func step(_ new: Motion, at now: Duration) -> TimeStep {
        let change = new.change(from: motion, at: now)
        let didReverse = isReversed(by: new)
        motion = new
        guard new.item != nil else { return .wait(until: nil) }
        let position = new.timebase.mediaTime(at: now)
        if change != .none {
            lastTick = tick(at: position)
            return fire(position, at: now)
        }
        if didReverse { lastTick = tick(at: position) }
        guard let due = dueTime else { return .wait(until: nil) }
        let earliest = max(due, lastFire.map { $0 + Self.minimumPause } ?? due)
        guard now >= earliest else { return .wait(until: earliest) }
        lastTick = reached(at: position)
        return fire(interval * lastTick, at: now)
    }

    mutating func skipElapsed(_ new: Motion, at now: Duration) {
        // After a change of motion, the next step fires in any case.
        guard new.change(from: motion, at: now) == .none else { return }
        let didReverse = isReversed(by: new)
        motion = new
        let position = new.timebase.mediaTime(at: now)
        if didReverse { lastTick = tick(at: position) }
        guard let due = dueTime, now > due else { return }
        lastTick = reached(at: position)
    }

    /// Returns a Boolean value that indicates whether the playhead turns from one motion to the next.
    private func isReversed(by new: Motion) -> Bool { (new.timebase.rate < 0) != (motion.timebase.rate < 0) }

    private mutating func fire(_ time: MediaTime, at now: Duration) -> TimeStep {
        lastFire = now
        return .fire(time)
    }

    private var isForward: Bool { motion.timebase.rate >= 0 }

    private var dueTime: Duration? {
        guard motion.item != nil, motion.timebase.rate != 0 else { return nil }
        return motion.time(reaching: interval * nextTick)
    }

    private var nextTick: Int64 {
        let (tick, overflow) = lastTick.addingReportingOverflow(isForward ? 1 : -1)
        return overflow ? lastTick : tick
    }

    /// Returns the multiple that is due, or a later one if several have been passed.
    private func reached(at position: MediaTime) -> Int64 {
        // Because of rounding, the position may be slightly before the multiple that is due.
        isForward ? max(nextTick, tick(at: position)) : min(nextTick, tick(at: position))
    }

    /// Returns the last multiple that was passed before a position, in the direction of playback.
    private func tick(at position: MediaTime) -> Int64 {
        let top = Int128(position.value) *| Int128(interval.timescale)
        let bottom = Int128(position.timescale) *| Int128(interval.value)
        let (quotient, remainder) = top.quotientAndRemainder(dividingBy: bottom)
        let floor = remainder < 0 ? quotient -| 1 : quotient
        return Int64(clamping: isForward || remainder == 0 ? floor : floor +| 1)
    }
}
