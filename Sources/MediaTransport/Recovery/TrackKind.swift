/// A track of an item, which is fetched independently of the others.
package enum TrackKind: Sendable, Hashable, CaseIterable {
    /// The variant: video, muxed audio and video, or only audio.
    case main
    /// Audio from a separate playlist, without which video can be played.
    case audio
    /// Subtitles from a separate playlist, for which playback does not wait.
    case subtitles

    /// A Boolean value that indicates whether playback waits for the track.
    package var isRequired: Bool { self != .subtitles }
}
