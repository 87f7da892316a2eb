import MediaDecoding
import MediaTiming
import Synchronization

/// Samples between whoever enqueues and the thread of a device that takes them.
///
/// The lock is held for a copy of some milliseconds of sound, by both sides.
final class SoundQueue: Sendable {
    fileprivate struct State {
        var ring: SampleRing
        var isPaused = true
        var gain: Float = 1
        var targetGain: Float = 1
        /// What the device took last, and when: it is heard after that.
        var lastTake: Duration?
        var lastTakeCount = 0
        var starvedCount = 0
        var hasPlayed = false
    }

    let format: SoundFormat
    /// Between the moment that a device takes samples and the moment that the first of them is heard.
    let deviceLatency: Duration
    private let state: Mutex<State>

    /// Makes an empty, paused queue.
    init(_ format: SoundFormat, capacity: Duration, deviceLatency: Duration, gain: Float = 1) {
        self.format = format
        self.deviceLatency = deviceLatency
        let frames = min(format.frameCount(in: capacity), 1 << 24)
        let ring = SampleRing(capacity: frames * format.channelCount)
        state = Mutex(State(ring: ring, gain: gain, targetGain: gain))
    }

    /// Puts samples at the end.
    ///
    /// - Returns: Whether there was room for all of them; otherwise none were taken.
    func enqueue(_ samples: [Float]) -> Bool { state.withLock { $0.ring.write(samples) } }

    /// Forgets what was not taken; the silence that follows is no hole in the sound.
    func flush() {
        state.withLock { state in
            state.ring.removeAll()
            state.hasPlayed = false
        }
    }

    func setPaused(_ isPaused: Bool) { state.withLock { $0.isPaused = isPaused } }

    /// Goes to a gain over the next buffer that is taken: a jump would be heard as a click.
    func setGain(_ gain: Float) { state.withLock { $0.targetGain = gain } }

    /// Fills a buffer of the device, with silence where there is not enough.
    func take(into buffer: UnsafeMutableBufferPointer<Float>, at now: Duration) {
        state.withLock { state in
            let taken = state.isPaused ? 0 : state.ring.read(into: buffer)
            for index in taken..<buffer.count { buffer[index] = 0 }
            guard !state.isPaused else { return }
            state.apply(to: buffer, count: taken, format.channelCount)
            if taken > 0 { state.hasPlayed = true }
            // Silence before the first sample is no hole in the sound.
            if state.hasPlayed { state.starvedCount += (buffer.count - taken) / max(1, format.channelCount) }
            state.lastTake = now
            state.lastTakeCount = buffer.count / max(1, format.channelCount)
        }
    }

    /// How long until a sample is heard that is enqueued now, if it is not paused.
    ///
    /// A device takes a buffer at a time. What it took last runs down with the clock; once that is gone it takes the next.
    func queuedDuration(at now: Duration) -> Duration {
        let (count, last, lastCount) = state.withLock { ($0.ring.count, $0.lastTake, $0.lastTakeCount) }
        let queued = format.duration(ofFrames: count / max(1, format.channelCount)) + deviceLatency
        guard let last else { return queued }
        return queued + max(.zero, format.duration(ofFrames: lastCount) - max(.zero, now - last))
    }

    var starvedDuration: Duration { format.duration(ofFrames: state.withLock { $0.starvedCount }) }
}

extension SoundQueue.State {
    fileprivate mutating func apply(to buffer: UnsafeMutableBufferPointer<Float>, count: Int, _ channelCount: Int) {
        let frames = count / max(1, channelCount)
        guard frames > 0 else {
            gain = targetGain
            return
        }
        let step = (targetGain - gain) / Float(frames)
        for frame in 0..<frames {
            let current = gain + step * Float(frame + 1)
            for channel in 0..<channelCount {
                let value = buffer[frame * channelCount + channel] * current
                buffer[frame * channelCount + channel] = value.isNaN ? 0 : max(-1, min(1, value))
            }
        }
        gain = targetGain
    }
}
