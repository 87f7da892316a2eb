#if Playback
import MediaDecoding
import MediaTiming
import Synchronization

/// A video output that omits frames from a given media time on, because the player shows the frame at its end.
struct EndingVideoOutput: VideoOutput {
    let output: any VideoOutput
    let end: MediaTime

    func show(_ frame: VideoFrame) throws { if frame.time < end { try output.show(frame) } }

    func beginPlayback() { output.beginPlayback() }

    func endPlayback() { output.endPlayback() }

    func clear() { output.clear() }

    func finish() throws { try output.finish() }
}

/// The first error of the outputs of a playback, which the player reports without its type.
final class OutputErrorRecord: Sendable {
    private let state = Mutex<(any Error)?>(nil)

    /// The error; `nil` if there was none.
    var first: (any Error)? { state.withLock { $0 } }

    /// Runs a closure, and records its error if it is the first one.
    func recording<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            state.withLock { first in
                if first == nil { first = error }
            }
            throw error
        }
    }
}

/// An audio output that omits samples from a given media time on, because the player enqueues audio ahead of its position.
final class EndingAudioOutput: AudioOutput {
    private let output: any AudioOutput
    private let end: MediaTime?
    private let rate: Double
    private let errors: OutputErrorRecord

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - output: The output that receives the samples before the end.
    ///   - end: The media time of the end; `nil` if nothing is omitted.
    ///   - rate: The playback rate, by which samples cover more or less media time than their duration.
    ///   - errors: The record of errors.
    init(_ output: any AudioOutput, end: MediaTime?, rate: Double, errors: OutputErrorRecord) {
        self.output = output
        self.end = end
        self.rate = rate
        self.errors = errors
    }

    func start(_ format: AudioFormat) throws -> AudioFormat { try errors.recording { try output.start(format) } }

    func beginPlayback() { output.beginPlayback() }

    func enqueue(_ samples: AudioSamples) throws { try errors.recording { try enqueueBeforeEnd(samples) } }

    private func enqueueBeforeEnd(_ samples: AudioSamples) throws {
        guard let end else { return try output.enqueue(samples) }
        let frames = ((end - samples.time).seconds / rate * Double(samples.sampleRate)).rounded(.up)
        guard frames < Double(samples.frameCount) else { return try output.enqueue(samples) }
        let count = max(0, Int(saturating: frames))
        guard count > 0 else { return }
        try output.enqueue(
            AudioSamples(
                time: samples.time,
                sampleRate: samples.sampleRate,
                channelCount: samples.channelCount,
                samples: Array(samples.samples.prefix(count *| samples.channelCount))
            )
        )
    }

    var queuedDuration: Duration { output.queuedDuration }

    var underrunDuration: Duration { output.underrunDuration }

    var isRealTime: Bool { output.isRealTime }

    func flush() { output.flush() }

    func pause() { output.pause() }

    func resume() { output.resume() }

    func setVolume(_ volume: Double, isMuted: Bool) { output.setVolume(volume, isMuted: isMuted) }

    func finish() throws { try output.finish() }
}
#endif
