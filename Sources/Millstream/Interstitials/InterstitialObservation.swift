import MediaTiming
import StreamingEngine

/// The state of the primary player and of the interstitial player at one moment.
struct InterstitialObservation: Sendable {
    /// The player whose current item has interstitials.
    var primary = Primary()
    /// The player that plays the interstitials.
    var queue = Queue()
}

extension InterstitialObservation {
    /// The state of the primary player.
    struct Primary: Sendable {
        /// The number of the current item, different for each item that becomes the current one; `nil` without an item.
        var item: Int?
        /// The requested rate.
        var rate = 0.0
        /// A Boolean value that indicates whether the current item is suspended for an interstitial.
        var isSuspended = false
        /// A Boolean value that indicates whether the current item is suspended when it reaches its end.
        var suspendsAtEnd = false
        /// The volume of the player, from 0 to 1.
        var volume = 1.0
        /// A Boolean value that indicates whether the player is muted.
        var isMuted = false
        /// A Boolean value that indicates whether the interstitials that the stream schedules are played.
        var handlesStreamEvents = true
        /// The latest snapshot of the current item's engine.
        var playback = PlaybackSnapshot()
    }

    /// The state of the interstitial player.
    struct Queue: Sendable {
        /// A Boolean value that indicates whether the player can never play again.
        var hasFailed = false
        /// The reason for the failure of the player.
        var error: PlayerError?
        /// The requested rate.
        var rate = 0.0
        /// The volume of the player, from 0 to 1.
        var volume = 1.0
        /// A Boolean value that indicates whether the player is muted.
        var isMuted = false
        /// A Boolean value that indicates whether the next item follows when the current one ends.
        var advancesAtItemEnd = true
        /// The number of the current item; `nil` when the queue is empty.
        var current: Int?
        /// The states of the items by their numbers, including those that left the queue since it was last cleared.
        ///
        /// Items that the application inserted into the queue have negative numbers.
        var items: [Int: Item] = [:]
    }

    /// The state of an item of the interstitial player.
    struct Item: Sendable {
        /// A value that indicates whether the item can be played.
        var status = ItemStatus.unknown
        /// The reason why the item cannot be played.
        var error: StreamingError?
        /// The duration; `nil` while it is unknown.
        var duration: MediaTime?
        /// A Boolean value that indicates whether the playhead is at the end.
        var hasPlayedToEnd = false
        /// The movement of the playhead.
        var timebase = Timebase()
    }
}

extension InterstitialObservation.Primary {
    /// Returns the position of the playhead.
    func position(at now: Duration) -> MediaTime { playback.timebase.mediaTime(at: now) }
}

extension InterstitialObservation.Item {
    /// Returns the amount of media that was played, at the given time.
    func playedTime(at now: Duration) -> MediaTime {
        let position = timebase.mediaTime(at: now)
        return hasPlayedToEnd ? duration ?? position : position
    }
}

extension InterstitialObservation.Primary {
    /// Creates the observation of a player.
    ///
    /// - Parameters:
    ///   - queue: The state machine of the player.
    ///   - item: The number of the current item.
    init(_ queue: QueueStateMachine, item: Int?) {
        let state = queue.state
        self.item = item
        rate = state.rate
        isSuspended = state.isSuspended
        suspendsAtEnd = queue.suspendsAtEnd
        volume = state.volume
        isMuted = state.isMuted
        handlesStreamEvents = state.currentItem?.state.configuration.automaticallyHandlesInterstitialEvents ?? true
        playback = state.playback
    }
}

extension InterstitialObservation.Queue {
    /// Creates the observation of a player, without its items.
    init(_ state: PlayerState) {
        hasFailed = state.status == .failed
        error = state.error
        rate = state.rate
        volume = state.volume
        isMuted = state.isMuted
        advancesAtItemEnd = state.actionAtItemEnd == .advance
    }
}

extension InterstitialObservation.Item {
    /// Creates the observation of an item.
    init(_ state: PlayerItem.State) {
        status = state.status
        error = state.error
        duration = state.duration
        hasPlayedToEnd = state.hasPlayedToEnd
        timebase = state.timebase
    }
}
