import MediaTiming
import StreamingEngine

/// A controller that supplies an audio output with samples that are synchronized with the playhead.
final class AudioPlayback {
    /// The result of supplying the output once.
    struct SupplyResult {
        /// The correction to apply to the playhead to approach the position of the audible audio, in media time.
        var playheadCorrection = MediaTime.zero
        /// The time at which to supply the output again; `nil` if nothing is played.
        var nextSupplyTime: Duration?
    }

    let feed: AudioFeed
    /// A Boolean value that indicates whether silence replaces the audio.
    var isDisabled = false
    private var settings = AudioSettings()
    private let output: any AudioOutput
    private let delays: OutputDelays
    /// The delay of the audio that is enqueued.
    private var delay = MediaTime.zero
    private let format: AudioFormat
    private var tempoFilter: TempoFilter?
    private var rate = 1.0
    private var isPlaying = false

    /// The duration of audio to keep enqueued at the device, short enough that a pause has no perceptible delay.
    private static let targetQueuedDuration = Duration.milliseconds(160)
    /// The offset between audio and video, in seconds, up to which it is inaudible and not corrected.
    private static let driftTolerance = 0.004
    /// The offset between audio and video, in seconds, above which audio restarts at the playhead; below it, the
    /// playhead is adjusted.
    private static let maximumDrift = 0.1
    /// The minimum duration of enqueued audio from which the position of the device can be derived.
    private static let minimumMeasurableDuration = Duration.milliseconds(30)
    /// The rates at which audio is played.
    private static let audibleRates = 0.25...4.0

    /// Creates a controller and opens the output.
    ///
    /// - Parameters:
    ///   - output: The output.
    ///   - delays: The delays, of which that of audio applies.
    /// - Throws: The error of the output.
    init(_ output: any AudioOutput, _ delays: OutputDelays) throws {
        self.output = output
        self.delays = delays
        format = try output.start(AudioFormat(sampleRate: 48_000, channelCount: 2))
        feed = AudioFeed(format)
    }

    /// Discards enqueued audio and moves to another position.
    func seek(to position: MediaTime, _ mapping: inout TimestampMapping) {
        output.flush()
        tempoFilter = nil
        delay = delays.audio
        feed.seek(to: position - delay, &mapping)
    }

    /// Starts playback at a position.
    ///
    /// - Returns: The delay until the first sample is audible.
    func start(at position: MediaTime, rate: Double, mapping: inout TimestampMapping) -> Duration {
        self.rate = rate
        seek(to: position, &mapping)
        isPlaying = Self.audibleRates.contains(rate) && feed.hasAudio
        guard isPlaying else {
            output.pause()
            return .zero
        }
        let latency = output.queuedDuration
        supplyInitial(
            before: position - delay + MediaTime(Self.targetQueuedDuration, scaledBy: rate),
            mapping: &mapping
        )
        output.resume()
        return latency
    }

    /// Pauses the output.
    func pause() {
        output.pause()
        isPlaying = false
    }

    /// Pauses the output and discards enqueued audio.
    func stop() {
        pause()
        output.flush()
    }

    /// Applies audio settings.
    func apply(_ settings: AudioSettings) throws {
        let former = self.settings
        self.settings = settings
        output.setVolume(settings.volume, isMuted: settings.isMuted)
        guard settings.pitchAlgorithm != former.pitchAlgorithm, let tempoFilter else { return }
        for block in try tempoFilter.finish() { try output.enqueue(block) }
        self.tempoFilter = nil
    }

    /// Supplies the output with the samples that are due.
    ///
    /// - Parameters:
    ///   - clock: The clock of the playhead.
    ///   - now: The current real time.
    ///   - mapping: The timestamp mapping.
    /// - Returns: The correction of the playhead, and the time of the next call.
    /// - Throws: The error of the output.
    func supply(_ clock: PlaybackClock, now: Duration, mapping: inout TimestampMapping) throws -> SupplyResult {
        guard isPlaying else {
            // Audio that is appended late joins running playback.
            guard Self.audibleRates.contains(clock.targetTimebase.rate), feed.hasAudio else { return SupplyResult() }
            guard clock.targetTimebase.time <= now else {
                return SupplyResult(nextSupplyTime: clock.targetTimebase.time)
            }
            _ = start(
                at: clock.timebase(at: now).mediaTime(at: now),
                rate: clock.targetTimebase.rate,
                mapping: &mapping
            )
            return SupplyResult(nextSupplyTime: now + Self.targetQueuedDuration / 4)
        }
        var turn = SupplyResult()
        if delay != delays.audio {
            output.flush()
            seek(to: clock.targetTimebase.mediaTime(at: now + output.queuedDuration), &mapping)
        }
        var queued = output.queuedDuration
        var heard = clock.targetTimebase.mediaTime(at: now + queued) - delay
        // An empty queue does not reveal the clock of the device: audio may have ended or not been appended yet.
        if output.isRealTime, let position = feed.position, queued >= Self.minimumMeasurableDuration || position > heard
        {
            let error = (position - heard).seconds / max(rate, 0.01)
            if abs(error) > Self.maximumDrift {
                // The offset is perceptible, so audio restarts at the position of the playhead.
                output.flush()
                tempoFilter = nil
                queued = output.queuedDuration
                heard = clock.targetTimebase.mediaTime(at: now + queued) - delay
                feed.seek(to: heard, &mapping)
            } else if abs(error) > Self.driftTolerance {
                turn.playheadCorrection = MediaTime(approximating: error * rate / 4) ?? .zero
            }
        } else if output.isRealTime, let position = feed.position, position < heard {
            feed.skip(to: heard)
        }
        try supply(after: heard, queued: queued, mapping: &mapping)
        turn.nextSupplyTime = now + (output.isRealTime ? Self.targetQueuedDuration / 8 : Self.targetQueuedDuration / 2)
        return turn
    }

    private func supplyInitial(before limit: MediaTime, mapping: inout TimestampMapping) {
        while let samples = feed.next(before: limit, &mapping) {
            guard (try? enqueue(samples)) != nil else { return }
        }
    }

    private func supply(after heard: MediaTime, queued: Duration, mapping: inout TimestampMapping) throws {
        let ahead = output.isRealTime ? Self.targetQueuedDuration - queued : Self.targetQueuedDuration
        // A full queue is not extended even if its end is slightly early; otherwise it would grow with each call.
        guard ahead > .zero else { return }
        let limit = heard + MediaTime(ahead, scaledBy: rate)
        while let samples = feed.next(before: limit, &mapping) { try enqueue(samples) }
    }

    private func enqueue(_ samples: AudioSamples) throws {
        let samples = isDisabled ? samples.silenced : samples.applying(settings.mix)
        guard rate != 1 else { return try output.enqueue(samples) }
        if tempoFilter == nil { tempoFilter = TempoFilter(rate: rate, pitchAlgorithm: settings.pitchAlgorithm) }
        for block in try tempoFilter?.process(samples) ?? [] { try output.enqueue(block) }
    }
}

extension AudioSamples {
    /// Silence of the same duration.
    fileprivate var silenced: AudioSamples {
        AudioSamples(
            time: time,
            sampleRate: sampleRate,
            channelCount: channelCount,
            samples: Array(repeating: 0, count: samples.count)
        )
    }
}
