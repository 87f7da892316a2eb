/// Counts switches up that were taken back: the mark of a rule that cannot make up its mind.
///
/// A switch up followed by a switch down is one oscillation if no more than 30 s were played in between. Time played
/// counts, not time passed: neither a pause nor a faster clock makes a difference.
struct OscillationCounter: Sendable, Hashable {
    private static let window = Duration.seconds(30)

    private(set) var count = 0
    private var playedAtSwitchUp: Duration?

    /// Takes a switch.
    ///
    /// - Parameters:
    ///   - old: The variant before.
    ///   - new: The variant from now on.
    ///   - played: The media time played so far in the session.
    mutating func add(from old: VariantDescription, to new: VariantDescription, played: Duration) {
        if new.peakBitRate > old.peakBitRate {
            playedAtSwitchUp = played
        } else if new.peakBitRate < old.peakBitRate {
            if let start = playedAtSwitchUp, played.subtractingToZero(start) <= Self.window {
                count = count.addingClamped(1)
            }
            playedAtSwitchUp = nil
        }
    }
}
