public import MediaTiming
public import Observation
public import PlaybackReporting

/// A player for interfaces: its state on the main actor, as something that views can observe.
///
/// ```swift
/// @State private var model = PlayerModel(player)
/// Button("Play") { model.player.play() }.disabled(!model.canPlay)
///     .task { await model.run() }
/// ```
@Observable
@MainActor
public final class PlayerModel {
    /// What is shown.
    @ObservationIgnored public let player: Player

    /// All that can be said of the player.
    public private(set) var state: PlayerState
    /// Where the play head is; at most some seconds old, see ``run(every:)``.
    public private(set) var currentTime = MediaTime.zero

    /// Makes a model.
    public init(_ player: Player) {
        self.player = player
        state = player.state
        currentTime = player.currentTime()
    }

    /// Whether a button to play should be enabled: only where the current item is ready.
    public var canPlay: Bool { state.canPlay }
    /// Whether it plays, or would as soon as it can.
    public var isPlaying: Bool { state.rate != 0 }
    /// Why it waits; `nil` where it does not.
    public var reasonForWaitingToPlay: TimeControl.WaitingReason? { state.reasonForWaitingToPlay }
    /// How long the current item is; `nil` while that is not known, and for what is live.
    public var duration: MediaTime? { state.playback.duration }
    /// Whether the current item failed, or the player.
    public var hasFailed: Bool { state.status == .failed || state.playback.status == .failed }

    /// Follows the player until the task is cancelled or the player is gone.
    ///
    /// - Parameter interval: How often the time is read while it plays, in media time; half a second by default.
    public func run(every interval: MediaTime = MediaTime(value: 1, timescale: 2)) async {
        async let times: Void = followTimes(every: interval)
        for await state in player.states {
            self.state = state
            if state.rate == 0 { currentTime = player.currentTime() }
        }
        await times
    }

    private func followTimes(every interval: MediaTime) async {
        for await time in player.periodicTimes(every: interval) { currentTime = time }
    }
}
