public import MediaTiming
public import Observation
public import PlaybackReporting

/// An observable model of a player on the main actor, for user interfaces.
///
/// ```swift
/// @State private var model = PlayerModel(player)
/// Button("Play") { model.player.play() }.disabled(!model.canPlay)
///     .task { await model.run() }
/// ```
@Observable
@MainActor
public final class PlayerModel {
    /// The player that is observed.
    @ObservationIgnored public let player: Player

    /// The state of the player.
    public private(set) var state: PlayerState
    /// The position of the playhead, updated at the interval of ``run(every:)``.
    public private(set) var currentTime = MediaTime.zero

    /// Creates a model of a player.
    public init(_ player: Player) {
        self.player = player
        state = player.state
        currentTime = player.currentTime()
    }

    /// A Boolean value that indicates whether a play button should be enabled: the current item is ready to play.
    public var canPlay: Bool { state.canPlay }
    /// A Boolean value that indicates whether the requested rate is not 0, so that the player plays or waits to play.
    public var isPlaying: Bool { state.rate != 0 }
    /// The reason why the player waits; `nil` if it does not wait.
    public var reasonForWaitingToPlay: TimeControl.WaitingReason? { state.reasonForWaitingToPlay }
    /// The duration of the current item; `nil` while it is unknown, and for a live stream.
    public var duration: MediaTime? { state.playback.duration }
    /// A Boolean value that indicates whether the current item or the player has failed.
    public var hasFailed: Bool { state.status == .failed || state.playback.status == .failed }

    /// Updates the model until the task is canceled or the player is deallocated.
    ///
    /// - Parameter interval: The interval in media time at which the position is updated during playback; half a second
    ///   by default.
    public func run(every interval: MediaTime = MediaTime(value: 1, timescale: 2)) async {
        async let times: Void = followTimes(every: interval)
        for await state in player.states {
            self.state = state
            if state.rate == 0 { currentTime = player.currentTime() }
        }
        await times
    }

    private func followTimes(every interval: MediaTime) async {
        for await time in player.periodicTimes(every: interval) {
            // A time that is delivered after a pause is from before it.
            currentTime = state.rate == 0 ? player.currentTime() : time
        }
    }
}
