package import MediaTiming

/// A segment index box, `sidx`, which maps time ranges to byte ranges (ISO/IEC 14496-12 §8.16.3).
package struct SegmentIndex: Sendable, Hashable {
    /// A reference to a subsegment or to another index.
    package struct Reference: Sendable, Hashable {
        /// A Boolean value that indicates whether the reference is to another segment index instead of media.
        package let isIndex: Bool
        /// The byte range, relative to the start of the file.
        package let byteRange: ByteRange
        /// The exact presentation time range.
        package let timeRange: MediaTimeRange
        /// A Boolean value that indicates whether the bytes start with a stream access point (SAP).
        package let startsWithAccessPoint: Bool
        /// The type of the first stream access point, 1 to 6; 0 if it is unknown (Annex I).
        package let accessPointType: UInt8
        /// The duration from the start of the time range to the presentation of the first stream access point.
        package let accessPointDelay: MediaTime
    }

    /// The ID of the track or other stream to which the times apply.
    package let referenceID: UInt32
    /// The timescale, in units per second.
    package let timescale: UInt32
    /// The presentation time at which the first reference starts.
    package let earliestPresentationTime: MediaTime
    /// The references, in order; at most 65,535.
    package let references: [Reference]

    /// A Boolean value that indicates whether at least one reference is to another segment index.
    package var isHierarchical: Bool { references.contains { $0.isIndex } }
    /// The time range of all references.
    package var timeRange: MediaTimeRange {
        MediaTimeRange(start: earliestPresentationTime, end: references.last?.timeRange.end ?? earliestPresentationTime)
    }

    /// Creates an index from the `sidx` box at `offset` in bytes that start at `fileOffset` in the file.
    ///
    /// Throws ``MediaFormatError`` if there is no complete `sidx` box with a valid timescale at the offset, or if its
    /// byte ranges exceed 64 bits.
    package init(_ bytes: Span<UInt8>, at offset: Int = 0, fileOffset: Int64 = 0) throws(MediaFormatError) {
        var walker = BoxIterator(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .sidx else { throw .missing("sidx") }
        guard !box.isTruncated else { throw .truncated("sidx") }
        var (version, _, cursor) = box.fullBoxFields(in: bytes)
        referenceID = cursor.readUInt32(bytes)
        timescale = cursor.readUInt32(bytes)
        let earliest = cursor.readUnsigned(version == 0 ? 4 : 8, bytes)
        let firstOffset = cursor.readUnsigned(version == 0 ? 4 : 8, bytes)
        cursor.skip(2)
        let count = Int(cursor.readUInt16(bytes))
        guard !cursor.isPastEnd, count *| 12 <= cursor.remaining else { throw .truncated("sidx") }
        guard timescale > 0 else { throw .malformed("timescale of sidx") }
        guard
            let anchor = Int64(
                exactly: UInt64(clamping: fileOffset).addingSaturated(UInt64(clamping: box.range.upperBound))
                    .addingSaturated(firstOffset)
            )
        else { throw .malformed("first offset of sidx") }

        earliestPresentationTime = .units(earliest, per: timescale)
        var position = anchor
        var time = earliest
        var list: [Reference] = []
        list.reserveCapacity(count)
        for _ in 0..<count {
            let size = cursor.readUInt32(bytes)
            let duration = cursor.readUInt32(bytes)
            let access = cursor.readUInt32(bytes)
            guard let byteRange = ByteRange(start: position, length: Int64(size & 0x7FFF_FFFF)) else {
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
            position = byteRange.end
            time = time.addingSaturated(UInt64(duration))
        }
        references = list
    }
}
