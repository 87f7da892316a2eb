public import MediaTiming

/// The result of a seek.
public struct SeekResult: Sendable, Hashable {
    /// A Boolean value that indicates whether the playhead reached the target; `false` if the seek was replaced or
    /// failed.
    public let isFinished: Bool
    /// The position of the playhead.
    public let landed: MediaTime

    /// Creates a result.
    public init(isFinished: Bool, landed: MediaTime) {
        self.isFinished = isFinished
        self.landed = landed
    }
}
