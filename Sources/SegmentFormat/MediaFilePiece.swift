public import MediaTiming

/// A section of a media file that is loaded as a unit, with the time range and the byte range that it covers.
public struct MediaFilePiece: Sendable, Hashable {
    /// The presentation time range of the section.
    public let timeRange: MediaTimeRange
    /// The byte range of the section, relative to the start of the file.
    public let byteRange: ByteRange

    /// Creates a section with the given time range and byte range.
    public init(timeRange: MediaTimeRange, byteRange: ByteRange) {
        self.timeRange = timeRange
        self.byteRange = byteRange
    }
}
