package import MediaTiming

/// A segment of media that a segment index lists (ISO/IEC 14496-12 §8.16.3).
package struct IndexedSegment: Sendable, Hashable {
    /// The earliest presentation time in the media.
    package let time: MediaTime
    /// The duration.
    package let duration: MediaTime
    /// The range of bytes in the resource.
    package let byteRange: ByteRange

    /// Creates a segment.
    package init(time: MediaTime, duration: MediaTime, byteRange: ByteRange) {
        self.time = time
        self.duration = duration
        self.byteRange = byteRange
    }
}

/// A file with a segment index.
package struct IndexedFile: Sendable, Hashable {
    /// The segments that the index lists.
    package let segments: [IndexedSegment]
    /// The range of the initialization section if the manifest did not declare where the index is; `nil` if it did.
    package let initialization: ByteRange?

    /// Creates the description of a file.
    package init(_ segments: [IndexedSegment], initialization: ByteRange? = nil) {
        self.segments = segments
        self.initialization = initialization
    }
}
