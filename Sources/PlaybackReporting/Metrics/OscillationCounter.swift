/// A counter of oscillations: switches up that are soon reversed.
///
/// A switch up followed by a switch down is one oscillation if at most 30 s of media were played in between. Media time
/// is used instead of real time so that pauses and the speed of the clock do not matter.
struct OscillationCounter: Sendable, Hashable {
    private static let window = Duration.seconds(30)

    private(set) var count = 0
    private var playedAtSwitchUp: Duration?

    /// Adds a switch.
    ///
    /// - Parameters:
    ///   - old: The previous variant.
    ///   - new: The new variant.
    ///   - played: The media time played so far in the session.
    mutating func add(from old: VariantDescription, to new: VariantDescription, played: Duration) {
        if new.peakBitRate > old.peakBitRate {
            playedAtSwitchUp = played
        } else if new.peakBitRate < old.peakBitRate {
            if let start = playedAtSwitchUp, played.subtractingClampedToZero(start) <= Self.window {
                count = count.addingClamped(1)
            }
            playedAtSwitchUp = nil
        }
    }
}
