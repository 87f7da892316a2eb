package import DASHManifest
package import MediaTiming
package import SegmentFormat

/// A reader of the segment index of a file, including the indexes to which it refers (ISO/IEC 14496-12 §8.16.3).
///
/// The caller loads ``nextRange``, or ``nextLength`` bytes from the start of the file if the range is not known, and passes
/// the bytes to ``read(_:)``, until no range is left.
package struct SegmentIndexReader: Sendable {
    private enum Item {
        case segment(IndexedSegment)
        case index(ByteRange?)
    }

    /// The maximum number of indexes of a file, including nested ones.
    ///
    /// 1,000 is enough for a day of media with an index for each minute and a half.
    private static let maximumIndexCount = 1_000
    /// The maximum number of segments of a file; as many as a media file can have in playback.
    private static let maximumSegmentCount = 500_000

    /// The segments that were found, in order.
    package private(set) var segments: [IndexedSegment] = []
    /// The range of the next index to load, or `nil` if it is not known.
    package var nextRange: ByteRange? {
        guard case .index(let range)? = items.last else { return nil }
        return range
    }
    /// The number of bytes at the start of the file in which the index is looked for; `nil` if its range is known.
    package var nextLength: Int64? {
        guard case .index(nil)? = items.last else { return nil }
        return Self.beginnings[min(attempt, Self.beginnings.count - 1)]
    }
    /// The range of the initialization section before an index whose range was not known.
    package private(set) var initialization: ByteRange?

    /// The lengths that are loaded one after the other, until the index is found.
    private static let beginnings: [Int64] = [16_384, 262_144, 2_097_152]
    private var attempt = 0

    /// A Boolean value that indicates whether all indexes were read.
    package var isComplete: Bool { items.isEmpty }
    /// The items that follow the segments, in reverse order; the last one is an index.
    private var items: [Item]
    private var indexCount = 0

    /// Creates a reader of the index in the given resource.
    package init(_ resource: AddressedResource) { items = [.index(resource.byteRange)] }

    /// Reads the bytes of ``nextRange``.
    ///
    /// - Throws: `MediaFormatError` if the bytes do not begin with a segment index, or if there are too many.
    package mutating func read(_ bytes: [UInt8]) throws(MediaFormatError) {
        guard case .index(let range)? = items.last else { return }
        if range == nil {
            guard let offset = try Self.position(in: bytes.span) else {
                // More bytes are needed, if there are more.
                guard let length = nextLength, Int64(bytes.count) >= length, attempt + 1 < Self.beginnings.count else {
                    throw .missing("sidx")
                }
                attempt += 1
                return
            }
            initialization = ByteRange(start: 0, length: Int64(offset))
        }
        items.removeLast()
        indexCount +|= 1
        guard indexCount <= Self.maximumIndexCount else { throw .tooLarge("sidx") }
        let index = try SegmentIndex(bytes.span, at: Self.offset(of: bytes.span), fileOffset: range?.start ?? 0)
        for reference in index.references.reversed() {
            items.append(
                reference.isIndex
                    ? .index(reference.byteRange)
                    : .segment(
                        IndexedSegment(
                            time: reference.timeRange.start,
                            duration: reference.timeRange.duration,
                            byteRange: reference.byteRange
                        )
                    )
            )
        }
        while case .segment(let segment)? = items.last {
            items.removeLast()
            segments.append(segment)
        }
        guard segments.count +| items.count <= Self.maximumSegmentCount else { throw .tooLarge("sidx") }
    }

    /// Returns the offset of a complete segment index at the start of a file, or `nil` if more bytes are needed.
    ///
    /// - Throws: `MediaFormatError` if the media begins without one.
    private static func position(in bytes: Span<UInt8>) throws(MediaFormatError) -> Int? {
        var iterator = BoxIterator(0..<bytes.count, in: bytes)
        while let box = iterator.next(bytes) {
            if box.type == .sidx { return box.isTruncated ? nil : box.range.lowerBound }
            if box.type == .moof || box.type == .mdat { throw .missing("sidx") }
            guard !box.isTruncated else { return nil }
        }
        return nil
    }

    /// Returns the offset of the first segment index among the boxes at the top level, or 0 if there is none.
    private static func offset(of bytes: Span<UInt8>) -> Int {
        var iterator = BoxIterator(0..<bytes.count, in: bytes)
        while let box = iterator.next(bytes) {
            if box.type == .sidx { return box.range.lowerBound }
        }
        return 0
    }
}
