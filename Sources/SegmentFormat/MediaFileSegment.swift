package import MediaTiming

/// A segment of a media file, which is loaded as a unit: its time range and its byte range.
package struct MediaFileSegment: Sendable, Hashable {
    /// The presentation time range of the segment.
    package let timeRange: MediaTimeRange
    /// The byte range of the segment, relative to the start of the file.
    package let byteRange: ByteRange

    /// Creates a segment with the given time range and byte range.
    package init(timeRange: MediaTimeRange, byteRange: ByteRange) {
        self.timeRange = timeRange
        self.byteRange = byteRange
    }
}
