import MediaTiming
import StreamingEngine

/// A schedule that is due each time playback passes one of the given times; a seek passes none.
struct BoundarySchedule: TimeSchedule {
    private let times: [MediaTime]
    private var motion: Motion
    /// The position up to which times were reported or skipped.
    private var position: MediaTime
    /// A Boolean value that indicates whether playback moves forward; while it is stopped, that of the last movement.
    private var isForward: Bool

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - times: The times, in any order.
    ///   - motion: The current motion of the playhead.
    ///   - now: The current time.
    init(_ times: some Sequence<MediaTime>, from motion: Motion, at now: Duration) {
        self.times = Set(times).sorted()
        self.motion = motion
        position = motion.timebase.mediaTime(at: now)
        isForward = motion.timebase.rate >= 0
    }

    mutating func step(_ new: Motion, at now: Duration) -> TimeStep {
        let change = new.change(from: motion, at: now)
        let wasForward = isForward
        // Playback that was stopped turns at the position where it stood.
        let turn = (motion.timebase.rate == 0 ? motion : new).timebase.mediaTime(at: now)
        if new.timebase.rate != 0 { isForward = new.timebase.rate > 0 }
        motion = new
        guard new.item != nil else { return .wait(until: nil) }
        let reached = new.timebase.mediaTime(at: now)
        if change == .jumped { position = reached } else if isForward != wasForward { position = turn }
        guard let next = nextTime else { return .wait(until: nil) }
        let due = new.time(reaching: next)
        let isPassed = isForward ? reached >= next : reached <= next
        guard isPassed || (due.map { $0 <= now } ?? false) else { return .wait(until: due) }
        position = next
        return .fire(next)
    }

    mutating func skipElapsed(_ new: Motion, at now: Duration) {
        guard new.change(from: motion, at: now) != .jumped, new.item != nil else { return }
        let reached = new.timebase.mediaTime(at: now)
        position = isForward ? max(position, reached) : min(position, reached)
    }

    /// The first time after the position, in the direction of playback; `nil` if there is none.
    private var nextTime: MediaTime? {
        if isForward {
            let index = times.partitioningIndex { $0 > position }
            return index < times.count ? times[index] : nil
        }
        let index = times.partitioningIndex { $0 >= position }
        return index > 0 ? times[index - 1] : nil
    }
}
