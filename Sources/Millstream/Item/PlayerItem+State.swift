public import HLSPlaylist
public import MediaTiming
public import PlaybackReporting
public import StreamingEngine

extension PlayerItem {
    /// Whether an item can be played.
    public typealias Status = ItemStatus

    /// Everything that can be said of an item at one moment; each property can be read of the item itself.
    public struct State: Sendable {
        /// What the engine says.
        public internal(set) var playback = PlaybackSnapshot()
        var configuration = ItemConfiguration()

        /// Whether it can be played; unknown until an engine found out, for which it has to be in a player.
        public var status: Status { playback.status }
        /// Why it cannot; `nil` where ``status`` is not failed.
        public var error: StreamingError? { playback.error }
        /// On demand, live or a file; `nil` while that is not known.
        public var playbackType: PlaybackType? { playback.playbackType }
        /// How long it is; `nil`, which is indefinite, before it is ready, and for what is live.
        public var duration: MediaTime? { playback.duration }
        /// What is buffered, with the holes that there are.
        public var loadedTimeRanges: MediaTimeRangeSet { playback.loadedTimeRanges }
        /// Where the play head can go: all of what is on demand, the moving window of what is live.
        public var seekableTimeRanges: MediaTimeRangeSet {
            MediaTimeRangeSet(playback.seekableTimeRange.map { [$0] } ?? [])
        }
        /// Whether what lies ahead suffices to play on.
        public var isPlaybackLikelyToKeepUp: Bool { playback.isPlaybackLikelyToKeepUp }
        /// Whether nothing lies ahead.
        public var isPlaybackBufferEmpty: Bool { playback.isPlaybackBufferEmpty }
        /// Whether no more is fetched before some of it is played.
        public var isPlaybackBufferFull: Bool { playback.isPlaybackBufferFull }
        /// Where the play head is, and how it moves.
        public var timebase: Timebase { playback.timebase }
        /// Whether the play head stands at the end.
        public var hasPlayedToEnd: Bool { playback.hasPlayedToEnd }
        /// What it consists of; others after a switch to another encoding.
        public var tracks: [PlayerItemTrack] { PlayerItemTrack.tracks(of: self) }
        /// The size of the picture as the playlist gives it; `nil` where it does not, and where there is none.
        public var presentationSize: Resolution? {
            guard let variant = playback.playedVariant, let width = variant.width, let height = variant.height
            else { return nil }
            return Resolution(width: width, height: height)
        }
        /// The options that are played, or were chosen to be.
        public var currentMediaSelection: MediaSelection { configuration.selection(over: playback) }
        /// How far from the live edge the stream wants to be played; `nil` of what is not live.
        public var recommendedTimeOffsetFromLive: MediaTime? { playback.recommendedTimeOffsetFromLive }
        /// The date ranges that the stream has now, in the order of its playlist.
        public var dateRanges: [TimedDateRange] { playback.dateRanges }
        /// What it can do besides playing at normal speed.
        public var abilities: PlaybackAbilities { PlaybackAbilities(playback) }
        /// Whether it can be played backwards at normal speed.
        public var canPlayReverse: Bool { abilities.canPlayReverse }
        /// Whether it can be played backwards faster.
        public var canPlayFastReverse: Bool { abilities.canPlayFastReverse }
        /// Whether it can be played backwards slower.
        public var canPlaySlowReverse: Bool { abilities.canPlaySlowReverse }
        /// Whether it can be played faster.
        public var canPlayFastForward: Bool { abilities.canPlayFastForward }
        /// Whether it can be played slower.
        public var canPlaySlowForward: Bool { abilities.canPlaySlowForward }
        /// Whether it can go on by single frames.
        public var canStepForward: Bool { abilities.canStepForward }
        /// Whether it can go back by single frames.
        public var canStepBackward: Bool { abilities.canStepBackward }
    }
}
