import MediaTiming
import StreamingEngine

/// A controller that supplies an audio output with samples that are synchronized with the playhead.
final class SoundPlayback {
    /// The result of supplying the output once.
    struct Turn {
        /// The correction to apply to the playhead to approach the position of the audible audio, in media time.
        var drift = MediaTime.zero
        /// The time at which to supply the output again; `nil` if nothing is played.
        var next: Duration?
    }

    let feed: AudioFeed
    /// A Boolean value that indicates whether silence replaces the audio.
    var isSilent = false
    private var settings = SoundSettings()
    private let output: any AudioOutput
    private let format: SoundFormat
    private var tempo: TempoFilter?
    private var rate = 1.0
    private var isPlaying = false

    /// The duration of audio to keep enqueued at the device, short enough that a pause has no perceptible delay.
    private static let reserve = Duration.milliseconds(160)
    /// The offset between audio and video, in seconds, up to which it is inaudible and not corrected.
    private static let tolerance = 0.004
    /// The offset between audio and video, in seconds, above which audio restarts at the playhead; below it, the
    /// playhead is adjusted.
    private static let limit = 0.1
    /// The minimum duration of enqueued audio from which the position of the device can be derived.
    private static let evidence = Duration.milliseconds(30)
    /// The rates at which audio is played.
    private static let audibleRates = 0.25...4.0

    /// Creates a controller and opens the output.
    init(_ output: any AudioOutput) throws {
        self.output = output
        format = try output.start(SoundFormat(sampleRate: 48_000, channelCount: 2))
        feed = AudioFeed(format)
    }

    /// Discards enqueued audio and moves to another position.
    func seek(to position: MediaTime, _ mapping: inout TimestampMapping) {
        output.flush()
        tempo = nil
        feed.seek(to: position, &mapping)
    }

    /// Starts playback at a position.
    ///
    /// - Returns: The delay until the first sample is audible.
    func start(at position: MediaTime, rate: Double, _ mapping: inout TimestampMapping) -> Duration {
        self.rate = rate
        seek(to: position, &mapping)
        isPlaying = Self.audibleRates.contains(rate) && feed.hasSound
        guard isPlaying else {
            output.pause()
            return .zero
        }
        let delay = output.queuedDuration
        supply(up: position + MediaTime(Self.reserve, scaledBy: rate), &mapping)
        output.resume()
        return delay
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
    func set(_ settings: SoundSettings) throws {
        let former = self.settings
        self.settings = settings
        output.setVolume(settings.volume, isMuted: settings.isMuted)
        guard settings.pitch != former.pitch, let tempo else { return }
        for block in try tempo.finish() { try output.enqueue(block) }
        self.tempo = nil
    }

    /// Supplies the output with the samples that are due.
    ///
    /// - Parameters:
    ///   - clock: The clock of the playhead.
    ///   - now: The current real time.
    ///   - mapping: The timestamp mapping.
    /// - Returns: The correction of the playhead, and the time of the next call.
    /// - Throws: The error of the output.
    func play(_ clock: PlaybackClock, now: Duration, _ mapping: inout TimestampMapping) throws -> Turn {
        guard isPlaying else {
            // Audio that is appended late joins running playback.
            guard Self.audibleRates.contains(clock.eventual.rate), feed.hasSound else { return Turn() }
            guard clock.eventual.time <= now else { return Turn(next: clock.eventual.time) }
            _ = start(at: clock.timebase(at: now).mediaTime(at: now), rate: clock.eventual.rate, &mapping)
            return Turn(next: now + Self.reserve / 4)
        }
        var turn = Turn()
        var queued = output.queuedDuration
        var heard = clock.eventual.mediaTime(at: now + queued)
        // An empty queue does not reveal the clock of the device: audio may have ended or not been appended yet.
        if output.isPaced, let position = feed.position, queued >= Self.evidence || position > heard {
            let error = (position - heard).seconds / max(rate, 0.01)
            if abs(error) > Self.limit {
                // The offset is perceptible, so audio restarts at the position of the playhead.
                output.flush()
                tempo = nil
                queued = output.queuedDuration
                heard = clock.eventual.mediaTime(at: now + queued)
                feed.seek(to: heard, &mapping)
            } else if abs(error) > Self.tolerance {
                turn.drift = MediaTime(approximating: error * rate / 4) ?? .zero
            }
        } else if output.isPaced, let position = feed.position, position < heard {
            feed.skip(to: heard)
        }
        try supply(until: heard, queued: queued, &mapping)
        turn.next = now + (output.isPaced ? Self.reserve / 8 : Self.reserve / 2)
        return turn
    }

    private func supply(up limit: MediaTime, _ mapping: inout TimestampMapping) {
        while let samples = feed.next(before: limit, &mapping) {
            guard (try? enqueue(samples)) != nil else { return }
        }
    }

    private func supply(until heard: MediaTime, queued: Duration, _ mapping: inout TimestampMapping) throws {
        let ahead = output.isPaced ? Self.reserve - queued : Self.reserve
        // A full queue is not extended even if its end is slightly early; otherwise it would grow with each call.
        guard ahead > .zero else { return }
        let limit = heard + MediaTime(ahead, scaledBy: rate)
        while let samples = feed.next(before: limit, &mapping) { try enqueue(samples) }
    }

    private func enqueue(_ samples: AudioSamples) throws {
        let samples = isSilent ? samples.silenced : samples.mixed(by: settings.mix)
        guard rate != 1 else { return try output.enqueue(samples) }
        if tempo == nil { tempo = TempoFilter(rate: rate, pitch: settings.pitch) }
        for block in try tempo?.process(samples) ?? [] { try output.enqueue(block) }
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
