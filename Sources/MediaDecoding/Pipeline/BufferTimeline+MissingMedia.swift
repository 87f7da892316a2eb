import MediaTiming

extension BufferTimeline<DecodableSegment> {
    /// Returns the media that is missing between a segment that was inserted and its neighbors.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - mapping: The offsets of the timestamps.
    /// - Returns: The time ranges, of which there are at most two.
    func missingMedia(around segment: DecodableSegment, _ mapping: inout TimestampMapping) -> [MediaTimeRange] {
        guard segment.hasContiguousSamples, let index = index(at: segment.range.start) else { return [] }
        var ranges: [MediaTimeRange] = []
        for second in [index, index + 1] where isContiguous(second) {
            let (left, right) = (entries[second - 1], entries[second])
            guard !left.isCutAtEnd, !right.isCutAtStart, let leading = left.segment.video ?? left.segment.audio,
                let following = right.segment.video ?? right.segment.audio
            else { continue }
            let offset = mapping.offset(of: left.segment.mappingInput(for: leading))
            // Segments whose timestamps do not continue those of the previous segment have an offset of their own.
            guard mapping.offset(of: right.segment.mappingInput(for: following)) == offset,
                let range = left.segment.missingMedia(before: right.segment, offset: offset)
            else { continue }
            ranges.append(range)
        }
        return ranges
    }
}
