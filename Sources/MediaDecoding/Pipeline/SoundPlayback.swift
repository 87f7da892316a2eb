import MediaTiming
import StreamingEngine

/// Keeps an output supplied with sound that fits the pictures.
final class SoundPlayback {
    /// What came of a look at it.
    struct Turn {
        /// How much media time the play head is behind what is heard; it is to be moved by this.
        var drift = MediaTime.zero
        /// When to look again.
        var next: Duration?
    }

    let feed: AudioFeed
    /// Whether silence is played instead.
    var isSilent = false
    private var settings = SoundSettings()
    private let output: any AudioOutput
    private let format: SoundFormat
    private var tempo: TempoFilter?
    private var rate = 1.0
    private var isPlaying = false

    /// So much is kept with the device: less than a person notices as a delay of a pause.
    private static let reserve = Duration.milliseconds(160)
    /// Below this nobody hears that sound and pictures are apart.
    private static let tolerance = 0.004
    /// Beyond this sound is cut or stretched by silence; up to it the play head gives way.
    private static let limit = 0.1
    /// So much has to be queued for its place to tell anything.
    private static let evidence = Duration.milliseconds(30)
    /// Rates at which sound is still sound.
    private static let audibleRates = 0.25...4.0

    /// Opens an output.
    init(_ output: any AudioOutput) throws {
        self.output = output
        format = try output.start(SoundFormat(sampleRate: 48_000, channelCount: 2))
        feed = AudioFeed(format)
    }

    /// The play head is elsewhere.
    func seek(to position: MediaTime, _ mapping: inout TimestampMapping) {
        output.flush()
        tempo = nil
        feed.seek(to: position, &mapping)
    }

    /// Begins at a position.
    ///
    /// - Returns: After how much time the first of it is heard.
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

    /// Falls silent.
    func pause() {
        output.pause()
        isPlaying = false
    }

    /// Falls silent for good.
    func stop() {
        pause()
        output.flush()
    }

    /// Takes over how sound is to be heard.
    func set(_ settings: SoundSettings) throws {
        let former = self.settings
        self.settings = settings
        output.setVolume(settings.volume, isMuted: settings.isMuted)
        guard settings.pitch != former.pitch, let tempo else { return }
        for block in try tempo.finish() { try output.enqueue(block) }
        self.tempo = nil
    }

    /// Supplies the output.
    ///
    /// - Parameters:
    ///   - clock: The play head.
    ///   - now: The time.
    ///   - mapping: Where timestamps lie.
    /// - Returns: What came of it.
    /// - Throws: What the output throws.
    func play(_ clock: PlaybackClock, now: Duration, _ mapping: inout TimestampMapping) throws -> Turn {
        guard isPlaying else {
            // Sound that comes late joins in.
            guard Self.audibleRates.contains(clock.eventual.rate), feed.hasSound else { return Turn() }
            guard clock.eventual.time <= now else { return Turn(next: clock.eventual.time) }
            _ = start(at: clock.timebase(at: now).mediaTime(at: now), rate: clock.eventual.rate, &mapping)
            return Turn(next: now + Self.reserve / 4)
        }
        var turn = Turn()
        var queued = output.queuedDuration
        var heard = clock.eventual.mediaTime(at: now + queued)
        // An empty queue says nothing about the device's clock: sound may be over, or not there yet.
        if output.isPaced, let position = feed.position, queued >= Self.evidence || position > heard {
            let error = (position - heard).seconds / max(rate, 0.01)
            if abs(error) > Self.limit {
                // Too far for a person not to notice: it begins anew where the pictures are.
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
        // A full queue stays as it is, however little its end is behind: else it would grow by each look.
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
    /// As much silence.
    fileprivate var silenced: AudioSamples {
        AudioSamples(
            time: time,
            sampleRate: sampleRate,
            channelCount: channelCount,
            samples: Array(repeating: 0, count: samples.count)
        )
    }
}
