public import PlaybackReporting

/// The output of an engine.
public enum PlaybackEngineOutput: Sendable {
    /// An event of the playback.
    case event(PlaybackEvent)
    /// The state of the item has changed.
    case snapshot(PlaybackSnapshot)
}
