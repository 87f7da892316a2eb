import MediaTiming

/// The times of the video that remain after successive removals, in its timeline before the first of them.
///
/// Each track is cut at its own boundaries, so that after a removal its timeline differs from that of the video, and the differences
/// would add up. In the timeline before all removals, each cut is at the boundary nearest to that of the video.
struct RemainingTimes {
    /// The remaining ranges, in order; the last one is unbounded unless the end was removed.
    private var ranges: [MediaTimeRange] = [.unbounded]

    /// Returns edits of other tracks, in which those are combined that follow each other and only remove segments.
    ///
    /// - Parameter edits: The edits of a complete presentation, which are aligned with the video.
    /// - Returns: The edits; there are not more of them than before.
    static func combiningRemovals(in edits: [PlaylistEdit]) -> [PlaylistEdit] {
        var result: [PlaylistEdit] = []
        var removals: [PlaylistEdit] = []
        for edit in edits {
            if edit.removesRange {
                removals.append(edit)
            } else {
                result += combined(removals) + [edit]
                removals = []
            }
        }
        return result + combined(removals)
    }

    /// Returns removals that follow each other as edits in the timeline before the first of them.
    ///
    /// - Parameter removals: The removals.
    /// - Returns: The edits; the removals themselves if they remove everything, or if the edits would be more.
    private static func combined(_ removals: [PlaylistEdit]) -> [PlaylistEdit] {
        guard removals.count > 1 else { return removals }
        var times = RemainingTimes()
        for removal in removals { times.apply(removal) }
        let edits = times.edits
        return edits.isEmpty || edits.count > removals.count ? removals : edits
    }

    /// Removes the times that an edit removes.
    ///
    /// - Parameter edit: An edit that removes a range, or everything else.
    private mutating func apply(_ edit: PlaylistEdit) {
        guard let start = edit.steps.cutTimes.first, let end = edit.steps.cutTimes.last else { return }
        if edit.definition.name == PlaylistEdit.trimName {
            ranges = part(from: start, to: end)
        } else if start < end {
            ranges = part(from: .zero, to: start) + part(from: end, to: MediaTimeRange.unbounded.end)
        }
    }

    /// Returns the remaining ranges between two times of the timeline after the removals so far.
    private func part(from start: MediaTime, to end: MediaTime) -> [MediaTimeRange] {
        var result: [MediaTimeRange] = []
        var elapsed = MediaTime.zero
        for range in ranges {
            let first = max(start - elapsed, .zero)
            let isEntire = end == MediaTimeRange.unbounded.end || end - elapsed >= range.duration
            let last = isEntire ? range.duration : end - elapsed
            if first < last {
                // An unbounded end has to remain exactly that.
                let bound = isEntire ? range.end : range.start + last
                result.append(MediaTimeRange(start: range.start + first, end: bound))
            }
            elapsed = elapsed + range.duration
        }
        return result
    }

    /// The edits that leave these times, each of which is in the timeline before all of them: first the end is removed, then what is
    /// between the ranges, then the start.
    private var edits: [PlaylistEdit] {
        guard let first = ranges.first, let last = ranges.last else { return [] }
        guard ranges.count > 1 else { return [.trim(first)] }
        var result: [PlaylistEdit] = []
        let unbounded = MediaTimeRange.unbounded.end
        if last.end < unbounded { result.append(.trim(MediaTimeRange(start: .zero, end: last.end))) }
        let between = zip(ranges, ranges.dropFirst()).map { MediaTimeRange(start: $0.end, end: $1.start) }
        result.append(between.count == 1 ? .cut(between[0]) : .exclude(.ranges(between)))
        if first.start > .zero { result.append(.trim(MediaTimeRange(start: first.start, end: unbounded))) }
        return result
    }
}

extension PlaylistEdit {
    /// The name of the edit that preserves a range.
    fileprivate static let trimName = trim(.unbounded).definition.name
    /// The name of the edit that removes a range.
    private static let cutName = cut(.unbounded).definition.name

    /// A Boolean value that indicates whether the edit removes a range, or everything else, between boundaries.
    fileprivate var removesRange: Bool { [Self.trimName, Self.cutName].contains(definition.name) }
}
