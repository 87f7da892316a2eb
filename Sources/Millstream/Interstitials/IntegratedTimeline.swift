public import MediaTiming

/// The timeline of an item together with its interstitials, as a viewer sees it
/// (`AVPlayerItemIntegratedTimelineSnapshot`).
///
/// An interstitial that fills time has its planned duration on the timeline; one that is a single point has none. An
/// interstitial for which the stream declares no duration is a point, since its duration is unknown until it is played.
public struct IntegratedTimeline: Sendable, Hashable {
    /// A range of the item, or an interstitial.
    public struct Segment: Sendable, Hashable {
        /// The interstitial; `nil` for a range of the item.
        public let event: InterstitialEvent?
        /// The time range of the item that is played; for an interstitial, an empty range at its start.
        public let source: MediaTimeRange
        /// The time range on the integrated timeline.
        public let target: MediaTimeRange
    }

    /// The segments, in the order in which they are played.
    public let segments: [Segment]
    /// The duration of the integrated timeline.
    public var duration: MediaTime { segments.last?.target.end ?? .zero }

    /// Creates the integrated timeline of an item.
    ///
    /// - Parameters:
    ///   - duration: The duration of the item.
    ///   - entries: The interstitials within the item, in the order of their positions.
    ///   - joining: The interstitials that are played before the item.
    ///   - leaving: The interstitials that are played after the item.
    init(
        duration: MediaTime,
        entries: [InterstitialSchedule.Entry],
        joining: [InterstitialEvent],
        leaving: [InterstitialEvent]
    ) {
        var segments: [Segment] = []
        var (position, time) = (MediaTime.zero, MediaTime.zero)
        func add(_ event: InterstitialEvent?, _ source: MediaTimeRange, length: MediaTime) {
            let target = MediaTimeRange(start: time, duration: length)
            segments.append(Segment(event: event, source: source, target: target))
            time = target.end
        }
        func add(_ event: InterstitialEvent, at position: MediaTime) {
            let point = MediaTimeRange(start: position, duration: .zero)
            add(event, point, length: event.timelineOccupancy == .fill ? event.plannedLength : .zero)
        }
        func play(to end: MediaTime) {
            guard end > position else { return }
            let source = MediaTimeRange(start: position, end: end)
            add(nil, source, length: source.duration)
            position = end
        }
        for event in joining { add(event, at: .zero) }
        position = joining.reduce(position) { max(.zero, $0 + $1.plannedOffset) }
        var index = entries.startIndex
        while index < entries.endIndex {
            let start = entries[index].start
            let group = entries[index...].prefix { $0.start == start }
            index = group.endIndex
            // An interstitial within the time that another one replaces is not played.
            guard start >= position, start <= duration else { continue }
            play(to: start)
            for entry in group { add(entry.event, at: start) }
            position = group.reduce(start) { max(.zero, $0 + $1.event.plannedOffset) }
        }
        play(to: duration)
        for event in leaving { add(event, at: duration) }
        self.segments = segments
    }

    /// Returns the time on the integrated timeline for a position of the item.
    ///
    /// - Parameters:
    ///   - position: The position of the playhead of the item.
    ///   - event: The identifier of the current interstitial; `nil` while the item itself is played.
    ///   - elapsed: The amount of the interstitial that was played.
    /// - Returns: The time on the integrated timeline.
    public func time(
        at position: MediaTime,
        in event: InterstitialEvent.ID? = nil,
        elapsed: MediaTime = .zero
    ) -> MediaTime {
        if let event, let segment = segments.first(where: { $0.event?.id == event }) {
            return min(segment.target.end, segment.target.start + max(.zero, elapsed))
        }
        let stretches = segments.filter { $0.event == nil }
        guard let segment = stretches.last(where: { $0.source.start <= position }) else {
            return stretches.first?.target.start ?? .zero
        }
        return min(segment.target.end, segment.target.start + (position - segment.source.start))
    }

    /// Returns the segment at a time.
    ///
    /// - Parameter time: The time on the integrated timeline.
    /// - Returns: The segment, and the position of the item at that time; `nil` if the timeline is empty.
    public func segment(at time: MediaTime) -> (segment: Segment, position: MediaTime)? {
        let found = segments.first { $0.target.contains(time) } ?? segments.last { $0.target.start <= time }
        return found.map { segment in
            let inside = min(segment.source.duration, max(.zero, time - segment.target.start))
            return (segment, segment.source.start + inside)
        }
    }
}

extension InterstitialEvent {
    /// The planned duration on the timeline; zero if the event declares none.
    fileprivate var plannedLength: MediaTime {
        let planned = plannedDuration ?? playoutLimit ?? .zero
        return playoutLimit.map { min($0, planned) } ?? planned
    }

    /// The planned distance from the start of the event to the position at which the item resumes.
    fileprivate var plannedOffset: MediaTime { resumptionOffset ?? plannedLength }
}

extension InterstitialController {
    /// The timeline of the current item with its interstitials; `nil` while the duration of the item is unknown, and
    /// for live streams.
    public var integratedTimeline: IntegratedTimeline? {
        guard let duration = primaryState.playback.duration else { return nil }
        let state = state
        return IntegratedTimeline(
            duration: duration,
            entries: state.entries,
            joining: state.events.filter { $0.cue == .joinPrimary },
            leaving: state.events.filter { $0.cue == .leavePrimary }
        )
    }

    /// The current time on ``integratedTimeline``; `nil` if there is no such timeline.
    public var integratedTime: MediaTime? {
        guard let timeline = integratedTimeline, let item = primaryState.currentItem else { return nil }
        return timeline.time(
            at: item.currentTime(),
            in: currentEvent?.id,
            elapsed: currentEventPlayoutTime ?? .zero
        )
    }
}
