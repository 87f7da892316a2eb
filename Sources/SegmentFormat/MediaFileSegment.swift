public import MediaTiming

/// A segment of a media file, which is loaded as a unit: its time range and its byte range.
public struct MediaFileSegment: Sendable, Hashable {
    /// The presentation time range of the segment.
    public let timeRange: MediaTimeRange
    /// The byte range of the segment, relative to the start of the file.
    public let byteRange: ByteRange

    /// Creates a segment with the given time range and byte range.
    public init(timeRange: MediaTimeRange, byteRange: ByteRange) {
        self.timeRange = timeRange
        self.byteRange = byteRange
    }
}
