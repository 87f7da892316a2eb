package import MediaTiming

/// A segment of a media file, which is loaded as a unit: its time range and its byte range.
package struct MediaFileSegment: Sendable, Hashable {
    /// The presentation time range of the segment.
    package let timeRange: MediaTimeRange
    /// The byte range of the segment, relative to the start of the file.
    package let byteRange: ByteRange
    /// The offset of the earliest subtitles that are in progress at the start of the segment and precede ``byteRange``.
    ///
    /// The offset is that of the sample, or in a Matroska file that of the cluster. It is `nil` if no such subtitles
    /// are near the segment.
    package var earlierSubtitleOffset: Int64?

    /// The maximum distance of earlier subtitles from the bytes of a segment: 32 MiB, about a minute of media at 4
    /// Mbit/s.
    static let maximumSubtitleDistance: Int64 = 32 << 20

    /// The byte range that also contains the subtitles that are in progress at the start of the segment.
    package var byteRangeWithEarlierSubtitles: ByteRange {
        guard let offset = earlierSubtitleOffset, offset < byteRange.start else { return byteRange }
        return ByteRange(start: offset, length: byteRange.end -| offset) ?? byteRange
    }

    /// Creates a segment with the given time range and byte range.
    package init(timeRange: MediaTimeRange, byteRange: ByteRange) {
        self.timeRange = timeRange
        self.byteRange = byteRange
    }
}
