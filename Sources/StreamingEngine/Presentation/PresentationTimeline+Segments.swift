public import HLSPlaylist
public import MediaTiming
import ResourceAddressing

extension PresentationTimeline {
    /// Its segments in their order, made when they are asked for.
    public struct Segments: RandomAccessCollection, Sendable {
        let timeline: PresentationTimeline

        /// The position of the first segment.
        public var startIndex: Int { 0 }
        /// The position behind the last segment.
        public var endIndex: Int { timeline.placements.count }

        /// - Complexity: O(*l* + log *n*) for a segment of *l* bytes.
        public subscript(position: Int) -> SegmentReference { timeline.reference(at: position) }
    }

    /// Its segments in their order.
    public var segments: Segments { Segments(timeline: self) }

    /// The segment with a media sequence number; `nil` where it is not listed.
    public func segment(sequence: Int64) -> SegmentReference? {
        position(sequence: sequence).map { reference(at: $0) }
    }

    /// The segment that is shown at a time; `nil` before the first, behind the last, and where segments were missed.
    ///
    /// - Complexity: O(log *n*).
    public func segment(at time: MediaTime) -> SegmentReference? { position(at: time).map { reference(at: $0) } }

    /// The first segment that ends behind a time: the one shown then, or the next one where there is none.
    ///
    /// - Complexity: O(log *n*).
    public func segment(atOrAfter time: MediaTime) -> SegmentReference? {
        position(atOrAfter: time).map { reference(at: $0) }
    }

    /// The position in ``segments`` of a media sequence number; `nil` where it is not listed.
    public func position(sequence: Int64) -> Int? {
        sequences.contains(sequence) ? Int(sequence -| sequences.lowerBound) : nil
    }

    /// The position in ``segments`` of the one that is shown at a time; `nil` where there is none.
    public func position(at time: MediaTime) -> Int? {
        let next = placements.partitioningIndex { MediaTime(nanoseconds: $0.start) > time }
        guard next > 0, time < MediaTime(nanoseconds: placements[next - 1].end) else { return nil }
        return next - 1
    }

    /// The position in ``segments`` of the first one that ends behind a time; `nil` behind the last.
    public func position(atOrAfter time: MediaTime) -> Int? {
        let position = placements.partitioningIndex { MediaTime(nanoseconds: $0.end) > time }
        return position < placements.count ? position : nil
    }

    /// When the segment at a position of ``segments`` is shown.
    func range(at position: Int) -> MediaTimeRange { placements[position].range }

    func reference(at position: Int) -> SegmentReference {
        let segment = playlist.segments[position]
        let range = placements[position].range
        let sequence = segment.sequence
        let byteRange = segment.byteRange
        return SegmentReference(
            sequence: sequence,
            address: segment.address,
            byteRange: byteRange,
            range: range,
            domain: domain(at: position),
            beginsDomain: segment.hasDiscontinuity,
            protection: Protection(segment.keys, sequence: sequence),
            initialization: segment.map.map { InitializationReference($0) },
            isGap: segment.isGap,
            bitRate: segment.bitRate,
            programDate: date(of: segment, at: position),
            parts: parts(segment.parts, of: sequence, from: placements[position].start)
        )
    }

    /// The date that the playlist says; where it was counted from may have left the playlist already.
    private func date(of segment: MediaSegment, at position: Int) -> ProgramDateTime? {
        guard !anchors.isEmpty else { return nil }
        let place = placements[position].start
        return segment.programDateTime ?? anchors.anchor(at: place)?.date(at: place)
    }

    func domain(at position: Int) -> DiscontinuityDomain {
        let sequence = playlist.segments[position].discontinuitySequence.addingSaturated(domainShift)
        return DiscontinuityDomain(epoch: epoch, sequence: sequence)
    }

    func parts(_ parts: [PartialSegment], of sequence: Int64, from start: Int64) -> [PartReference] {
        var place = start
        return parts.enumerated().map { index, part in
            let placement = Placement(start: place, duration: max(0, part.duration.nanoseconds))
            place = placement.end
            return PartReference(
                sequence: sequence,
                index: index,
                address: part.address,
                byteRange: part.byteRange,
                range: placement.range,
                isIndependent: part.isIndependent,
                isGap: part.isGap
            )
        }
    }
}

extension PresentationTimeline {
    /// The stretches of one domain each, in their order, with the presentation time that they fill.
    ///
    /// - Complexity: O(*d* log *n*) for *d* domains.
    public var domains: [(domain: DiscontinuityDomain, range: MediaTimeRange)] {
        domainPositions.map { domain, positions in
            let (first, last) = (placements[positions.lowerBound], placements[positions.upperBound - 1])
            return (domain, MediaTimeRange(start: first.range.start, end: last.range.end))
        }
    }

    /// Where the segments of each domain stand.
    var domainPositions: [(domain: DiscontinuityDomain, positions: Range<Int>)] {
        var result: [(domain: DiscontinuityDomain, positions: Range<Int>)] = []
        var first = 0
        while first < placements.count {
            let domain = domain(at: first)
            // Numbers never fall within a playlist: the end of a domain can be searched for.
            var (low, high) = (first + 1, placements.count)
            while low < high {
                let middle = low + (high - low) / 2
                if self.domain(at: middle) > domain { high = middle } else { low = middle + 1 }
            }
            result.append((domain, first..<low))
            first = low
        }
        return result
    }

    /// The date of a presentation time, counted on from the last date before it; `nil` where the playlist has no dates.
    ///
    /// Before the first date it is counted back (RFC 8216bis §4.4.4.6).
    public func date(at time: MediaTime) -> ProgramDateTime? {
        let place = time.nanoseconds
        return anchors.anchor(at: place)?.date(at: place)
    }

    /// Where a date lies, for seeking; `nil` where the playlist has no dates.
    ///
    /// Of several places with one date, where dates jump back, the first counts.
    ///
    /// - Complexity: O(*j*) for *j* jumps of the date.
    public func position(of date: ProgramDateTime) -> DatePosition? {
        anchors.place(of: date, from: startPlace, to: endPlace).map {
            DatePosition(time: MediaTime(nanoseconds: $0.place), relation: $0.relation)
        }
    }

    /// The dates of the timeline, prepared for many look-ups.
    var dateIndex: DateIndex { DateIndex(anchors, from: startPlace, to: endPlace) }
}
