package import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension PresentationTimeline {
    /// Updates the timeline with a reloaded playlist.
    ///
    /// Segments are recognized by their media sequence numbers: known segments keep their times, new ones are appended,
    /// and segments that the playlist no longer contains are removed. Inconsistencies are reported and do not prevent
    /// the update.
    ///
    /// - Parameter loaded: The reloaded playlist; a delta update is applied to the previous one (RFC 8216bis §6.3.7).
    /// - Returns: The changes.
    /// - Throws: `PlaylistUpdateError` if a delta update lacks segments. The timeline is unchanged, and the complete
    ///   playlist has to be loaded.
    /// - Complexity: O(*c*) for *c* new segments, in addition to moving the existing ones in memory; O(*n*) for a delta
    ///   update.
    package mutating func update(_ loaded: MediaPlaylist) throws(PlaylistUpdateError) -> TimelineUpdate {
        let whole = loaded.skippedSegmentCount > 0 ? try playlist.applying(loaded) : loaded
        var update = TimelineUpdate()
        let known = PlaylistProgress(playlist)
        if whole.targetDuration != playlist.targetDuration {
            update.inconsistencies.append(
                .targetDurationChanged(from: playlist.targetDuration, to: whole.targetDuration)
            )
        }
        switch succession(of: whole) {
        case .first:
            replacePlaylist(with: whole, keeping: 0, update: &update)
        case .emptied:
            update.inconsistencies.append(.becameEmpty)
        case .stale:
            update.inconsistencies.append(.staleCopy)
            return update
        case .continued(let changed):
            if let changed { update.inconsistencies.append(.segmentChanged(sequence: changed)) }
            mergePlaylist(whole, update: &update)
        case .afterGap(let count):
            leaveGap(segmentCount: count, before: whole, update: &update)
            replace(with: whole, &update)
        case .restarted:
            update.inconsistencies.append(
                .restarted(from: sequences.upperBound, to: whole.segmentSequences.lowerBound)
            )
            epoch += 1
            domainShift = 0
            replace(with: whole, &update)
        }
        updateEnd(from: whole, update: &update)
        let progress = PlaylistProgress(whole)
        update.hasUpdates = update.hasUpdates || !update.added.isEmpty || update.hasRestarted || progress > known
        if !update.hasUpdates, update.inconsistencies.isEmpty { update.inconsistencies.append(.unchanged) }
        return update
    }

    private mutating func updateEnd(from whole: MediaPlaylist, update: inout TimelineUpdate) {
        let ends = !whole.isLive
        if ends != hasEnded, ends { update.hasUpdates = true }
        if hasEnded, !ends, !update.added.isEmpty { update.inconsistencies.append(.reopened) }
        hasEnded = ends || hasEnded && update.added.isEmpty
    }

    /// Replaces the playlist with one that has segments in common.
    private mutating func mergePlaylist(_ whole: MediaPlaylist, update: inout TimelineUpdate) {
        let (old, new) = (sequences, whole.segmentSequences)
        let common = old.clamped(to: new)
        // The last common segment is used, because servers may disagree on discontinuities at the beginning of the
        // window.
        let numberThen = domain(at: Int(common.upperBound -| 1 -| old.lowerBound)).sequence
        let numberNow = whole.segments[Int(common.upperBound -| 1 -| new.lowerBound)].discontinuitySequence
        let shift = numberThen.subtractingSaturated(numberNow)
        if shift != domainShift {
            update.inconsistencies.append(.discontinuitySequenceWrong(by: shift.subtractingSaturated(domainShift)))
            domainShift = shift
        }
        if common.upperBound < old.upperBound {
            placements.removeLast(Int(old.upperBound -| common.upperBound))
            endPosition = placements.last?.end ?? endPosition
        }
        let forgotten = max(0, Int(new.lowerBound -| old.lowerBound))
        placements.removeFirst(forgotten)
        update.removedCount = forgotten
        let earlier = max(0, Int(old.lowerBound -| new.lowerBound))
        replacePlaylist(with: whole, keeping: earlier + placements.count, update: &update, earlier: earlier)
        if earlier > 0 { update.inconsistencies.append(.earlierSegments(count: Int64(earlier))) }
        anchors.removeAnchors(before: startPosition)
    }

    /// Replaces the playlist with one that has no segments in common; all known segments are removed.
    private mutating func replace(with whole: MediaPlaylist, _ update: inout TimelineUpdate) {
        update.removedCount = placements.count
        placements = []
        replacePlaylist(with: whole, keeping: 0, update: &update)
        anchors.removeAnchors(before: startPosition)
    }

    /// Replaces the playlist and places its new segments.
    ///
    /// - Parameters:
    ///   - whole: The complete playlist.
    ///   - known: The number of segments at its beginning that are not placed after the existing ones.
    ///   - update: The report of the changes.
    ///   - earlier: The number of those segments that are placed before the existing ones.
    private mutating func replacePlaylist(
        with whole: MediaPlaylist,
        keeping known: Int,
        update: inout TimelineUpdate,
        earlier: Int = 0
    ) {
        playlist = whole
        if earlier > 0 { prepend(earlier) }
        append(from: known)
        let new = whole.segmentSequences
        update.added = (new.lowerBound +| Int64(known))..<new.upperBound
    }

    /// Places segments before the first known one.
    private mutating func prepend(_ count: Int) {
        let segments = playlist.segments
        let boundary = segments.timeRange(at: count).start.nanoseconds
        let origin = startPosition
        let earlier = (0..<count).map { position in
            let range = segments.timeRange(at: position)
            let start = origin.subtractingSaturated(boundary -| range.start.nanoseconds)
            return Placement(start: start, duration: range.duration.nanoseconds)
        }
        placements.insert(contentsOf: earlier, at: 0)
        anchors = DateAnchors()
        addDates(from: 0)
    }

    /// Leaves a gap for segments that were never seen.
    private mutating func leaveGap(segmentCount count: Int64, before whole: MediaPlaylist, update: inout TimelineUpdate)
    {
        guard count > 0 else { return }
        let (lost, evidence) = missedDuration(segmentCount: count, before: whole)
        endPosition = endPosition.addingSaturated(lost)
        update.inconsistencies.append(.segmentsMissed(count: count, lost: MediaTime(nanoseconds: lost), evidence))
    }

    /// Returns the duration of missed segments in nanoseconds, with the evidence for it.
    private func missedDuration(
        segmentCount count: Int64,
        before whole: MediaPlaylist
    ) -> (Int64, TimelineInconsistency.Evidence) {
        let longest = targetDuration + MediaTime(value: 1, timescale: 2)
        let most = (longest * count + targetDuration).nanoseconds
        if let date = whole.segments.first?.programDateTime, let expected = anchors.anchor(at: endPosition) {
            let lost = date.sinceEpoch.nanoseconds.subtractingSaturated(expected.nanoseconds(at: endPosition))
            // If the date indicates more than the maximum duration of the segments, it jumped for another reason.
            if lost >= 0, lost <= most { return (lost, .dates) }
        }
        return (Int64(clamping: Int128(averageDuration) *| Int128(count)), .averageDuration)
    }

    /// The average duration of the segments, in nanoseconds.
    var averageDuration: Int64 {
        let total = placements.reduce(Int64(0)) { $0.addingSaturated($1.duration) }
        guard !placements.isEmpty, total > 0 else { return targetDuration.nanoseconds }
        // Bounded: there are placements here.
        return total / Int64(placements.count)
    }
}
