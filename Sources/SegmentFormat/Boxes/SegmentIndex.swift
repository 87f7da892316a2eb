public import MediaTiming

/// A segment index box, `sidx`: which bytes hold which time (ISO/IEC 14496-12 §8.16.3).
public struct SegmentIndex: Sendable, Hashable {
    /// One entry.
    public struct Reference: Sendable, Hashable {
        /// Whether the bytes begin with a further index instead of media.
        public let isIndex: Bool
        /// The bytes, counted from the start of the file.
        public let byteRange: ByteRange
        /// The presentation time they cover, exactly.
        public let timeRange: MediaTimeRange
        /// Whether they begin with a stream access point.
        public let startsWithAccessPoint: Bool
        /// The type of the first access point, 1 to 6; 0 where it is not known (§I).
        public let accessPointType: UInt8
        /// How long after the start the first access point is presented.
        public let accessPointDelay: MediaTime
    }

    /// The track, or other stream, that the times are of.
    public let referenceID: UInt32
    /// Units a second.
    public let timescale: UInt32
    /// The presentation time at which the first reference begins.
    public let earliestPresentationTime: MediaTime
    /// The entries, in order; at most 65,535.
    public let references: [Reference]

    /// Whether some references name further indexes.
    public var isHierarchical: Bool { references.contains { $0.isIndex } }
    /// All time that is referenced.
    public var timeRange: MediaTimeRange {
        MediaTimeRange(start: earliestPresentationTime, end: references.last?.timeRange.end ?? earliestPresentationTime)
    }

    /// Reads the box at a place in bytes that begin at `fileOffset` of the file.
    ///
    /// Throws ``MediaFormatError`` where no whole `sidx` stands there, and where its byte ranges leave 64 bits.
    public init(_ bytes: Span<UInt8>, at offset: Int = 0, fileOffset: Int64 = 0) throws(MediaFormatError) {
        var walker = BoxWalker(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .sidx else { throw .missing("sidx") }
        guard !box.isCut else { throw .truncated("sidx") }
        var (version, _, cursor) = box.fields(bytes)
        referenceID = cursor.uint32(bytes)
        timescale = cursor.uint32(bytes)
        let earliest = cursor.unsigned(version == 0 ? 4 : 8, bytes)
        let firstOffset = cursor.unsigned(version == 0 ? 4 : 8, bytes)
        cursor.skip(2)
        let count = Int(cursor.uint16(bytes))
        guard !cursor.isPastEnd, count *| 12 <= cursor.remaining else { throw .truncated("sidx") }
        guard timescale > 0 else { throw .malformed("timescale of sidx") }
        guard
            let anchor = Int64(
                exactly: UInt64(clamping: fileOffset).addingSaturated(UInt64(clamping: box.range.upperBound))
                    .addingSaturated(firstOffset)
            )
        else { throw .malformed("first offset of sidx") }

        earliestPresentationTime = .units(earliest, per: timescale)
        var place = anchor
        var time = earliest
        var list: [Reference] = []
        list.reserveCapacity(count)
        for _ in 0..<count {
            let size = cursor.uint32(bytes)
            let duration = cursor.uint32(bytes)
            let access = cursor.uint32(bytes)
            guard let byteRange = ByteRange(start: place, length: Int64(size & 0x7FFF_FFFF)) else {
                throw .malformed("byte range of sidx")
            }
            list.append(
                Reference(
                    isIndex: size >> 31 == 1,
                    byteRange: byteRange,
                    timeRange: MediaTimeRange(
                        start: .units(time, per: timescale),
                        duration: .units(UInt64(duration), per: timescale)
                    ),
                    startsWithAccessPoint: access >> 31 == 1,
                    accessPointType: UInt8(truncatingIfNeeded: access >> 28 & 7),
                    accessPointDelay: .units(UInt64(access & 0x0FFF_FFFF), per: timescale)
                )
            )
            place = byteRange.end
            time = time.addingSaturated(UInt64(duration))
        }
        references = list
    }
}
