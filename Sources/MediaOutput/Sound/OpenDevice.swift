import CSDL2
import MediaDecoding
import MediaTiming

/// A sound device from its opening to its closing.
struct OpenDevice: ~Copyable {
    let queue: SoundQueue
    private let id: SDL_AudioDeviceID
    private let source: Unmanaged<SoundSource>

    /// Opens the default device, paused.
    ///
    /// - Throws: ``OutputError`` with ``OutputError/Code/noSoundDevice``.
    init(_ format: SoundFormat, time: any TimeSource, gain: Float) throws(OutputError) {
        do { try SDLRuntime.require(SDL_INIT_AUDIO) } catch { throw Self.failure(error.message) }
        // SDL wants to know where samples come from before it says what they must be like.
        let source = Unmanaged.passRetained(SoundSource(time: time))
        var wanted = SDL_AudioSpec()
        wanted.freq = Int32(clamping: format.sampleRate)
        wanted.format = millstream_audio_float()
        wanted.channels = UInt8(clamping: format.channelCount)
        wanted.samples = Self.bufferFrames(sampleRate: format.sampleRate)
        wanted.callback = fillBuffer
        wanted.userdata = source.toOpaque()
        var actual = SDL_AudioSpec()
        // Rate and channels may change: who decodes converts better than SDL, and only once.
        let changes =
            SDL_AUDIO_ALLOW_FREQUENCY_CHANGE | SDL_AUDIO_ALLOW_CHANNELS_CHANGE | SDL_AUDIO_ALLOW_SAMPLES_CHANGE
        let id = SDL_OpenAudioDevice(nil, 0, &wanted, &actual, changes)
        guard id != 0 else {
            let message = SDLRuntime.lastError
            source.release()
            SDLRuntime.release(SDL_INIT_AUDIO)
            throw Self.failure(message)
        }
        let obtained = SoundFormat(sampleRate: Int(actual.freq), channelCount: Int(actual.channels))
        queue = SoundQueue(
            obtained,
            capacity: SilentOutput.capacity,
            // While one buffer is heard, the next one waits.
            deviceLatency: obtained.duration(ofFrames: Int(actual.samples)),
            gain: gain
        )
        source.takeUnretainedValue().attach(queue)
        self.id = id
        self.source = source
    }

    deinit {
        // Waits for the callback to end; after it nobody holds the source.
        SDL_CloseAudioDevice(id)
        source.release()
        SDLRuntime.release(SDL_INIT_AUDIO)
    }

    /// Whether the device went away.
    var hasStopped: Bool { SDL_GetAudioDeviceStatus(id) == SDL_AUDIO_STOPPED }

    func setPaused(_ isPaused: Bool) {
        queue.setPaused(isPaused)
        SDL_PauseAudioDevice(id, isPaused ? 1 : 0)
    }

    /// About ten milliseconds, a power of two: short enough to keep sound and picture together, long enough for a busy machine.
    static func bufferFrames(sampleRate: Int) -> UInt16 {
        var frames = 64
        while frames * 2 <= sampleRate / 80, frames < 4096 { frames *= 2 }
        return UInt16(clamping: frames)
    }

    private static func failure(_ message: String) -> OutputError {
        OutputError(
            .noSoundDevice,
            "No sound device opens (\(message)): connect one, or choose a driver with SDL_AUDIODRIVER"
        )
    }
}
