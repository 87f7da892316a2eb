import CSDL2
import MediaDecoding
import MediaTiming

/// An open audio device, which is closed when the value is destroyed.
struct AudioDevice: ~Copyable {
    let queue: AudioSampleQueue
    private let id: SDL_AudioDeviceID
    private let source: Unmanaged<AudioCallbackContext>

    /// Creates an instance that opens the default device, paused.
    ///
    /// - Throws: ``OutputError`` with ``OutputError/Code/noAudioDevice``.
    init(_ format: AudioFormat, time: any TimeSource, gain: Float) throws(OutputError) {
        // The error of SDL has the reason.
        millstream_silence_alsa()
        defer { millstream_restore_alsa() }
        do { try SDLRuntime.initialize(SDL_INIT_AUDIO) } catch { throw Self.failure(error.message) }
        // SDL requires the source of samples before it reports their actual format.
        let source = Unmanaged.passRetained(AudioCallbackContext(time: time))
        var wanted = SDL_AudioSpec()
        wanted.freq = Int32(clamping: format.sampleRate)
        wanted.format = millstream_audio_float()
        wanted.channels = UInt8(clamping: format.channelCount)
        wanted.samples = Self.bufferFrames(sampleRate: format.sampleRate)
        wanted.callback = fillBuffer
        wanted.userdata = source.toOpaque()
        var actual = SDL_AudioSpec()
        // SDL may change the sample rate and the channels, because the decoder converts better than SDL, and only once.
        let changes =
            SDL_AUDIO_ALLOW_FREQUENCY_CHANGE | SDL_AUDIO_ALLOW_CHANNELS_CHANGE | SDL_AUDIO_ALLOW_SAMPLES_CHANGE
        let id = SDL_OpenAudioDevice(nil, 0, &wanted, &actual, changes)
        guard id != 0 else {
            let message = SDLRuntime.lastError
            source.release()
            SDLRuntime.release(SDL_INIT_AUDIO)
            throw Self.failure(message)
        }
        let obtained = AudioFormat(sampleRate: Int(actual.freq), channelCount: Int(actual.channels))
        queue = AudioSampleQueue(
            obtained,
            capacity: SilentAudioOutput.maximumQueuedDuration,
            // While one buffer is played, the next one waits.
            deviceLatency: obtained.duration(ofFrames: Int(actual.samples)),
            gain: gain
        )
        source.takeUnretainedValue().attach(queue)
        self.id = id
        self.source = source
    }

    deinit {
        // Closing waits for the callback to return; the source is unused afterwards.
        SDL_CloseAudioDevice(id)
        source.release()
        SDLRuntime.release(SDL_INIT_AUDIO)
    }

    /// A Boolean value that indicates whether the device was lost.
    var isLost: Bool { SDL_GetAudioDeviceStatus(id) == SDL_AUDIO_STOPPED }

    func setPaused(_ isPaused: Bool) {
        queue.setPaused(isPaused)
        SDL_PauseAudioDevice(id, isPaused ? 1 : 0)
    }

    /// Returns the number of samples per channel in a device buffer: a power of two of about 10 ms.
    ///
    /// It is short enough to keep audio and video synchronized, and long enough for a machine under load.
    static func bufferFrames(sampleRate: Int) -> UInt16 {
        var frames = 64
        while frames * 2 <= sampleRate / 80, frames < 4096 { frames *= 2 }
        return UInt16(clamping: frames)
    }

    private static func failure(_ message: String) -> OutputError {
        OutputError(
            .noAudioDevice,
            "No audio device can be opened (\(message)): connect one, or select a driver with SDL_AUDIODRIVER"
        )
    }
}
