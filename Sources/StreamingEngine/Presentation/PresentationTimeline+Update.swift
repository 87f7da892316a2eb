public import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension PresentationTimeline {
    /// Takes over what a reload brought.
    ///
    /// Segments are known again by their media sequence numbers: known ones keep their times, new ones follow, and those
    /// that are no longer listed are forgotten. Nothing in a playlist stops that; what is odd is told.
    ///
    /// - Parameter loaded: The playlist that was loaded; a delta update is completed from the one before
    ///   (RFC 8216bis §6.3.7).
    /// - Returns: What changed.
    /// - Throws: `PlaylistUpdateError` for a delta update that lacks segments; then the whole playlist has to be loaded,
    ///   and the timeline stays as it was.
    /// - Complexity: O(*c*) for *c* new segments, beside moving what is known in memory; O(*n*) for a delta update.
    public mutating func update(_ loaded: MediaPlaylist) throws(PlaylistUpdateError) -> TimelineUpdate {
        let whole = loaded.skippedSegmentCount > 0 ? try playlist.applying(loaded) : loaded
        var update = TimelineUpdate()
        let known = PlaylistProgress(playlist)
        if whole.targetDuration != playlist.targetDuration {
            update.faults.append(.targetDurationChanged(from: playlist.targetDuration, to: whole.targetDuration))
        }
        switch succession(of: whole) {
        case .first:
            adopt(whole, keeping: 0, &update)
        case .emptied:
            update.faults.append(.becameEmpty)
        case .stale:
            update.faults.append(.staleCopy)
            return update
        case .continued(let changed):
            if let changed { update.faults.append(.segmentChanged(sequence: changed)) }
            join(whole, &update)
        case .ahead(let count):
            skip(count, to: whole, &update)
            replace(with: whole, &update)
        case .restarted:
            update.faults.append(
                .restarted(from: sequences.upperBound, to: whole.segmentSequences.lowerBound)
            )
            epoch += 1
            domainShift = 0
            replace(with: whole, &update)
        }
        noteEnd(of: whole, &update)
        let progress = PlaylistProgress(whole)
        update.hasNews = update.hasNews || !update.added.isEmpty || update.hasRestarted || progress > known
        if !update.hasNews, update.faults.isEmpty { update.faults.append(.unchanged) }
        return update
    }

    private mutating func noteEnd(of whole: MediaPlaylist, _ update: inout TimelineUpdate) {
        let ends = !whole.isLive
        if ends != hasEnded, ends { update.hasNews = true }
        if hasEnded, !ends, !update.added.isEmpty { update.faults.append(.reopened) }
        hasEnded = ends || hasEnded && update.added.isEmpty
    }

    /// Takes over a playlist that shares segments with what is known.
    private mutating func join(_ whole: MediaPlaylist, _ update: inout TimelineUpdate) {
        let (old, new) = (sequences, whole.segmentSequences)
        let common = old.clamped(to: new)
        // The last of them: at the beginning of a window, servers differ about what they count.
        let numberThen = domain(at: Int(common.upperBound -| 1 -| old.lowerBound)).sequence
        let numberNow = whole.segments[Int(common.upperBound -| 1 -| new.lowerBound)].discontinuitySequence
        let shift = numberThen.subtractingSaturated(numberNow)
        if shift != domainShift {
            update.faults.append(.discontinuitySequenceWrong(by: shift.subtractingSaturated(domainShift)))
            domainShift = shift
        }
        if common.upperBound < old.upperBound {
            placements.removeLast(Int(old.upperBound -| common.upperBound))
            endPlace = placements.last?.end ?? endPlace
        }
        let forgotten = max(0, Int(new.lowerBound -| old.lowerBound))
        placements.removeFirst(forgotten)
        update.forgottenCount = forgotten
        let earlier = max(0, Int(old.lowerBound -| new.lowerBound))
        adopt(whole, keeping: earlier + placements.count, &update, earlier: earlier)
        if earlier > 0 { update.faults.append(.earlierSegments(count: Int64(earlier))) }
        anchors.forget(before: startPlace)
    }

    /// Takes over a playlist that shares no segments with what is known: all that was is forgotten.
    private mutating func replace(with whole: MediaPlaylist, _ update: inout TimelineUpdate) {
        update.forgottenCount = placements.count
        placements = []
        adopt(whole, keeping: 0, &update)
        anchors.forget(before: startPlace)
    }

    /// - Parameters:
    ///   - whole: The playlist.
    ///   - known: How many segments at its beginning do not have to be placed behind the others.
    ///   - update: What is told of it.
    ///   - earlier: How many of those have to be placed before the others.
    private mutating func adopt(
        _ whole: MediaPlaylist,
        keeping known: Int,
        _ update: inout TimelineUpdate,
        earlier: Int = 0
    ) {
        playlist = whole
        if earlier > 0 { prepend(earlier) }
        append(from: known)
        let new = whole.segmentSequences
        update.added = (new.lowerBound +| Int64(known))..<new.upperBound
    }

    /// Places segments before the first one that is known.
    private mutating func prepend(_ count: Int) {
        let segments = playlist.segments
        let border = segments.timeRange(at: count).start.nanoseconds
        let origin = startPlace
        let earlier = (0..<count).map { position in
            let range = segments.timeRange(at: position)
            let start = origin.subtractingSaturated(border -| range.start.nanoseconds)
            return Placement(start: start, duration: range.duration.nanoseconds)
        }
        placements.insert(contentsOf: earlier, at: 0)
        anchors = DateAnchors()
        noteDates(from: 0)
    }

    /// Leaves time for segments that came and went unseen.
    private mutating func skip(_ count: Int64, to whole: MediaPlaylist, _ update: inout TimelineUpdate) {
        guard count > 0 else { return }
        let (lost, evidence) = lostTime(count, before: whole)
        endPlace = endPlace.addingSaturated(lost)
        update.faults.append(.segmentsMissed(count: count, lost: MediaTime(nanoseconds: lost), evidence))
    }

    /// How long so many missed segments were, in nanoseconds.
    private func lostTime(_ count: Int64, before whole: MediaPlaylist) -> (Int64, TimelineFault.Evidence) {
        let longest = targetDuration + MediaTime(value: 1, timescale: 2)
        let most = (longest * count + targetDuration).nanoseconds
        if let date = whole.segments.first?.programDateTime, let expected = anchors.anchor(at: endPlace) {
            let lost = date.sinceEpoch.nanoseconds.subtractingSaturated(expected.nanoseconds(at: endPlace))
            // A date that says more than segments can last has jumped for another reason.
            if lost >= 0, lost <= most { return (lost, .dates) }
        }
        return (Int64(clamping: Int128(averageDuration) *| Int128(count)), .averageDuration)
    }

    /// How long its segments are on average, in nanoseconds.
    var averageDuration: Int64 {
        let total = placements.reduce(Int64(0)) { $0.addingSaturated($1.duration) }
        guard !placements.isEmpty, total > 0 else { return targetDuration.nanoseconds }
        // Bounded: there are placements here.
        return total / Int64(placements.count)
    }
}
