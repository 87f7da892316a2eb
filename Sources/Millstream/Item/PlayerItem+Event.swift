public import PlaybackReporting

extension PlayerItem {
    /// What happens to an item.
    public enum Event: Sendable, Hashable {
        /// Something worth telling everybody, under the names of AVFoundation.
        case notification(Notification)
        /// Everything else: each request, decision and change of the engine.
        case playback(PlaybackEvent)
        /// The reader was too slow: so many events before this one are lost.
        case dropped(Int)
    }

    /// What AVFoundation would post for an item.
    public enum Notification: Sendable, Hashable {
        /// The play head reached the end (`didPlayToEndTime`).
        case didPlayToEnd
        /// Playing ended before the end, and why (`failedToPlayToEndTime`).
        case failedToPlayToEnd(PlaybackErrorRecord)
        /// There is nothing left to play (`playbackStalled`).
        case playbackStalled
        /// The play head is elsewhere than the passing of time explains (`timeJumped`).
        case timeJumped
        /// Another period of play began (`newAccessLogEntry`).
        case newAccessLogEntry(AccessLog.Event)
        /// Something failed (`newErrorLogEntry`).
        case newErrorLogEntry(ErrorLog.Event)
        /// Other options are played (`mediaSelectionDidChange`).
        case mediaSelectionDidChange
        /// What a viewer notices: that playing began, stopped for want of media, goes on, and is over.
        case noticed(PlaybackNotice)
        /// The stream wants to be played at another distance from the live edge
        /// (`recommendedTimeOffsetFromLiveDidChange`).
        case recommendedTimeOffsetFromLiveDidChange
    }
}
