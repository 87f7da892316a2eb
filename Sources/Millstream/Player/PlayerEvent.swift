public import PlaybackReporting

/// What happens to a player.
public enum PlayerEvent: Sendable, Hashable {
    /// Another item is played, or none.
    case currentItemDidChange(PlayerItem?)
    /// Whether it can play is known.
    case statusDidChange(PlayerState.Status)
    /// Another rate is asked for, or what was asked for cannot be done, and why (`rateDidChange`).
    case rateDidChange(RateChange)
    /// It plays, waits or stands.
    case timeControlStatusDidChange(TimeControl)
    /// Something happened to an item of it.
    case item(PlayerItem, PlayerItem.Event)
    /// The reader was too slow: so many events before this one are lost.
    case dropped(Int)
}
