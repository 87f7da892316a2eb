import MediaTiming
public import PlaybackReporting
public import StreamingEngine

/// Everything that can be said of a player at one moment; each property can be read of the player itself.
public struct PlayerState: Sendable {
    /// Whether a player can play.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// Not known yet: no item was ready so far.
        case unknown
        /// It can.
        case readyToPlay
        /// It never will again; make another one.
        case failed
    }

    /// What it does when the play head reaches the end of an item.
    public enum ActionAtItemEnd: String, Sendable, Hashable, CaseIterable {
        /// It goes on with the next item of the queue.
        case advance
        /// It stands.
        case pause
        /// Nothing: the rate stays as it is, so that a seek back plays on at once.
        case none
    }

    /// What is played; `nil` for nothing.
    public internal(set) var currentItem: PlayerItem?
    /// What waits to be played, the current item first.
    public internal(set) var items: [PlayerItem] = []
    /// The rate that was asked for; 0 is a pause.
    public internal(set) var rate = 0.0
    /// The rate of ``Player/play()``; 1 by default.
    public internal(set) var defaultRate = 1.0
    /// Whether it can play.
    public internal(set) var status = Status.unknown
    /// Why it cannot; `nil` where ``status`` is not failed.
    public internal(set) var error: PlayerError?
    /// What it does at the end of an item.
    public internal(set) var actionAtItemEnd: ActionAtItemEnd
    /// Whether playing waits until there is enough to play through; it does by default.
    public internal(set) var automaticallyWaitsToMinimizeStalling = true
    /// How loud it is: 0 for silence to 1 for as it comes, the default.
    public internal(set) var volume = 1.0
    /// Whether it is silent whatever the volume.
    public internal(set) var isMuted = false
    /// What the engine says of the current item.
    public internal(set) var playback = PlaybackSnapshot()

    /// Whether the current item stands for something that is played in between; see ``InterstitialController``.
    var isHeld = false
    /// Whether nothing of what is played may be passed over.
    var requiresNormalRate = false

    init(actionAtItemEnd: ActionAtItemEnd = .pause) { self.actionAtItemEnd = actionAtItemEnd }

    /// Whether it plays, waits or stands.
    public var timeControlStatus: TimeControl {
        guard rate != 0 else { return .paused }
        guard currentItem != nil else { return .waiting(.noItemToPlay) }
        guard playback.status != .failed else { return .paused }
        guard !isHeld else { return .waiting(.duringInterstitialEvent) }
        guard !playback.hasPlayedToEnd else { return .paused }
        // What was asked for holds at once, even where the engine has yet to hear of it.
        return playback.timeControl == .paused ? .waiting(.evaluatingBufferingRate) : playback.timeControl
    }

    /// Why it waits; `nil` where it does not.
    public var reasonForWaitingToPlay: TimeControl.WaitingReason? {
        if case .waiting(let reason) = timeControlStatus { reason } else { nil }
    }

    /// Where the play head of the current item is, and how it moves.
    public var timebase: Timebase { playback.timebase }

    /// Whether a button to play should be enabled: only where the current item is ready.
    public var canPlay: Bool { currentItem != nil && playback.status == .readyToPlay }

    var motion: Motion { Motion(item: currentItem.map { ObjectIdentifier($0) }, timebase: timebase) }
}
