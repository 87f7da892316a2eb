/// An algorithm that chooses the rung of the next segment from measurements.
///
/// A selector has no clock: all its input is passed by the caller, and the same calls have the same results. The caller
/// calls ``decide(_:)`` before each request, ``review(_:in:)`` periodically during a transfer, and ``add(_:)`` when the
/// transfer has finished or was abandoned. No input can cause a trap.
public protocol VariantSelector: Sendable {
    /// Adds the measurement of a finished or abandoned transfer.
    ///
    /// - Parameter measurement: A measurement of a segment of this ladder; measurements are added in the order of their
    ///   ends.
    mutating func add(_ measurement: SegmentMeasurement)

    /// Chooses the rung of the next segment.
    ///
    /// - Parameter context: The state immediately before the request.
    /// - Returns: An allowed rung of the ladder, with its cause and the measurements on which it is based.
    mutating func decide(_ context: SelectionContext) -> SwitchDecision

    /// Decides whether to wait for a running transfer or to abandon it.
    ///
    /// - Parameters:
    ///   - transfer: The current state of the transfer. Reviews are useful every 0.1 to 0.5 s, also while no bytes
    ///     arrive.
    ///   - context: The current buffer level; the sizes are those of the segment that is being transferred.
    /// - Returns: The decision to wait, or a lower rung to request instead.
    mutating func review(_ transfer: TransferInFlight, in context: SelectionContext) -> TransferDecision

    /// Resets the state that depends on the playback position, after a seek emptied the buffer.
    ///
    /// The measurements of the network remain.
    mutating func resetAfterSeek()
}
