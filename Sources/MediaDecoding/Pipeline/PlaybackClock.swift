import MediaTiming
import StreamingEngine

/// The play head: a line through media time and real time, and what it will be from a moment on that is still to come.
struct PlaybackClock: Sendable {
    private var current: Timebase
    private var scheduled: Timebase?

    /// A play head that stands.
    init(at now: Duration) { current = Timebase(time: now) }

    /// How it moves at a moment.
    func timebase(at now: Duration) -> Timebase {
        guard let scheduled, scheduled.time <= now else { return current }
        return scheduled
    }

    /// How it moves once what was said of the future has come.
    var eventual: Timebase { scheduled ?? current }

    /// Goes on at another rate from a moment on, at once where that is past.
    mutating func setRate(_ rate: Double, at start: Duration, now: Duration) {
        let standing = timebase(at: now)
        guard start > now else {
            current = standing.continued(at: now, rate: rate)
            scheduled = nil
            return
        }
        // Until then it stands, if it does; what moves goes on.
        current = standing.continued(at: now, rate: standing.rate)
        scheduled = Timebase(mediaTime: current.mediaTime(at: start), time: start, rate: rate)
    }

    /// Is somewhere else.
    mutating func jump(to time: MediaTime, now: Duration) {
        current = Timebase(mediaTime: time, time: now, rate: eventual.rate)
        scheduled = nil
    }

    /// Is a little elsewhere on its way: sound goes by a clock of its own.
    mutating func shift(by distance: MediaTime, now: Duration) {
        // Before it moves, there is nothing to go by.
        guard scheduled?.time ?? .zero <= now else { return }
        let moving = timebase(at: now)
        current = Timebase(mediaTime: moving.mediaTime(at: now) + distance, time: now, rate: moving.rate)
        scheduled = nil
    }
}
