import MediaTiming

/// A cursor that reads the packets of one media type from consecutive segments.
struct PacketCursor: Sendable {
    /// The result of a read.
    enum ReadResult {
        /// A packet, and the offset to add to its timestamps.
        case packet(MediaPacket, TrackFormat, offset: MediaTime)
        /// A boundary after which the packets do not continue the previous ones: another rendition or a discontinuity.
        case boundary(isAfterDamage: Bool)
        /// A time range without media.
        case gap(MediaTimeRange)
        /// No contiguous media is buffered.
        case endOfBuffer
    }

    /// The function that selects the samples of a segment.
    let samples: @Sendable (DecodableSegment) -> DecodableSegment.Samples?
    /// The entry that is being read.
    private var entry: (id: Int, start: MediaTime)?
    private var packet = 0
    private var offset = MediaTime.zero
    private var hasReadFirstPacket = false

    init(_ samples: @escaping @Sendable (DecodableSegment) -> DecodableSegment.Samples?) { self.samples = samples }

    /// A Boolean value that indicates whether the cursor has a position.
    var hasPosition: Bool { entry != nil }
    /// The identifier of the timeline entry that is being read; `nil` without a position.
    var entryID: Int? { entry?.id }

    /// Moves to a packet of an entry.
    mutating func move(to index: Int, packet: Int, in timeline: BufferTimeline<DecodableSegment>) {
        let target = timeline.entries[index]
        entry = (target.id, target.range.start)
        self.packet = packet
        hasReadFirstPacket = false
    }

    /// Clears the position.
    mutating func reset() { entry = nil }

    /// Returns the next packet, boundary or gap.
    mutating func next(in timeline: BufferTimeline<DecodableSegment>, _ mapping: inout TimestampMapping) -> ReadResult {
        while true {
            guard let index = position(in: timeline) else { return .endOfBuffer }
            let current = timeline.entries[index]
            let samples = samples(current.segment)
            if !hasReadFirstPacket {
                hasReadFirstPacket = true
                guard let samples else { return .gap(current.range) }
                offset = mapping.offset(of: current.segment.mappingInput(for: samples))
            }
            while let samples, packet < samples.packets.count {
                let next = samples.packets[packet]
                // A damaged timestamp may have any value; only times near those of the segment are accepted.
                guard current.segment.isPlausible(next.presentationTime + offset, offset: offset) else {
                    packet += 1
                    continue
                }
                // Packets after the end of the entry are replaced by those of another segment.
                if !current.isCutAtEnd || next.decodeTime + offset < current.range.end {
                    packet += 1
                    return .packet(next, samples.format, offset: offset)
                }
                break
            }
            guard timeline.isContiguous(index + 1) else { return .endOfBuffer }
            let following = timeline.entries[index + 1]
            move(to: index + 1, packet: startPacket(of: following), in: timeline)
            let isContinuation =
                following.segment.domain == current.segment.domain && samples != nil && !current.isCutAtEnd
                && !current.segment.isDamaged
                && !following.isCutAtStart
            if !isContinuation { return .boundary(isAfterDamage: current.segment.isDamaged) }
        }
    }

    /// Returns the time from which another segment replaces the one that is being read; `nil` if it is read to its end.
    func replacementTime(in timeline: BufferTimeline<DecodableSegment>) -> MediaTime? {
        guard let index = position(in: timeline) else { return nil }
        let entry = timeline.entries[index]
        // Frames of a damaged segment must not extend into the next segment.
        return entry.isCutAtEnd || entry.segment.isDamaged ? entry.range.end : nil
    }

    /// Returns whether the segment that was being read has been removed.
    func isEntryRemoved(from timeline: BufferTimeline<DecodableSegment>) -> Bool {
        entry != nil && position(in: timeline) == nil
    }

    /// Returns the packet at which to start reading an entry: if the start of its segment was removed or replaced, the
    /// last key frame at or before the start of the entry.
    private func startPacket(of entry: BufferTimeline<DecodableSegment>.Entry) -> Int {
        guard entry.isCutAtStart, let samples = samples(entry.segment) else { return 0 }
        let boundary = samples.firstTimestamp + (entry.range.start - entry.segment.range.start)
        return samples.packets.lastIndex { $0.isKeyFrame && $0.presentationTime <= boundary } ?? 0
    }

    private func position(in timeline: BufferTimeline<DecodableSegment>) -> Int? {
        guard let entry else { return nil }
        if let index = timeline.index(at: entry.start), timeline.entries[index].id == entry.id { return index }
        // The start of the segment was removed or replaced.
        return timeline.entries.firstIndex { $0.id == entry.id }
    }
}

extension BufferTimeline<DecodableSegment>.Entry {
    /// A Boolean value that indicates whether the end of the segment was removed or replaced by another segment.
    var isCutAtEnd: Bool { range.end < segment.range.end }
    /// A Boolean value that indicates whether the start of the segment was removed or replaced by another segment.
    var isCutAtStart: Bool { range.start > segment.range.start }
}
