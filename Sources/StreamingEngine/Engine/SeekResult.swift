public import MediaTiming

/// The result of a seek.
public struct SeekResult: Sendable, Hashable {
    /// A Boolean value that indicates whether the seek was completed; `false` if another seek, another item or a
    /// failure interrupted it.
    public let isFinished: Bool
    /// The position of the playhead after the seek.
    public let position: MediaTime

    /// Creates a result.
    public init(isFinished: Bool, position: MediaTime) {
        self.isFinished = isFinished
        self.position = position
    }
}
