public import MediaTiming

/// An item together with what is played in between, as a viewer goes through it (`AVPlayerItemIntegratedTimelineSnapshot`).
///
/// What fills time has it here; what is a point has none. How long an event is, is what its stream says of it: of one that
/// does not say, nothing is known before it was played, and it is a point.
public struct IntegratedTimeline: Sendable, Hashable {
    /// A stretch of the item, or an event.
    public struct Segment: Sendable, Hashable {
        /// What is played in between; `nil` for a stretch of the item.
        public let event: InterstitialEvent?
        /// What is played of the item; of an event, its place without length.
        public let source: MediaTimeRange
        /// Where it lies for a viewer.
        public let target: MediaTimeRange
    }

    /// In the order in which they are played.
    public let segments: [Segment]
    /// How long all of it is.
    public var duration: MediaTime { segments.last?.target.end ?? .zero }

    /// Makes the timeline of an item.
    ///
    /// - Parameters:
    ///   - duration: How long the item is.
    ///   - entries: What is played in it, in the order of its places.
    ///   - joining: What is played before it.
    ///   - leaving: What is played behind it.
    init(
        duration: MediaTime,
        entries: [InterstitialSchedule.Entry],
        joining: [InterstitialEvent],
        leaving: [InterstitialEvent]
    ) {
        var segments: [Segment] = []
        var (place, time) = (MediaTime.zero, MediaTime.zero)
        func add(_ event: InterstitialEvent?, _ source: MediaTimeRange, length: MediaTime) {
            let target = MediaTimeRange(start: time, duration: length)
            segments.append(Segment(event: event, source: source, target: target))
            time = target.end
        }
        func add(_ event: InterstitialEvent, at place: MediaTime) {
            let point = MediaTimeRange(start: place, duration: .zero)
            add(event, point, length: event.timelineOccupancy == .fill ? event.plannedLength : .zero)
        }
        func play(to end: MediaTime) {
            guard end > place else { return }
            let source = MediaTimeRange(start: place, end: end)
            add(nil, source, length: source.duration)
            place = end
        }
        for event in joining { add(event, at: .zero) }
        place = joining.reduce(place) { max(.zero, $0 + $1.plannedOffset) }
        var index = entries.startIndex
        while index < entries.endIndex {
            let start = entries[index].start
            let group = entries[index...].prefix { $0.start == start }
            index = group.endIndex
            // What lies within the time that another stands for is passed.
            guard start >= place, start <= duration else { continue }
            play(to: start)
            for entry in group { add(entry.event, at: start) }
            place = group.reduce(start) { max(.zero, $0 + $1.event.plannedOffset) }
        }
        play(to: duration)
        for event in leaving { add(event, at: duration) }
        self.segments = segments
    }

    /// Where a viewer is.
    ///
    /// - Parameters:
    ///   - position: The play head of the item.
    ///   - event: What is played in between; `nil` while the item itself is.
    ///   - elapsed: How much of it was.
    /// - Returns: The time on this timeline.
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

    /// What is played at a time.
    ///
    /// - Parameter time: On this timeline.
    /// - Returns: The segment, and where the item is then; `nil` for a timeline of nothing.
    public func segment(at time: MediaTime) -> (segment: Segment, position: MediaTime)? {
        let found = segments.first { $0.target.contains(time) } ?? segments.last { $0.target.start <= time }
        return found.map { segment in
            let inside = min(segment.source.duration, max(.zero, time - segment.target.start))
            return (segment, segment.source.start + inside)
        }
    }
}

extension InterstitialEvent {
    /// How long it is said to be; zero where nobody does.
    fileprivate var plannedLength: MediaTime {
        let planned = plannedDuration ?? playoutLimit ?? .zero
        return playoutLimit.map { min($0, planned) } ?? planned
    }

    /// How far behind its place the item is said to go on.
    fileprivate var plannedOffset: MediaTime { resumptionOffset ?? plannedLength }
}

extension InterstitialController {
    /// The current item together with what is scheduled in it; `nil` while its length is not known, and of what is live.
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

    /// Where a viewer is on ``integratedTimeline``; `nil` where there is none.
    public var integratedTime: MediaTime? {
        guard let timeline = integratedTimeline, let item = primaryState.currentItem else { return nil }
        return timeline.time(
            at: item.currentTime(),
            in: currentEvent?.id,
            elapsed: currentEventPlayoutTime ?? .zero
        )
    }
}
