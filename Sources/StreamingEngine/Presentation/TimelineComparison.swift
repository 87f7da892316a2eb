import HLSPlaylist
import MediaTiming

/// A comparison of a playlist with a timeline, from which a ``TimelineAlignment`` is determined.
struct TimelineComparison {
    /// A presentation time for the first segment of the playlist, in nanoseconds, with its method and maximum error.
    struct Position {
        let start: Int64
        let method: TimelineAlignment.Method
        let uncertainty: Int64
    }

    private let reference: PresentationTimeline
    /// The timeline of the playlist with a start of zero.
    let other: PresentationTimeline
    private let targetDuration: Int64
    /// The time since the reference was last updated, in nanoseconds.
    private let age: Int64

    init(_ playlist: MediaPlaylist, _ reference: PresentationTimeline, age: Duration = .zero) {
        self.reference = reference
        self.age = max(0, MediaTime(age).nanoseconds)
        other = PresentationTimeline(
            playlist,
            start: 0,
            epoch: reference.epoch,
            domainShift: reference.domainShift
        )
        targetDuration = max(reference.targetDuration, other.targetDuration).nanoseconds
    }

    /// The best position that can be determined.
    var position: Position {
        if other.placements.isEmpty || reference.placements.isEmpty {
            return Position(start: reference.endPosition, method: .none, uncertainty: targetDuration)
        }
        // Playlists that were live and have ended are compared as windows.
        if !reference.isWindow, !other.isWindow, !hasLostBeginning {
            return Position(start: reference.startPosition, method: .commonStart, uncertainty: 0)
        }
        return positionByDates ?? positionByDiscontinuity ?? positionByEdge
    }

    /// A Boolean value that indicates whether the dates show that playlists which have ended begin at different times.
    private var hasLostBeginning: Bool {
        guard max(reference.sequences.lowerBound, other.sequences.lowerBound) > 1, let position = positionByDates else {
            return false
        }
        let difference = position.start.subtractingSaturated(reference.startPosition)
        return difference.magnitude > UInt64(clamping: targetDuration / 2)
    }

    // MARK: Dates

    /// The uncertainty of dates in nanoseconds, which are usually written to the millisecond.
    private static let dateUncertainty: Int64 = 1_000_000

    /// The position by the dates of both playlists; `nil` if one has no dates, or if they are far apart.
    var positionByDates: Position? {
        guard !reference.anchors.isEmpty, !other.anchors.isEmpty else { return nil }
        for domain in commonDomains.reversed() {
            let first = other.placements[domain.other.lowerBound]
            let last = other.placements[domain.other.upperBound - 1]
            guard let date = other.date(atPosition: first.start), let lastDate = other.date(atPosition: last.start),
                let position = reference.position(of: date, in: domain.reference),
                let lastPlace = reference.position(of: lastDate, in: domain.reference)
            else { continue }
            let start = position.subtractingSaturated(first.start)
            let again = lastPlace.subtractingSaturated(last.start)
            // If dates drift relative to durations, the end counts, because it will be played next.
            let drift = start > again ? start.subtractingSaturated(again) : again.subtractingSaturated(start)
            guard isPlausible(again) else { continue }
            return Position(
                start: again,
                method: .datesInDomain,
                uncertainty: drift.addingSaturated(Self.dateUncertainty)
            )
        }
        return positionByDatesOnly
    }

    /// The position by the date of the last segment, which may be in any domain of the reference.
    private var positionByDatesOnly: Position? {
        guard let last = other.placements.last, let date = other.date(atPosition: last.start) else { return nil }
        let found = reference.anchors.position(
            of: date,
            from: reference.startPosition,
            to: reference.endPosition
        )
        guard let found else { return nil }
        var position = found.place
        var uncertainty = Self.dateUncertainty
        switch found.relation {
        case .inside: break
        case .skipped: uncertainty = targetDuration
        case .beforeStart, .afterEnd:
            // Outside of the timeline, dates are extrapolated.
            guard let anchor = reference.anchors.anchor(at: found.place) else { return nil }
            let distance = date.sinceEpoch.nanoseconds.subtractingSaturated(anchor.nanoseconds(at: found.place))
            position = position.addingSaturated(distance)
            uncertainty = targetDuration / 2
        }
        let start = position.subtractingSaturated(last.start)
        guard isPlausible(start) else { return nil }
        return Position(start: start, method: .dates, uncertainty: uncertainty)
    }

    /// Returns whether the windows would be close to each other.
    ///
    /// A wrong clock places them hours apart, while two playlists that are loaded in succession are close.
    private func isPlausible(_ start: Int64) -> Bool {
        let slack = targetDuration.addingSaturated(targetDuration).addingSaturated(targetDuration)
        let end = start.addingSaturated(other.endPosition)
        return start <= reference.endPosition.addingSaturated(slack)
            && end >= reference.startPosition.subtractingSaturated(slack)
    }

    // MARK: Discontinuities

    /// The positions of a domain in both playlists.
    private struct CommonDomain {
        let reference: Range<Int>
        let other: Range<Int>
    }

    private var commonDomains: [CommonDomain] {
        let known = Dictionary(
            reference.domainPositions.map { ($0.domain.sequence, $0.positions) },
            uniquingKeysWith: { first, _ in first }
        )
        return other.domainPositions.compactMap { domain in
            known[domain.domain.sequence].map { CommonDomain(reference: $0, other: domain.positions) }
        }
    }

    private var positionByDiscontinuity: Position? {
        // Discontinuity sequence numbers that the server does not maintain correctly are not used.
        guard reference.domainShift == 0 else { return nil }
        for domain in commonDomains.reversed() {
            // The start of the first domain in a window is unknown, unless the discontinuity tag itself is still in the
            // playlist.
            guard other.beginsDomain(at: domain.other.lowerBound),
                reference.beginsDomain(at: domain.reference.lowerBound)
            else { continue }
            let boundary = reference.placements[domain.reference.lowerBound].start
            let start = boundary.subtractingSaturated(other.placements[domain.other.lowerBound].start)
            // Discontinuities of audio and video differ slightly, by less than a segment.
            return Position(start: start, method: .discontinuity, uncertainty: 500_000_000)
        }
        return nil
    }

    // MARK: Edges

    private var positionByEdge: Position {
        // The live edge of a reference that is not updated is behind by the time since its last update.
        let referenceEdge = reference.edge.nanoseconds.addingSaturated(age)
        let edge = referenceEdge.subtractingSaturated(other.edge.nanoseconds)
        let byEdge = Position(start: edge, method: .liveEdge, uncertainty: targetDuration)
        // The last segment in both playlists, of which one may be less recent.
        let sequence = min(reference.sequences.upperBound, other.sequences.upperBound) -| 1
        guard reference.targetDuration == other.targetDuration, let position = reference.position(sequence: sequence),
            let otherPosition = other.position(sequence: sequence)
        else { return byEdge }
        let start = reference.placements[position].start.subtractingSaturated(other.placements[otherPosition].start)
        let difference = start > edge ? start.subtractingSaturated(edge) : edge.subtractingSaturated(start)
        // The playlists may differ by about one segment in recency; a larger difference means unrelated numbers.
        guard difference <= targetDuration.addingSaturated(targetDuration / 2) else { return byEdge }
        return Position(start: start, method: .mediaSequence, uncertainty: targetDuration / 2)
    }
}

extension PresentationTimeline {
    /// A Boolean value that indicates whether the timeline may not begin at the start of the presentation.
    fileprivate var isWindow: Bool { startedAsWindow }

    fileprivate func beginsDomain(at position: Int) -> Bool { playlist.segments[position].hasDiscontinuity }

    fileprivate func date(atPosition position: Int64) -> ProgramDateTime? {
        anchors.anchor(at: position)?.date(at: position)
    }

    /// Returns the presentation time of a date, extrapolated from the dates in a range of segments.
    fileprivate func position(of date: ProgramDateTime, in positions: Range<Int>) -> Int64? {
        let stretch = anchors.anchors(
            from: placements[positions.lowerBound].start,
            to: placements[positions.upperBound - 1].end
        )
        let date = date.sinceEpoch.nanoseconds
        guard let nearest = stretch.last(where: { $0.nanoseconds <= date }) ?? stretch.first else { return nil }
        return nearest.position.addingSaturated(date.subtractingSaturated(nearest.nanoseconds))
    }
}

extension DateAnchors {
    /// Returns the anchors that apply in a time range: the one at its start, and those within.
    func anchors(from start: Int64, to end: Int64) -> ArraySlice<Anchor> {
        guard !anchors.isEmpty else { return [] }
        let first = max(0, anchors.partitioningIndex { $0.position > start } - 1)
        let behind = max(first + 1, anchors.partitioningIndex { $0.position >= end })
        return anchors[first..<behind]
    }
}
