import HLSPlaylist
import MediaTiming

/// The times of the video that remain after successive removals, in the timeline before the first removal.
///
/// Each track is cut at its own segment boundaries. Therefore, its timeline differs from that of the video after a
/// removal, and the differences of several removals would accumulate. In the timeline before all removals, there are no
/// such differences.
struct RemainingTimes {
    /// The remaining ranges, in order; the last one is unbounded unless the end was removed.
    private var ranges: [MediaTimeRange] = [.unbounded]

    /// The edits of the other tracks of a complete presentation.
    ///
    /// Successive edits that only remove segments are combined.
    struct CombinedEdits {
        private var edits: [PlaylistEdit] = []
        private var removals: [PlaylistEdit] = []
        /// The times that remain after the removals.
        private var times = RemainingTimes()
        /// The media playlist of the video before the first removal.
        ///
        /// Only this playlist is stored, because a playlist can be large.
        private var video: MediaPlaylist?

        /// Adds an edit.
        ///
        /// - Parameters:
        ///   - edit: The edit.
        ///   - video: The media playlist of the video before the edit; `nil` if the edit is not aligned with it.
        mutating func append(_ edit: PlaylistEdit, of video: MediaPlaylist?) {
            guard let video, edit.removedRanges != nil else {
                edits = all + [edit]
                removals = []
                times = RemainingTimes()
                self.video = nil
                return
            }
            // The edit is applied only once, because it can have hundreds of ranges.
            var next = times
            next.apply(edit)
            if times.hasSeam(beforeStartOf: next) {
                edits = all
                removals = []
                next = RemainingTimes()
                next.apply(edit)
            }
            if removals.isEmpty { self.video = video }
            removals.append(edit)
            times = next
        }

        /// The edits, in order; the number is not greater than the number of edits that were added.
        var all: [PlaylistEdit] { edits + combinedRemovals }

        /// One edit for the removals, in the timeline before the first of them; the unchanged removals if nothing would
        /// remain, or if there are too many ranges.
        private var combinedRemovals: [PlaylistEdit] {
            guard removals.count > 1, let video else { return removals }
            return times.edit(of: video).map { [$0] } ?? removals
        }
    }

    /// Returns a Boolean value that indicates whether the next edit removes the beginning up to the discontinuity of an
    /// earlier removal.
    ///
    /// That discontinuity still counts in the discontinuity sequence numbers of the video, so the other tracks need it too.
    ///
    /// - Parameter next: The times that remain after the next edit.
    /// - Returns: The value.
    private func hasSeam(beforeStartOf next: RemainingTimes) -> Bool {
        guard ranges.count > 1 else { return false }
        guard let first = next.ranges.first else { return false }
        return first.start >= ranges[1].start
    }

    /// Removes the time ranges of an edit.
    ///
    /// - Parameter edit: An edit that removes ranges, or an edit that preserves only one range.
    private mutating func apply(_ edit: PlaylistEdit) {
        guard edit.definition.name == PlaylistEdit.trimName else {
            // The times of an edit refer to the timeline before the edit.
            let removed = (edit.removedRanges ?? []).sorted { $0.start > $1.start }
            for range in removed where !range.isEmpty {
                ranges = part(from: .zero, to: range.start) + part(from: range.end, to: MediaTimeRange.unbounded.end)
            }
            return
        }
        guard let start = edit.steps.cutTimes.first, let end = edit.steps.cutTimes.last else { return }
        ranges = part(from: start, to: end)
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
                // An unbounded end must remain unbounded.
                let bound = isEntire ? range.end : range.start + last
                result.append(MediaTimeRange(start: range.start + first, end: bound))
            }
            elapsed = elapsed + range.duration
        }
        return result
    }

    /// Returns the edit that preserves the remaining times; `nil` if none remain, or if there are too many ranges.
    ///
    /// The times of the edit are in the timeline before all removals.
    private func edit(of video: MediaPlaylist) -> PlaylistEdit? {
        guard let first = ranges.first, let last = ranges.last else { return nil }
        let unbounded = MediaTimeRange.unbounded.end
        let isJoined = zip(ranges, ranges.dropFirst()).allSatisfy { $0.end == $1.start }
        guard !isJoined else { return .trim(MediaTimeRange(start: first.start, end: last.end)) }
        var removed = first.start > .zero ? [MediaTimeRange(start: .zero, end: first.start)] : []
        removed += zip(ranges, ranges.dropFirst()).map { MediaTimeRange(start: $0.end, end: $1.start) }
        if last.end < unbounded { removed.append(MediaTimeRange(start: last.end, end: unbounded)) }
        guard removed.count <= SegmentRule.maximumRangeCount else { return nil }
        return .exclude(.seams(video.seams(removing: removed), of: nil))
    }
}

extension PlaylistEdit {
    /// The name of the edit that preserves a range.
    fileprivate static let trimName = trim(.unbounded).definition.name
    /// The name of the edit that removes a range.
    private static let cutName = cut(.unbounded).definition.name
    /// The name of the edit that removes the segments of a rule.
    private static let excludeName = exclude(.ranges([])).definition.name

    /// The ranges that the edit removes; `nil` for an edit that does not only remove segments.
    ///
    /// The array is empty for an edit that preserves a range.
    fileprivate var removedRanges: [MediaTimeRange]? {
        switch definition.name {
        case Self.trimName: return []
        case Self.cutName:
            guard let start = steps.cutTimes.first, let end = steps.cutTimes.last else { return nil }
            return [MediaTimeRange(start: start, end: end)]
        case Self.excludeName:
            switch SegmentRule(value) {
            case .seams(let seams, of: nil): return seams.map(\.range)
            case .ranges(let ranges) where ranges.isEmpty: return []
            case .seams, .ranges, .breaks, .address, nil: return nil
            }
        default: return nil
        }
    }
}
