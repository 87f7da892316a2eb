import PlaybackReporting
import StreamingEngine

/// What an item can do besides playing at normal speed: the one place where that is decided.
public struct PlaybackAbilities: Sendable, Hashable {
    /// Faster than this nothing is played: 32 times, beyond which there is nothing to see.
    public static let fastestRate = 32.0

    /// Whether it can be played backwards at normal speed.
    public let canPlayReverse: Bool
    /// Whether it can be played backwards faster.
    public let canPlayFastReverse: Bool
    /// Whether it can be played backwards slower.
    public let canPlaySlowReverse: Bool
    /// Whether it can be played faster.
    public let canPlayFastForward: Bool
    /// Whether it can be played slower.
    public let canPlaySlowForward: Bool
    /// Whether it can go on by single frames.
    public let canStepForward: Bool
    /// Whether it can go back by single frames.
    public let canStepBackward: Bool

    /// What an item can do.
    init(_ playback: PlaybackSnapshot) {
        let isReady = playback.status == .readyToPlay
        canPlayReverse = isReady && playback.abilities.playsBackward
        canPlayFastReverse = canPlayReverse
        canPlaySlowReverse = canPlayReverse
        canPlayFastForward = isReady
        canPlaySlowForward = isReady
        canStepForward = isReady && playback.abilities.steps
        canStepBackward = canStepForward
    }

    /// Whether any item can be asked for a rate.
    ///
    /// Forwards that is so before an item is ready: it may be asked to play as soon as it is.
    func permits(_ rate: Double) -> Bool {
        switch rate {
        case 0...Self.fastestRate: true
        case -1: canPlayReverse
        case -1..<0: canPlaySlowReverse
        case -Self.fastestRate..<(-1): canPlayFastReverse
        default: false
        }
    }
}
