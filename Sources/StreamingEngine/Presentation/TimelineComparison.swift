import HLSPlaylist
import MediaTiming

/// A playlist beside a timeline, for ``TimelineAlignment``.
struct TimelineComparison {
    /// A place for the first segment of the playlist, in nanoseconds.
    struct Place {
        let start: Int64
        let method: TimelineAlignment.Method
        let uncertainty: Int64
    }

    private let reference: PresentationTimeline
    /// The playlist as if it began at zero.
    let other: PresentationTimeline
    private let targetDuration: Int64
    /// How long ago the reference had something new, in nanoseconds.
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

    /// The best place that can be found.
    var place: Place {
        if other.placements.isEmpty || reference.placements.isEmpty {
            return Place(start: reference.endPlace, method: .none, uncertainty: targetDuration)
        }
        // Live playlists that have ended since are compared as the windows that they still are.
        if !reference.isWindow, !other.isWindow, !hasLostBeginning {
            return Place(start: reference.startPlace, method: .commonStart, uncertainty: 0)
        }
        return placeByDates ?? placeByDiscontinuity ?? placeByEdge
    }

    /// Whether dates say that windows which have ended begin at different times.
    private var hasLostBeginning: Bool {
        guard max(reference.sequences.lowerBound, other.sequences.lowerBound) > 1, let place = placeByDates else {
            return false
        }
        let difference = place.start.subtractingSaturated(reference.startPlace)
        return difference.magnitude > UInt64(clamping: targetDuration / 2)
    }

    // MARK: Dates

    /// Dates are written to the millisecond, so they cannot say more.
    private static let dateUncertainty: Int64 = 1_000_000

    private var placeByDates: Place? {
        guard !reference.anchors.isEmpty, !other.anchors.isEmpty else { return nil }
        for domain in commonDomains.reversed() {
            let first = other.placements[domain.other.lowerBound]
            let last = other.placements[domain.other.upperBound - 1]
            guard let date = other.date(atPlace: first.start), let lastDate = other.date(atPlace: last.start),
                let place = reference.place(of: date, in: domain.reference),
                let lastPlace = reference.place(of: lastDate, in: domain.reference)
            else { continue }
            let start = place.subtractingSaturated(first.start)
            let again = lastPlace.subtractingSaturated(last.start)
            // Dates that drift against the durations: the live edge is what will be played.
            let drift = start > again ? start.subtractingSaturated(again) : again.subtractingSaturated(start)
            guard isPlausible(again) else { continue }
            return Place(
                start: again,
                method: .datesInDomain,
                uncertainty: drift.addingSaturated(Self.dateUncertainty)
            )
        }
        return placeByDatesAlone
    }

    /// Without a common domain the last dated segment decides: its date may lie in any domain of the other.
    private var placeByDatesAlone: Place? {
        guard let last = other.placements.last, let date = other.date(atPlace: last.start) else { return nil }
        let found = reference.anchors.place(
            of: date,
            from: reference.startPlace,
            to: reference.endPlace
        )
        guard let found else { return nil }
        var place = found.place
        var uncertainty = Self.dateUncertainty
        switch found.relation {
        case .inside: break
        case .betweenJumps: uncertainty = targetDuration
        case .beforeStart, .afterEnd:
            // Outside, the dates are counted on.
            guard let anchor = reference.anchors.anchor(at: found.place) else { return nil }
            let distance = date.sinceEpoch.nanoseconds.subtractingSaturated(anchor.nanoseconds(at: found.place))
            place = place.addingSaturated(distance)
            uncertainty = targetDuration / 2
        }
        let start = place.subtractingSaturated(last.start)
        guard isPlausible(start) else { return nil }
        return Place(start: start, method: .dates, uncertainty: uncertainty)
    }

    /// Whether the windows lie near each other.
    ///
    /// A clock that is set wrong puts them hours apart; two playlists that are loaded one behind the other are not.
    private func isPlausible(_ start: Int64) -> Bool {
        let slack = targetDuration.addingSaturated(targetDuration).addingSaturated(targetDuration)
        let end = start.addingSaturated(other.endPlace)
        return start <= reference.endPlace.addingSaturated(slack)
            && end >= reference.startPlace.subtractingSaturated(slack)
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

    private var placeByDiscontinuity: Place? {
        // Numbers that a server does not keep up say nothing.
        guard reference.domainShift == 0 else { return nil }
        for domain in commonDomains.reversed() {
            // The first domain of a window has lost its border, unless the discontinuity itself is still listed.
            guard other.beginsDomain(at: domain.other.lowerBound),
                reference.beginsDomain(at: domain.reference.lowerBound)
            else { continue }
            let border = reference.placements[domain.reference.lowerBound].start
            let start = border.subtractingSaturated(other.placements[domain.other.lowerBound].start)
            guard isPlausible(start) else { continue }
            // Sound and pictures change a little apart, by less than a segment.
            return Place(start: start, method: .discontinuity, uncertainty: min(targetDuration, 500_000_000))
        }
        return nil
    }

    // MARK: Edges

    private var placeByEdge: Place {
        // One that stands still is behind by as long as it does.
        let referenceEdge = reference.edge.nanoseconds.addingSaturated(age)
        let edge = referenceEdge.subtractingSaturated(other.edge.nanoseconds)
        let byEdge = Place(start: edge, method: .liveEdge, uncertainty: targetDuration)
        // The last that both list: one of them may be behind.
        let sequence = min(reference.sequences.upperBound, other.sequences.upperBound) -| 1
        guard reference.targetDuration == other.targetDuration, let position = reference.position(sequence: sequence),
            let otherPosition = other.position(sequence: sequence)
        else { return byEdge }
        let start = reference.placements[position].start.subtractingSaturated(other.placements[otherPosition].start)
        let difference = start > edge ? start.subtractingSaturated(edge) : edge.subtractingSaturated(start)
        // One of them was loaded later, by a segment or so; numbers that say more are not the same ones.
        guard difference <= targetDuration.addingSaturated(targetDuration / 2) else { return byEdge }
        return Place(start: start, method: .mediaSequence, uncertainty: targetDuration / 2)
    }
}

extension PresentationTimeline {
    /// Whether its beginning is not that of the presentation, or may not be.
    fileprivate var isWindow: Bool { beganLive }

    fileprivate func beginsDomain(at position: Int) -> Bool { playlist.segments[position].hasDiscontinuity }

    fileprivate func date(atPlace place: Int64) -> ProgramDateTime? { anchors.anchor(at: place)?.date(at: place) }

    /// The place of a date, counted from the date that holds in a stretch of segments.
    fileprivate func place(of date: ProgramDateTime, in positions: Range<Int>) -> Int64? {
        let stretch = anchors.stretch(
            from: placements[positions.lowerBound].start,
            to: placements[positions.upperBound - 1].end
        )
        let date = date.sinceEpoch.nanoseconds
        guard let nearest = stretch.last(where: { $0.nanoseconds <= date }) ?? stretch.first else { return nil }
        return nearest.place.addingSaturated(date.subtractingSaturated(nearest.nanoseconds))
    }
}

extension DateAnchors {
    /// The dates that hold in a stretch: the one in force at its beginning, and those in it.
    func stretch(from start: Int64, to end: Int64) -> ArraySlice<Anchor> {
        guard !anchors.isEmpty else { return [] }
        let first = max(0, anchors.partitioningIndex { $0.place > start } - 1)
        let behind = max(first + 1, anchors.partitioningIndex { $0.place >= end })
        return anchors[first..<behind]
    }
}
