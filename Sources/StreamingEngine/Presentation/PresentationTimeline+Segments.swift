package import HLSPlaylist
package import MediaTiming
import ResourceAddressing

extension PresentationTimeline {
    /// The segments of a timeline in order, created on access.
    package struct Segments: RandomAccessCollection, Sendable {
        let timeline: PresentationTimeline

        /// The position of the first segment.
        package var startIndex: Int { 0 }
        /// The position after the last segment.
        package var endIndex: Int { timeline.placements.count }

        /// Creates the reference to the segment at a position.
        ///
        /// - Complexity: O(*l* + log *n*) for a segment of *l* bytes.
        package subscript(position: Int) -> SegmentReference { timeline.reference(at: position) }
    }

    /// The segments in order.
    package var segments: Segments { Segments(timeline: self) }

    /// Returns the segment with a media sequence number, or `nil` if the playlist does not contain it.
    package func segment(sequence: Int64) -> SegmentReference? {
        position(sequence: sequence).map { reference(at: $0) }
    }

    /// Returns the segment at a presentation time.
    ///
    /// Returns `nil` before the first segment, after the last one, and in gaps where segments were missed.
    ///
    /// - Complexity: O(log *n*).
    package func segment(at time: MediaTime) -> SegmentReference? { position(at: time).map { reference(at: $0) } }

    /// Returns the segment at a presentation time, or the next one if there is none: the first that ends after the
    /// time.
    ///
    /// - Complexity: O(log *n*).
    package func segment(atOrAfter time: MediaTime) -> SegmentReference? {
        position(atOrAfter: time).map { reference(at: $0) }
    }

    /// Returns the position in ``segments`` of a media sequence number, or `nil` if the playlist does not contain it.
    package func position(sequence: Int64) -> Int? {
        sequences.contains(sequence) ? Int(sequence -| sequences.lowerBound) : nil
    }

    /// Returns the position in ``segments`` of the segment at a presentation time, or `nil` if there is none.
    package func position(at time: MediaTime) -> Int? {
        let next = placements.partitioningIndex { MediaTime(nanoseconds: $0.start) > time }
        guard next > 0, time < MediaTime(nanoseconds: placements[next - 1].end) else { return nil }
        return next - 1
    }

    /// Returns the position in ``segments`` of the first segment that ends after a presentation time, or `nil` if there
    /// is none.
    package func position(atOrAfter time: MediaTime) -> Int? {
        let position = placements.partitioningIndex { MediaTime(nanoseconds: $0.end) > time }
        return position < placements.count ? position : nil
    }

    /// Returns the presentation time range of the segment at a position in ``segments``.
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

    /// Returns the date of a segment; the tag from which it is extrapolated may have been removed from the playlist.
    private func date(of segment: MediaSegment, at position: Int) -> ProgramDateTime? {
        guard !anchors.isEmpty else { return nil }
        let position = placements[position].start
        return segment.programDateTime ?? anchors.anchor(at: position)?.date(at: position)
    }

    func domain(at position: Int) -> DiscontinuityDomain {
        let sequence = playlist.segments[position].discontinuitySequence.addingSaturated(domainShift)
        return DiscontinuityDomain(epoch: epoch, sequence: sequence)
    }

    func parts(_ parts: [PartialSegment], of sequence: Int64, from start: Int64) -> [PartReference] {
        var position = start
        return parts.enumerated().map { index, part in
            let placement = Placement(start: position, duration: max(0, part.duration.nanoseconds))
            position = placement.end
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
    /// The discontinuity domains in order, with their presentation time ranges.
    ///
    /// - Complexity: O(*d* log *n*) for *d* domains.
    package var domains: [(domain: DiscontinuityDomain, range: MediaTimeRange)] {
        domainPositions.map { domain, positions in
            let (first, last) = (placements[positions.lowerBound], placements[positions.upperBound - 1])
            return (domain, MediaTimeRange(start: first.range.start, end: last.range.end))
        }
    }

    /// The discontinuity domains in order, with the positions of their segments.
    var domainPositions: [(domain: DiscontinuityDomain, positions: Range<Int>)] {
        var result: [(domain: DiscontinuityDomain, positions: Range<Int>)] = []
        var first = 0
        while first < placements.count {
            let domain = domain(at: first)
            // Discontinuity sequence numbers never decrease within a playlist, so the end of a domain is found by binary search, after
            // steps that double: there may be as many domains as segments.
            var (low, high) = (first + 1, first + 1)
            var step = 1
            while high < placements.count, self.domain(at: high) == domain {
                low = high + 1
                high = min(placements.count, high + step)
                step += step
            }
            while low < high {
                let middle = low + (high - low) / 2
                if self.domain(at: middle) > domain { high = middle } else { low = middle + 1 }
            }
            result.append((domain, first..<low))
            first = low
        }
        return result
    }

    /// Returns the date of a presentation time, extrapolated from the last date before it, or `nil` without dates.
    ///
    /// Before the first date it is extrapolated back (RFC 8216bis §4.4.4.6).
    package func date(at time: MediaTime) -> ProgramDateTime? {
        let position = time.nanoseconds
        return anchors.anchor(at: position)?.date(at: position)
    }

    /// Returns the position of a date, for seeking, or `nil` without dates.
    ///
    /// If dates jump back, so that several positions have the date, the first one is returned.
    ///
    /// - Complexity: O(*j*) for *j* jumps of the date.
    package func position(of date: ProgramDateTime) -> DatePosition? {
        anchors.position(of: date, from: startPosition, to: endPosition).map {
            DatePosition(time: MediaTime(nanoseconds: $0.place), relation: $0.relation)
        }
    }

    /// An index of the dates of the timeline, for many lookups.
    var dateIndex: DateIndex { DateIndex(anchors, from: startPosition, to: endPosition) }
}
