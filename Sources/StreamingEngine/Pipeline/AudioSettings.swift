/// The settings for the presentation of audio.
public struct AudioSettings: Sendable, Hashable {
    /// The algorithm that adapts audio to rates other than 1.
    public enum PitchAlgorithm: String, Sendable, Hashable, CaseIterable {
        /// Preserves the pitch; suitable for speech and inexpensive.
        case timeDomain
        /// Preserves the pitch; suitable for music, and several times as expensive.
        ///
        /// The same as ``timeDomain`` if FFmpeg was built without the filter `rubberband`.
        case spectral
        /// Changes the pitch with the rate, as with a tape.
        case varispeed
    }

    /// The volume, from 0 for silence to 1 for the original volume; other values are clamped.
    public var volume: Double {
        didSet { volume = Self.clamped(volume) }
    }
    /// A Boolean value that indicates whether audio is muted regardless of the volume.
    public var isMuted: Bool
    /// The volume over media time, in addition to ``volume``.
    public var mix: AudioMix
    /// The algorithm for rates other than 1.
    public var pitchAlgorithm: PitchAlgorithm

    /// Creates settings; by default with the original volume and preserved pitch.
    public init(
        volume: Double = 1,
        isMuted: Bool = false,
        mix: AudioMix = AudioMix(),
        pitchAlgorithm: PitchAlgorithm = .timeDomain
    ) {
        self.volume = Self.clamped(volume)
        self.isMuted = isMuted
        self.mix = mix
        self.pitchAlgorithm = pitchAlgorithm
    }

    private static func clamped(_ volume: Double) -> Double { volume.isNaN ? 0 : min(1, max(0, volume)) }
}
