import MediaTiming
import StreamingEngine

/// Decides when a periodic observer of time is due: at each multiple of an interval of media time, when the play head
/// jumps, and when it starts or stops.
struct PeriodicSchedule: TimeSchedule {
    /// No observer hears more than a thousand times a second, however short its interval.
    private static let shortestPause = Duration.milliseconds(1)

    private let interval: MediaTime
    private var motion: Motion
    /// The multiple of the interval that was told or passed last.
    private var lastTick: Int64
    private var lastFire: Duration?

    /// Makes a schedule.
    ///
    /// - Parameters:
    ///   - interval: Media time; positive.
    ///   - motion: How the play head moves now: only what differs from it is told.
    ///   - now: The time.
    init(every interval: MediaTime, from motion: Motion, at now: Duration) {
        precondition(interval > .zero, "the interval of a periodic observer is positive")
        self.interval = interval
        self.motion = motion
        lastTick = 0
        lastTick = tick(at: motion.timebase.mediaTime(at: now))
    }

    mutating func step(_ new: Motion, at now: Duration) -> TimeStep {
        let change = new.change(from: motion, at: now)
        let turned = (new.timebase.rate < 0) != (motion.timebase.rate < 0)
        motion = new
        guard new.item != nil else { return .wait(until: nil) }
        let position = new.timebase.mediaTime(at: now)
        if change != .none {
            lastTick = tick(at: position)
            return fire(position, at: now)
        }
        if turned { lastTick = tick(at: position) }
        guard let due = dueTime else { return .wait(until: nil) }
        let earliest = max(due, lastFire.map { $0 + Self.shortestPause } ?? due)
        guard now >= earliest else { return .wait(until: earliest) }
        lastTick = reached(at: position)
        return fire(interval * lastTick, at: now)
    }

    mutating func drop(_ new: Motion, at now: Duration) {
        // Where the motion changed the next step begins anew, and tells so.
        guard new.change(from: motion, at: now) == .none else { return }
        motion = new
        guard let due = dueTime, now > due else { return }
        lastTick = reached(at: motion.timebase.mediaTime(at: now))
    }

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

    /// The tick that is due, or a later one where several were passed.
    private func reached(at position: MediaTime) -> Int64 {
        // By rounding, the play head may seem to be just before the tick whose time has come.
        isForward ? max(nextTick, tick(at: position)) : min(nextTick, tick(at: position))
    }

    /// The multiple that was passed last before a position, in the direction of play.
    private func tick(at position: MediaTime) -> Int64 {
        let top = Int128(position.value) *| Int128(interval.timescale)
        let bottom = Int128(position.timescale) *| Int128(interval.value)
        let (quotient, remainder) = top.quotientAndRemainder(dividingBy: bottom)
        let floor = remainder < 0 ? quotient -| 1 : quotient
        return Int64(clamping: isForward || remainder == 0 ? floor : floor +| 1)
    }
}
