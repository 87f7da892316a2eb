import MediaTiming

/// Decides which segment of a rendition is fetched next.
///
/// It goes by time alone: where what is loaded ends, the next segment begins, whichever playlist it comes from.
struct SegmentScheduler: Sendable {
    /// What is to be done.
    enum Step: Sendable, Equatable {
        /// This segment is next.
        case fetch(SegmentReference)
        /// There is no media for this segment: its time passes without.
        case pass(SegmentReference)
        /// The playlist lists nothing for this time, but something behind it.
        case hole(MediaTimeRange)
        /// Enough lies ahead until the play head comes to this time.
        case wait(until: MediaTime)
        /// Everything that is listed is loaded; more will be listed.
        case awaitPlaylist
        /// Everything up to the end is loaded.
        case complete
    }

    /// Holes up to this long are nobody's fault: durations in playlists are rounded.
    static let seam = MediaTime(value: 1, timescale: 4)
    /// A rest of a segment that is shorter than this is not fetched again from another variant.
    private static let crumb = MediaTime(value: 1, timescale: 10)

    /// The play head, or where it is to be.
    var position: MediaTime
    /// What is loaded, and need not be fetched again.
    var loaded: MediaTimeRangeSet
    /// How much may lie ahead.
    var capacity: MediaTime
    /// Where to stop; `nil` for the end of what is listed.
    var end: MediaTime?
    /// Whether the buffer holds as many bytes as it may.
    var isOutOfMemory = false
    /// Whether the very picture of the position is wanted: then what is listed for it has to be there.
    var isExact = false
    /// Whether it is played backwards: then what lies before the play head is what is needed.
    var isBackward = false

    /// Up to where it can be played without a hole; backwards, down to where.
    var reach: MediaTime {
        isBackward
            ? Self.loadedStart(from: position, in: loaded) : Self.loadedEnd(from: position, in: loaded)
    }

    /// How much lies ahead of the play head, whichever way it goes.
    var ahead: MediaTime { isBackward ? position - reach : reach - position }

    /// Up to where `loaded` goes on from a time; the time itself where nothing is there.
    static func loadedEnd(from position: MediaTime, in loaded: MediaTimeRangeSet) -> MediaTime {
        if let range = loaded.range(containing: position) { return range.end }
        // Media seldom begins exactly where a playlist says.
        if let range = loaded.range(containing: position + seam) { return range.end }
        return position
    }

    /// Down to where `loaded` goes on before a time; the time itself where nothing is there.
    static func loadedStart(from position: MediaTime, in loaded: MediaTimeRangeSet) -> MediaTime {
        // What ends at the play head lies before it.
        if let range = loaded.range(containing: position - MediaTime(value: 1, timescale: 10_000)) {
            return range.start
        }
        if let range = loaded.range(containing: position - seam) { return range.start }
        return position
    }

    /// Whether a segment is listed for a time and not loaded.
    static func isMissing(_ time: MediaTime, in timeline: PresentationTimeline, _ loaded: MediaTimeRangeSet) -> Bool {
        guard !loaded.contains(time), let next = timeline.position(atOrAfter: time) else { return false }
        return timeline.range(at: next).contains(time)
    }

    /// What is next.
    func step(in timeline: PresentationTimeline) -> Step {
        guard !isBackward else { return stepBack(in: timeline) }
        let isMissing = isExact && Self.isMissing(position, in: timeline, loaded)
        let loadedEnd = isMissing ? position : reach
        let limit = min(end ?? timeline.end, timeline.end)
        if loadedEnd >= limit || limit - loadedEnd < Self.crumb && loadedEnd > position {
            if let end, loadedEnd >= end { return .complete }
            return timeline.isLive ? .awaitPlaylist : .complete
        }
        let found = isMissing ? timeline.position(atOrAfter: position) : index(at: loadedEnd, in: timeline)
        guard let next = found else { return timeline.isLive ? .awaitPlaylist : .complete }
        // The segment itself is made only where it is wanted: this is asked far more often.
        let range = timeline.range(at: next)
        let ahead = loadedEnd - position
        let room = max(capacity, range.duration * 2)
        // What a person waits for is fetched, however full the buffer is behind it.
        let isUrgent = ahead < min(range.duration, MediaTime(seconds: 2))
        if !isUrgent, isOutOfMemory || ahead + range.duration > room {
            return .wait(until: loadedEnd + range.duration - room)
        }
        if range.start - loadedEnd > Self.seam { return .hole(MediaTimeRange(start: loadedEnd, end: range.start)) }
        let segment = timeline.segments[next]
        return segment.isGap ? .pass(segment) : .fetch(segment)
    }

    private func stepBack(in timeline: PresentationTimeline) -> Step {
        // The play head may be a little behind what is listed.
        let reach = min(reach, timeline.range.end)
        guard reach > timeline.range.start + Self.crumb,
            var next = timeline.position(atOrAfter: reach - Self.crumb)
        else { return .complete }
        if timeline.range(at: next).start >= reach {
            guard next > 0 else { return .complete }
            next -= 1
        }
        let range = timeline.range(at: next)
        let room = max(capacity, range.duration * 2)
        let isUrgent = ahead < min(range.duration, MediaTime(seconds: 2))
        if !isUrgent, isOutOfMemory || ahead + range.duration > room {
            return .wait(until: reach - range.duration + room)
        }
        if reach - range.end > Self.seam { return .hole(MediaTimeRange(start: range.end, end: reach)) }
        let segment = timeline.segments[next]
        return segment.isGap ? .pass(segment) : .fetch(segment)
    }

    /// Whether nothing more is fetched before some of what is there is played.
    func isFull(in timeline: PresentationTimeline) -> Bool {
        if isBackward {
            guard case .wait = stepBack(in: timeline) else { return false }
            return true
        }
        let loadedEnd = reach
        guard loadedEnd < min(end ?? timeline.end, timeline.end), let next = index(at: loadedEnd, in: timeline) else {
            return false
        }
        let duration = timeline.range(at: next).duration
        return loadedEnd - position + duration > max(capacity, duration * 2)
    }

    private func index(at time: MediaTime, in timeline: PresentationTimeline) -> Int? {
        guard let position = timeline.position(atOrAfter: time) else { return nil }
        let range = timeline.range(at: position)
        let rest = range.end - time
        // The end of a segment that another variant's reached almost: the next one will do.
        if time > range.start, rest < Self.crumb, rest.duration < range.duration.duration / 2,
            position + 1 < timeline.segments.count
        {
            return position + 1
        }
        return position
    }
}
