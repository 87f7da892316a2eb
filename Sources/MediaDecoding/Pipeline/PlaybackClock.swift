import MediaTiming
import StreamingEngine

/// The timebase of the playhead, and a scheduled change of it.
struct PlaybackClock: Sendable {
    private var current: Timebase
    private var scheduled: Timebase?

    /// Creates a clock whose playhead is stopped at zero.
    init(at now: Duration) { current = Timebase(time: now) }

    /// Returns the timebase that applies at a real time.
    func timebase(at now: Duration) -> Timebase {
        guard let scheduled, scheduled.time <= now else { return current }
        return scheduled
    }

    /// The timebase after the scheduled change, if any.
    var targetTimebase: Timebase { scheduled ?? current }

    /// Changes the rate at a real time, immediately if that time has passed.
    mutating func setRate(_ rate: Double, at start: Duration, now: Duration) {
        let currentTimebase = timebase(at: now)
        guard start > now else {
            current = currentTimebase.continued(at: now, rate: rate)
            scheduled = nil
            return
        }
        // Until then, the current rate continues.
        current = currentTimebase.continued(at: now, rate: currentTimebase.rate)
        scheduled = Timebase(mediaTime: current.mediaTime(at: start), time: start, rate: rate)
    }

    /// Moves the playhead to another media time, without changing its rate.
    mutating func jump(to time: MediaTime, now: Duration) {
        current = Timebase(mediaTime: time, time: now, rate: targetTimebase.rate)
        scheduled = nil
    }

    /// Shifts the moving playhead by a small distance, to follow the clock of the audio device.
    mutating func shift(by distance: MediaTime, now: Duration) {
        // There is no audio to follow before a scheduled start.
        guard scheduled?.time ?? .zero <= now else { return }
        let moving = timebase(at: now)
        current = Timebase(mediaTime: moving.mediaTime(at: now) + distance, time: now, rate: moving.rate)
        scheduled = nil
    }
}
