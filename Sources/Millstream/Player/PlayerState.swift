import MediaTiming
public import PlaybackReporting
public import StreamingEngine

/// The state of a player at one moment; each property can also be read from the player itself.
public struct PlayerState: Sendable {
    /// The status of a player: whether it can play.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// The status is unknown because no item has been ready yet.
        case unknown
        /// The player can play.
        case readyToPlay
        /// The player can no longer play; create another one.
        case failed
    }

    /// The action of a player when the playhead reaches the end of an item.
    public enum ActionAtItemEnd: String, Sendable, Hashable, CaseIterable {
        /// The player plays the next item of the queue.
        case advance
        /// The player pauses.
        case pause
        /// The player does nothing: the requested rate stays the same, so that playback continues at once after a seek
        /// back.
        case none
    }

    /// The current item; `nil` if there is none.
    public internal(set) var currentItem: PlayerItem?
    /// The items in the queue, the current one first.
    public internal(set) var items: [PlayerItem] = []
    /// The requested rate; 0 is paused.
    public internal(set) var rate = 0.0
    /// The rate that ``Player/play()`` requests; the default is 1.
    public internal(set) var defaultRate = 1.0
    /// The status of the player.
    public internal(set) var status = Status.unknown
    /// The error because of which the player failed; `nil` unless ``status`` is `failed`.
    public internal(set) var error: PlayerError?
    /// The error because of which there is no audio; `nil` while the audio device works, and before it is opened.
    public internal(set) var audioDeviceError: PlayerError?
    /// The action at the end of an item.
    public internal(set) var actionAtItemEnd: ActionAtItemEnd
    /// A Boolean value that indicates whether playback waits until the buffer suffices to play without a stall; the
    /// default is `true`.
    public internal(set) var automaticallyWaitsToMinimizeStalling = true
    /// The volume, from 0 for silence to 1, the default, for the original level.
    public internal(set) var volume = 1.0
    /// A Boolean value that indicates whether the audio is muted regardless of the volume.
    public internal(set) var isMuted = false
    /// The last snapshot of the engine of the current item.
    var playback = PlaybackSnapshot()

    /// A Boolean value that indicates whether the current item is suspended while an interstitial is played; see
    /// ``InterstitialController``.
    var isSuspended = false
    /// A Boolean value that indicates whether rates above 1 and skipping to the next item are refused.
    var requiresNormalRate = false

    init(actionAtItemEnd: ActionAtItemEnd = .pause) { self.actionAtItemEnd = actionAtItemEnd }

    /// The time control status: paused, waiting or playing.
    public var timeControlStatus: TimeControl {
        guard rate != 0 else { return .paused }
        guard currentItem != nil else { return .waiting(.noItemToPlay) }
        guard playback.status != .failed else { return .paused }
        guard !isSuspended else { return .waiting(.duringInterstitialEvent) }
        guard !playback.hasPlayedToEnd else { return .paused }
        // A request takes effect at once, even if the engine has not executed it yet.
        return playback.timeControl == .paused ? .waiting(.evaluatingBufferingRate) : playback.timeControl
    }

    /// The reason why the player waits; `nil` if it does not wait.
    public var reasonForWaitingToPlay: TimeControl.WaitingReason? {
        if case .waiting(let reason) = timeControlStatus { reason } else { nil }
    }

    /// The timebase of the current item: the position and rate of its playhead.
    public var timebase: Timebase { playback.timebase }

    /// A Boolean value that indicates whether a play button should be enabled: the current item is ready to play.
    public var canPlay: Bool { currentItem != nil && playback.status == .readyToPlay }

    var motion: Motion { Motion(item: currentItem.map { ObjectIdentifier($0) }, timebase: timebase) }
}
