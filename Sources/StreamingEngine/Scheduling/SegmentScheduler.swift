import MediaTiming

/// Determines the next segment to load for a rendition.
///
/// It uses only media times: the next segment is the one at the end of the loaded range, regardless of the playlist
/// from which the loaded segments came.
struct SegmentScheduler: Sendable {
    /// The next action.
    enum Step: Sendable, Equatable {
        /// Load this segment.
        case fetch(SegmentReference)
        /// Skip this segment, which is marked as a gap; its time elapses without media.
        case skip(SegmentReference)
        /// The playlist contains no segment for this time range, but one after it.
        case gap(MediaTimeRange)
        /// The buffer is full until the playback position reaches this time.
        case wait(until: MediaTime)
        /// All segments in the playlist are loaded, and more are expected.
        case awaitPlaylist
        /// All segments up to the end are loaded.
        case complete
    }

    /// The gap tolerance: gaps up to this duration are ignored, because durations in playlists are rounded.
    static let gapTolerance = MediaTime(value: 1, timescale: 4)
    /// The minimum remainder of a segment for which the same time is loaded from another variant.
    private static let minimumRemainder = MediaTime(value: 1, timescale: 10)
    /// The distance up to which a time counts as the boundary of a segment, because times are rounded.
    private static let rounding = MediaTime(value: 1, timescale: 1_000)

    /// The playback position, or the target of a seek.
    var position: MediaTime
    /// The loaded time ranges, which are not loaded again.
    var loaded: MediaTimeRangeSet
    /// The maximum duration of buffered media.
    var capacity: MediaTime
    /// The time at which loading ends, or `nil` for the end of the playlist.
    var end: MediaTime?
    /// A Boolean value that indicates whether the buffer has reached its maximum size in bytes.
    var isByteLimitReached = false
    /// A Boolean value that indicates whether the exact frame at the position is required, so that the segment that
    /// contains it has to be loaded.
    var requiresExactFrame = false
    /// A Boolean value that indicates whether playback is in reverse, so that media before the position is needed.
    var isReverse = false

    /// The end of the contiguous loaded range from the position; in reverse, its start.
    var bufferedEnd: MediaTime {
        isReverse
            ? Self.loadedStart(from: position, in: loaded) : Self.loadedEnd(from: position, in: loaded)
    }

    /// The duration of the contiguous loaded range in the direction of playback.
    var bufferedDuration: MediaTime { isReverse ? position - bufferedEnd : bufferedEnd - position }

    /// Returns the end of the loaded range that contains a position, or the position itself if there is none.
    static func loadedEnd(from position: MediaTime, in loaded: MediaTimeRangeSet) -> MediaTime {
        if let range = loaded.range(containing: position) { return range.end }
        // Media rarely begins exactly at the time in the playlist.
        if let range = loaded.range(containing: position + gapTolerance) { return range.end }
        return position
    }

    /// Returns the start of the loaded range before a position, or the position itself if there is none.
    static func loadedStart(from position: MediaTime, in loaded: MediaTimeRangeSet) -> MediaTime {
        // A range that ends at the position is before it.
        if let range = loaded.range(containing: position - MediaTime(value: 1, timescale: 10_000)) {
            return range.start
        }
        if let range = loaded.range(containing: position - gapTolerance) { return range.start }
        return position
    }

    /// Returns whether the playlist contains a segment for a time that is not loaded.
    static func isMissing(_ time: MediaTime, in timeline: PresentationTimeline, _ loaded: MediaTimeRangeSet) -> Bool {
        guard !loaded.contains(time), let next = timeline.position(atOrAfter: time) else { return false }
        return timeline.range(at: next).contains(time)
    }

    /// Returns the next action.
    func nextStep(in timeline: PresentationTimeline) -> Step {
        guard !isReverse else { return nextReverseStep(in: timeline) }
        let isMissing = requiresExactFrame && Self.isMissing(position, in: timeline, loaded)
        let loadedEnd = isMissing ? position : bufferedEnd
        let limit = min(end ?? timeline.end, timeline.end)
        if loadedEnd >= limit || loadedEnd > position && isRemainder(after: loadedEnd, to: limit, in: timeline) {
            if let end, loadedEnd >= end { return .complete }
            return timeline.isLive ? .awaitPlaylist : .complete
        }
        let found = isMissing ? Self.position(atOrAfter: position, in: timeline) : index(at: loadedEnd, in: timeline)
        guard let next = found else { return timeline.isLive ? .awaitPlaylist : .complete }
        // The segment is created only if it is needed, because this function is called far more often than that.
        let range = timeline.range(at: next)
        let ahead = loadedEnd - position
        let limitDuration = max(capacity, range.duration * 2)
        // Media that is needed immediately is loaded even if the buffer is full.
        let isUrgent = ahead < min(range.duration, MediaTime(seconds: 2))
        if !isUrgent, isByteLimitReached || ahead + range.duration > limitDuration {
            return .wait(until: loadedEnd + range.duration - limitDuration)
        }
        if range.start - loadedEnd > Self.gapTolerance {
            return .gap(MediaTimeRange(start: loadedEnd, end: range.start))
        }
        let segment = timeline.segments[next]
        return segment.isGap ? .skip(segment) : .fetch(segment)
    }

    private func nextReverseStep(in timeline: PresentationTimeline) -> Step {
        // The playhead may be after the end of what is listed, as it is of the shorter of two tracks.
        let position = min(position, timeline.range.end)
        let reach = Self.loadedStart(from: position, in: loaded)
        let ahead = position - reach
        // A segment without a duration would be loaded again and again.
        guard !isRemainder(before: reach, in: timeline),
            let next = Self.position(atOrAfter: reach - Self.minimumRemainder, in: timeline)
        else { return .complete }
        let range = timeline.range(at: next)
        let room = max(capacity, range.duration * 2)
        let isUrgent = ahead < min(range.duration, MediaTime(seconds: 2))
        if !isUrgent, isByteLimitReached || ahead + range.duration > room {
            return .wait(until: reach - range.duration + room)
        }
        let segment = timeline.segments[next]
        return segment.isGap ? .skip(segment) : .fetch(segment)
    }

    /// Returns whether loading waits until some of the buffer has been played.
    func isFull(in timeline: PresentationTimeline) -> Bool {
        if isReverse {
            guard case .wait = nextReverseStep(in: timeline) else { return false }
            return true
        }
        let loadedEnd = bufferedEnd
        guard loadedEnd < min(end ?? timeline.end, timeline.end), let next = index(at: loadedEnd, in: timeline) else {
            return false
        }
        let duration = timeline.range(at: next).duration
        return loadedEnd - position + duration > max(capacity, duration * 2)
    }

    /// Returns whether what follows a time is only the rest of a segment, whose media is loaded from another variant.
    ///
    /// A segment that begins after the time is media that is not loaded, even if it is very short.
    private func isRemainder(after time: MediaTime, to limit: MediaTime, in timeline: PresentationTimeline) -> Bool {
        guard limit - time < Self.minimumRemainder else { return false }
        var end = time
        while end < limit, let position = Self.position(atOrAfter: end, in: timeline) {
            let range = timeline.range(at: position)
            if range.start >= time - Self.rounding { return range.start >= limit }
            end = range.end
        }
        return true
    }

    /// Returns whether what precedes a time is only the rest of the first segment, or nothing.
    private func isRemainder(before time: MediaTime, in timeline: PresentationTimeline) -> Bool {
        let start = timeline.range.start
        guard time > start, let first = Self.position(atOrAfter: start, in: timeline) else { return true }
        return time <= start + Self.minimumRemainder && timeline.range(at: first).end > time + Self.rounding
    }

    private func index(at time: MediaTime, in timeline: PresentationTimeline) -> Int? {
        guard let position = Self.position(atOrAfter: time, in: timeline) else { return nil }
        let range = timeline.range(at: position)
        let rest = range.end - time
        // If another variant's segment ends shortly before the end of this one, the next segment is used.
        if rest < Self.minimumRemainder, rest.duration < range.duration.duration / 2,
            let next = Self.position(atOrAfter: range.end, in: timeline)
        {
            return next
        }
        return position
    }

    /// Returns the first segment with a duration that ends after a time; one without would be loaded again and again.
    private static func position(atOrAfter time: MediaTime, in timeline: PresentationTimeline) -> Int? {
        var time = time
        while let position = timeline.position(atOrAfter: time) {
            let range = timeline.range(at: position)
            guard range.duration <= .zero else { return position }
            time = range.end
        }
        return nil
    }
}
