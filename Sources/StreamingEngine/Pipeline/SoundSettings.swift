/// How sound is to be heard.
public struct SoundSettings: Sendable, Hashable {
    /// How sound is kept together with pictures at other rates than 1.
    public enum PitchAlgorithm: String, Sendable, Hashable, CaseIterable {
        /// The pitch is kept; good for speech, and cheap.
        case timeDomain
        /// The pitch is kept; good for music, and several times as expensive. Where FFmpeg was built without its filter
        /// `rubberband`, it is ``timeDomain``.
        case spectral
        /// The pitch goes with the rate, as that of a tape does.
        case varispeed
    }

    /// 0 for silence to 1 for as it comes; anything else is brought into that range.
    public var volume: Double {
        didSet { volume = Self.clamped(volume) }
    }
    /// Whether it is silent whatever the volume.
    public var isMuted: Bool
    /// How loud which moment of the media is.
    public var mix: AudioMix
    /// What becomes of the pitch at other rates than 1.
    public var pitch: PitchAlgorithm

    /// Makes settings; by default sound is heard as it comes, and its pitch is kept.
    public init(
        volume: Double = 1,
        isMuted: Bool = false,
        mix: AudioMix = AudioMix(),
        pitch: PitchAlgorithm = .timeDomain
    ) {
        self.volume = Self.clamped(volume)
        self.isMuted = isMuted
        self.mix = mix
        self.pitch = pitch
    }

    private static func clamped(_ volume: Double) -> Double { volume.isNaN ? 0 : min(1, max(0, volume)) }
}
