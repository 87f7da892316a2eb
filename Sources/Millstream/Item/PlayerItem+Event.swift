public import PlaybackReporting

extension PlayerItem {
    /// An event of an item.
    public enum Event: Sendable, Hashable {
        /// A notification, named as in AVFoundation.
        case notification(Notification)
        /// Any other event of the engine: a request, a decision or a change of state.
        case playback(PlaybackEvent)
        /// This number of events was dropped before this one because the reader was too slow.
        case dropped(Int)
    }

    /// A notification that AVFoundation would post for an item.
    public enum Notification: Sendable, Hashable {
        /// The playhead reached the end (`didPlayToEndTime`).
        case didPlayToEnd
        /// Playback ended before the end because of an error (`failedToPlayToEndTime`).
        case failedToPlayToEnd(PlaybackErrorRecord)
        /// Playback stopped because the buffer was empty (`playbackStalled`).
        case playbackStalled
        /// The position of the playhead changed discontinuously (`timeJumped`).
        case timeJumped
        /// The access log has a new entry (`newAccessLogEntry`).
        case newAccessLogEntry(AccessLog.Event)
        /// The error log has a new entry (`newErrorLogEntry`).
        case newErrorLogEntry(ErrorLog.Event)
        /// The media selection changed (`mediaSelectionDidChange`).
        case mediaSelectionDidChange
        /// Playback started, stalled, resumed or ended, as a viewer notices it.
        case playbackNotice(PlaybackNotice)
        /// The distance from the live edge that the stream recommends changed
        /// (`recommendedTimeOffsetFromLiveDidChange`).
        case recommendedTimeOffsetFromLiveDidChange
    }
}
