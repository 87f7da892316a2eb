/// From measurements to the rung of the next segment.
///
/// A value without a clock: it is told all that it knows, and the same calls give the same answers. The caller asks
/// ``decide(_:)`` before each segment, ``review(_:in:)`` now and then while one is on its way, and calls ``add(_:)`` when
/// it has come or was given up. No input can trap.
public protocol VariantSelector: Sendable {
    /// Takes a finished or abandoned transfer into account.
    ///
    /// - Parameter measurement: Of segments of this ladder; in the order of their ends.
    mutating func add(_ measurement: SegmentMeasurement)

    /// Chooses the rung of the next segment.
    ///
    /// - Parameter situation: The moment before the request.
    /// - Returns: An open rung of the ladder, with reason and figures.
    mutating func decide(_ situation: SelectionSituation) -> SwitchDecision

    /// Says whether a transfer is worth waiting for.
    ///
    /// - Parameters:
    ///   - transfer: What has come by now. Reviews a tenth to half a second apart are right, also while nothing comes.
    ///   - situation: The buffer as it is now; the sizes are those of this segment.
    /// - Returns: To wait, or the rung to take instead, which is lower.
    mutating func review(_ transfer: TransferInFlight, in situation: SelectionSituation) -> TransferVerdict

    /// Forgets what belonged to the old place: the buffer is empty now. What is known of the network stays.
    mutating func seeked()
}
