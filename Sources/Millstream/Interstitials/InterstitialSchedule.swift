import MediaTiming

/// The schedule of the interstitials of an item: it decides which are due as the playhead moves and jumps, and where
/// the item resumes after them.
///
/// It uses no player and no clock (RFC 8216bis §D.2 and §D.5).
struct InterstitialSchedule: Sendable {
    /// An event, and its position.
    struct Entry: Sendable, Hashable {
        let event: InterstitialEvent
        /// The position at which the item is suspended.
        let start: MediaTime
    }

    /// Events that are played one after the other at one position.
    struct Break: Sendable, Hashable {
        /// The position at which the item resumes after a break.
        enum Resumption: Sendable, Hashable {
            /// The item resumes at the given position plus the sum of the resumption offsets of the events.
            case offset(from: MediaTime)
            /// The item resumes at the position that a viewer chose.
            case at(MediaTime)
        }

        let events: [InterstitialEvent]
        let resumption: Resumption
        /// The position that a viewer chose, at which the item resumes if no media of the break is played; `nil` to
        /// resume as the events determine.
        var requestedPosition: MediaTime?
        /// The distance from the start of a live interstitial to the position at which it is joined; `nil` if playback
        /// does not begin within one.
        var startOffset: MediaTime?
    }

    private(set) var entries: [Entry] = []
    /// The events that are played before the item.
    private(set) var joining: [InterstitialEvent] = []
    /// The events that are played after the item.
    private(set) var leaving: [InterstitialEvent] = []
    /// The identifiers of the events that were played, and are not played again unless the playhead moves back.
    private var consumed: Set<String> = []
    /// The identifiers of the events that are never played again.
    private var playedOnce: Set<String> = []
    private var hasJoined = false
    private var hasLeft = false
    /// The duration of the item that each event replaced when it was last played; zero for one that could not be
    /// played.
    private var replacedDurations: [String: MediaTime] = [:]
    /// The position from which the viewer tried to seek past an event that restricts jumps (`X-RESTRICT`); `nil` after
    /// the event was played.
    private var seekOrigin: MediaTime?
    /// The maximum number of events in one break.
    private static let maximumEvents = 50
    /// The position up to which all events were handled; `nil` before the playhead has a position.
    private var reached: MediaTime?

    /// Sets the scheduled events.
    ///
    /// - Parameters:
    ///   - events: The events, those at the same position in the order in which they are played.
    ///   - position: Returns the position of an event; `nil` if the item has no media there.
    mutating func update(_ events: [InterstitialEvent], position: (InterstitialEvent) -> MediaTime?) {
        joining = events.filter { $0.cue == .joinPrimary }
        leaving = events.filter { $0.cue == .leavePrimary }
        entries = events.filter { $0.cue == .none }
            .compactMap { event in position(event).map { Entry(event: event, start: $0) } }
            .enumerated()
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element)
        consumed.formIntersection(events.map(\.id))
        let ids = Set(events.map(\.id))
        replacedDurations = replacedDurations.filter { ids.contains($0.key) }
    }

    /// A Boolean value that indicates whether an event is to be played before the item.
    var awaitsStart: Bool { !hasJoined && joining.contains { isPlayable($0) } }

    /// Returns whether an event is to be played at the end of the item.
    ///
    /// - Parameter end: The end of the item; `nil` while it is unknown.
    /// - Returns: Whether the item must be suspended at its end.
    func awaitsEnd(at end: MediaTime?) -> Bool {
        if let end, let last = entries.last, isDue(last), last.start + Self.endTolerance >= end { return true }
        return !hasLeft && leaving.contains { isPlayable($0) }
    }

    /// The distance from the end of the item within which the start of an event counts as being at the end.
    private static let endTolerance = MediaTime(value: 50, timescale: 1000)

    /// The position of the next event that is due when the item is played forward.
    var nextStart: MediaTime? { next?.start }

    /// The next event that is due.
    var next: Entry? {
        guard let reached else { return entries.first { isDue($0) } }
        return entries.first { $0.start >= reached && isDue($0) }
    }

    /// Returns the break that is played before the item; `nil` after the first call.
    mutating func join(at position: MediaTime) -> Break? {
        guard !hasJoined else { return nil }
        hasJoined = true
        return takeBreak(joining.filter { isPlayable($0) }, .offset(from: position))
    }

    /// Sets the first position of the playhead.
    ///
    /// - Parameters:
    ///   - position: The position.
    ///   - isLive: Whether the stream is live, so that the server omits the part of an interstitial before the
    ///     position.
    /// - Returns: The break that replaces the media at the position.
    mutating func begin(at position: MediaTime, isLive: Bool) -> Break? {
        reached = position
        guard let entry = covering(position) else { return nil }
        // The part that the server omitted was not played. An explicit resumption offset still counts from the start of
        // the event.
        let isRest = isLive && entry.event.resumptionOffset == nil
        var found = takeBreak(at: entry.start, .offset(from: isRest ? position : entry.start))
        found?.requestedPosition = position
        if isLive { found?.startOffset = position - entry.start }
        return found
    }

    /// Moves the playhead by forward playback, and returns the break that is due.
    mutating func move(to position: MediaTime) -> Break? {
        guard let reached, let entry = next, entry.start <= position else {
            self.reached = max(reached ?? position, position)
            return nil
        }
        self.reached = max(reached, entry.start)
        let due = entries.filter { $0.start == entry.start && isDue($0) }
        return takeBreak(due.map(\.event), .offset(from: entry.start))
    }

    /// Moves the playhead to a position that a viewer chose, and returns the break that is due.
    mutating func jump(from old: MediaTime, to new: MediaTime) -> Break? {
        reached = new
        hasLeft = false
        consumed.subtract(entries.lazy.filter { $0.start >= new }.map(\.event.id))
        let origin = min(old, seekOrigin ?? old)
        let covering = covering(new)
        let barrier = entries.last { entry in
            entry.start > origin && entry.start < new && entry.event.id != covering?.event.id && isPlayable(entry.event)
                && entry.event.restrictions.contains(.constrainsSeekingForwardInPrimaryContent)
        }
        if let barrier {
            seekOrigin = origin
            // The break at the position that the viewer chose follows this one.
            if let covering { consumed.remove(covering.event.id) }
            return takeBreak(at: barrier.start, .at(covering?.start ?? new))
        }
        guard let covering else { return nil }
        seekOrigin = origin
        var found = takeBreak(at: covering.start, .offset(from: covering.start))
        found?.requestedPosition = new
        return found
    }

    /// Moves the playhead back by reverse playback.
    mutating func rewind(to position: MediaTime) {
        reached = position
        consumed.subtract(entries.lazy.filter { $0.start >= position }.map(\.event.id))
    }

    /// Records that an event was played, or could not be played.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - offset: The distance from its start to the position at which the item resumes.
    ///   - wasPlayed: Whether any of its media was played.
    mutating func recordPlayed(_ event: InterstitialEvent, offset: MediaTime, wasPlayed: Bool) {
        replacedDurations[event.id] = max(.zero, offset)
        if wasPlayed, event.willPlayOnce { playedOnce.insert(event.id) }
    }

    /// Records that a viewer left an event before its end.
    ///
    /// If the event restricts jumps, it is played before the viewer can seek past it.
    mutating func left(_ event: InterstitialEvent) {
        guard event.restrictions.contains(.constrainsSeekingForwardInPrimaryContent),
            let entry = entries.first(where: { $0.event.id == event.id })
        else { return }
        let before = entry.start - MediaTime(value: 1, timescale: 1000)
        seekOrigin = min(seekOrigin ?? before, before)
    }

    /// Ends the item, and returns the break that is due.
    mutating func end(at position: MediaTime) -> Break? {
        guard !hasLeft else { return nil }
        // Events at the end of the item are played before those after it.
        if let due = move(to: position + Self.endTolerance) { return due }
        hasLeft = true
        return takeBreak(leaving.filter { isPlayable($0) }, .at(position))
    }

    /// Returns the position at which the item resumes.
    ///
    /// - Parameters:
    ///   - resumption: The resumption of the break.
    ///   - played: The events of the break, with the offset of each; zero for one that could not be played.
    /// - Returns: The position, before it is moved to a segment boundary.
    static func target(
        _ resumption: Break.Resumption,
        _ played: [(event: InterstitialEvent, offset: MediaTime)]
    ) -> MediaTime {
        switch resumption {
        case .at(let time): time
        case .offset(let position): max(.zero, played.reduce(position) { $0 + $1.offset })
        }
    }

    /// Sets the position at which the item resumed after a break.
    mutating func resumed(at position: MediaTime) {
        reached = position
        seekOrigin = nil
    }

    // MARK: Queries

    private func isPlayable(_ event: InterstitialEvent) -> Bool { !playedOnce.contains(event.id) }

    private func isDue(_ entry: Entry) -> Bool { !consumed.contains(entry.event.id) && isPlayable(entry.event) }

    /// Returns the event that replaces the media at a position.
    private func covering(_ position: MediaTime) -> Entry? {
        entries.last { entry in
            let cover = min(
                entry.event.plannedReplacedDuration,
                replacedDurations[entry.event.id] ?? entry.event.plannedReplacedDuration
            )
            return entry.start < position && isPlayable(entry.event) && position < entry.start + cover
        }
    }

    private mutating func takeBreak(at start: MediaTime, _ resumption: Break.Resumption) -> Break? {
        takeBreak(entries.filter { $0.start == start && isPlayable($0.event) }.map(\.event), resumption)
    }

    private mutating func takeBreak(_ events: [InterstitialEvent], _ resumption: Break.Resumption) -> Break? {
        guard !events.isEmpty else { return nil }
        let events = Array(events.prefix(Self.maximumEvents))
        consumed.formUnion(events.map(\.id))
        return Break(events: events, resumption: resumption)
    }
}
