package import PlaybackReporting

/// The output of an engine.
package enum PlaybackEngineOutput: Sendable {
    /// An event of the playback.
    case event(PlaybackEvent)
    /// The state of the item has changed.
    case snapshot(PlaybackSnapshot)
}
