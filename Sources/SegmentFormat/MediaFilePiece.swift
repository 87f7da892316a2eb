public import MediaTiming

/// A part of a file that is loaded at once: which bytes hold which time.
public struct MediaFilePiece: Sendable, Hashable {
    /// The presentation time it covers.
    public let timeRange: MediaTimeRange
    /// The bytes, counted from the start of the file.
    public let byteRange: ByteRange

    /// Makes a piece.
    public init(timeRange: MediaTimeRange, byteRange: ByteRange) {
        self.timeRange = timeRange
        self.byteRange = byteRange
    }
}
