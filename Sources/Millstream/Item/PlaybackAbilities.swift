import PlaybackReporting
import StreamingEngine

/// The kinds of playback that an item supports besides playback at normal speed; all checks of rates use this type.
public struct PlaybackAbilities: Sendable, Hashable {
    /// The maximum absolute value of a rate: 32, beyond which frames cannot be followed.
    public static let maximumRate = 32.0

    /// A Boolean value that indicates whether the item supports the rate -1.
    public let canPlayReverse: Bool
    /// A Boolean value that indicates whether the item supports rates below -1.
    public let canPlayFastReverse: Bool
    /// A Boolean value that indicates whether the item supports rates between -1 and 0.
    public let canPlaySlowReverse: Bool
    /// A Boolean value that indicates whether the item supports rates above 1.
    public let canPlayFastForward: Bool
    /// A Boolean value that indicates whether the item supports rates between 0 and 1.
    public let canPlaySlowForward: Bool
    /// A Boolean value that indicates whether the item supports stepping forward by frames.
    public let canStepForward: Bool
    /// A Boolean value that indicates whether the item supports stepping backward by frames.
    public let canStepBackward: Bool

    /// Creates the abilities of an item from a snapshot of its playback.
    init(_ playback: PlaybackSnapshot) {
        let isReady = playback.status == .readyToPlay
        canPlayReverse = isReady && playback.abilities.supportsReversePlayback
        canPlayFastReverse = canPlayReverse
        canPlaySlowReverse = canPlayReverse
        canPlayFastForward = isReady
        canPlaySlowForward = isReady
        canStepForward = isReady && playback.abilities.supportsStepping
        canStepBackward = canStepForward
    }

    /// Returns a Boolean value that indicates whether a rate may be requested.
    ///
    /// Rates from 0 to ``maximumRate`` are permitted even before the item is ready, so that playback starts as soon as
    /// it is.
    func permits(_ rate: Double) -> Bool {
        switch rate {
        case 0...Self.maximumRate: true
        // A pipeline that plays in reverse does so at all rates.
        case -Self.maximumRate..<0: canPlayReverse
        default: false
        }
    }
}
