import MediaDecoding
import MediaTiming
import Synchronization

/// A queue of samples between the caller that enqueues them and the thread of the device that plays them.
///
/// Both hold the lock only for as long as it takes to copy a few milliseconds of audio.
final class AudioSampleQueue: Sendable {
    fileprivate struct State {
        var ring: SampleRing
        var isPaused = true
        var gain: Float = 1
        var targetGain: Float = 1
        /// The time at which the device last requested samples, which are played after it.
        var lastRequestTime: Duration?
        var lastRequestCount = 0
        var underrunCount = 0
        var hasPlayed = false
    }

    let format: AudioFormat
    /// The delay from a request of the device until the first sample of it is audible.
    let deviceLatency: Duration
    private let state: Mutex<State>

    /// Creates an empty, paused queue.
    init(_ format: AudioFormat, capacity: Duration, deviceLatency: Duration, gain: Float = 1) {
        self.format = format
        self.deviceLatency = deviceLatency
        let frames = min(format.frameCount(in: capacity), 1 << 24)
        let ring = SampleRing(capacity: frames * format.channelCount)
        state = Mutex(State(ring: ring, gain: gain, targetGain: gain))
    }

    /// Appends samples.
    ///
    /// - Returns: `false` if there is not enough space for all of them; in this case, none are added.
    func enqueue(_ samples: [Float]) -> Bool { state.withLock { $0.ring.write(samples) } }

    /// Discards the queued samples; silence after it does not count as starvation.
    func flush() {
        state.withLock { state in
            state.ring.removeAll()
            state.hasPlayed = false
        }
    }

    func setPaused(_ isPaused: Bool) { state.withLock { $0.isPaused = isPaused } }

    /// Sets the gain, which changes gradually over the next buffer because a sudden change would cause an audible
    /// click.
    func setGain(_ gain: Float) { state.withLock { $0.targetGain = gain } }

    /// Fills a buffer of the device, with silence if there are not enough samples.
    func fill(_ buffer: UnsafeMutableBufferPointer<Float>, at now: Duration) {
        state.withLock { state in
            let taken = state.isPaused ? 0 : state.ring.read(into: buffer)
            for index in taken..<buffer.count { buffer[index] = 0 }
            guard !state.isPaused else { return }
            state.applyGain(to: buffer, count: taken, channelCount: format.channelCount)
            if taken > 0 { state.hasPlayed = true }
            // Silence before the first sample is not starvation.
            if state.hasPlayed { state.underrunCount += (buffer.count - taken) / max(1, format.channelCount) }
            state.lastRequestTime = now
            state.lastRequestCount = buffer.count / max(1, format.channelCount)
        }
    }

    /// Returns the delay until a sample that is enqueued now is audible, unless the queue is paused.
    ///
    /// The device requests one buffer at a time. The duration of the last buffer decreases with the clock, until the
    /// device requests the next one.
    func queuedDuration(at now: Duration) -> Duration {
        let (count, last, lastCount) = state.withLock { ($0.ring.count, $0.lastRequestTime, $0.lastRequestCount) }
        let queued = format.duration(ofFrames: count / max(1, format.channelCount)) + deviceLatency
        guard let last else { return queued }
        return queued + max(.zero, format.duration(ofFrames: lastCount) - max(.zero, now - last))
    }

    var underrunDuration: Duration { format.duration(ofFrames: state.withLock { $0.underrunCount }) }
}

extension AudioSampleQueue.State {
    fileprivate mutating func applyGain(to buffer: UnsafeMutableBufferPointer<Float>, count: Int, channelCount: Int) {
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
