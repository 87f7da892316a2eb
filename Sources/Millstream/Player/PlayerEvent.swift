public import PlaybackReporting

/// An event of a player.
public enum PlayerEvent: Sendable, Hashable {
    /// The current item changed; `nil` if there is none.
    case currentItemDidChange(PlayerItem?)
    /// The status of the player changed.
    case statusDidChange(PlayerState.Status)
    /// The requested rate changed, or a requested rate was refused, with the reason (`rateDidChange`).
    case rateDidChange(RateChange)
    /// The time control status changed.
    case timeControlStatusDidChange(TimeControl)
    /// The audio device cannot be opened or was lost, see ``PlayerState/audioDeviceError``; playback continues in
    /// silence.
    case audioDeviceDidFail
    /// An event of an item of the player.
    case item(PlayerItem, PlayerItem.Event)
    /// This number of events was dropped before this one because the reader was too slow.
    case dropped(Int)
}
