import MediaTiming

/// Decides which interstitials are due as a play head moves and jumps, and where it goes on behind them.
///
/// It knows no player and no clock (RFC 8216bis §D.2 and §D.5).
struct InterstitialSchedule: Sendable {
    /// An event, and where it is.
    struct Entry: Sendable, Hashable {
        let event: InterstitialEvent
        /// Where the item is left.
        let start: MediaTime
    }

    /// Events that are played one after the other at one place.
    struct Break: Sendable, Hashable {
        /// Where the play head goes on behind them.
        enum Resumption: Sendable, Hashable {
            /// So far from a place as the events say.
            case offset(from: MediaTime)
            /// Where a viewer wanted to be.
            case at(MediaTime)
        }

        let events: [InterstitialEvent]
        let resumption: Resumption
        /// Where a viewer wanted to be, should nothing of it be played; `nil` for as the events say.
        var wanted: MediaTime?
        /// How far behind the beginning of a live interstitial playing begins; `nil` where it does not begin within one.
        var startOffset: MediaTime?
    }

    private(set) var entries: [Entry] = []
    /// Before the item.
    private(set) var joining: [InterstitialEvent] = []
    /// Behind its end.
    private(set) var leaving: [InterstitialEvent] = []
    /// What was played, and is not again unless the play head is moved back.
    private var consumed: Set<String> = []
    /// What is never played again.
    private var playedForGood: Set<String> = []
    private var hasJoined = false
    private var hasLeft = false
    /// For how much of the item each stood when it was played last: of one that could not be had, for nothing.
    private var covers: [String: MediaTime] = [:]
    /// From where a viewer seeks over what has to be seen first, until it was.
    private var unseenFrom: MediaTime?
    /// So many are played at one place at most.
    private static let mostEvents = 50
    /// Up to here all was decided; `nil` before the play head is anywhere.
    private var reached: MediaTime?

    /// Takes over what is scheduled now.
    ///
    /// - Parameters:
    ///   - events: In the order in which those of one place are played.
    ///   - place: Where an event is; `nil` where there is no such place.
    mutating func update(_ events: [InterstitialEvent], place: (InterstitialEvent) -> MediaTime?) {
        joining = events.filter { $0.cue == .joinPrimary }
        leaving = events.filter { $0.cue == .leavePrimary }
        entries = events.filter { $0.cue == .none }
            .compactMap { event in place(event).map { Entry(event: event, start: $0) } }
            .enumerated()
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element)
        consumed.formIntersection(events.map(\.id))
        let ids = Set(events.map(\.id))
        covers = covers.filter { ids.contains($0.key) }
    }

    /// Whether something is to be played before the item.
    var awaitsStart: Bool { !hasJoined && joining.contains { isPlayable($0) } }

    /// Whether something is to be played at the end.
    ///
    /// - Parameter end: Where that is; `nil` while it is not known.
    /// - Returns: Whether the end has to wait for it.
    func awaitsEnd(at end: MediaTime?) -> Bool {
        if let end, let last = entries.last, isDue(last), last.start + Self.closeness >= end { return true }
        return !hasLeft && leaving.contains { isPlayable($0) }
    }

    /// What is nearer to the end than this comes behind it.
    private static let closeness = MediaTime(value: 50, timescale: 1000)

    /// The next place where something is due, as the play head goes.
    var nextStart: MediaTime? { next?.start }

    /// The next event that is due.
    var next: Entry? {
        guard let reached else { return entries.first { isDue($0) } }
        return entries.first { $0.start >= reached && isDue($0) }
    }

    /// What comes before the item, once.
    mutating func join(at position: MediaTime) -> Break? {
        guard !hasJoined else { return nil }
        hasJoined = true
        return takeBreak(joining.filter { isPlayable($0) }, .offset(from: position))
    }

    /// The play head is somewhere for the first time.
    ///
    /// - Parameters:
    ///   - position: Where.
    ///   - isLive: Whether what is missed of an interstitial is left out by its server.
    /// - Returns: What stands for the media there.
    mutating func begin(at position: MediaTime, isLive: Bool) -> Break? {
        reached = position
        guard let entry = covering(position) else { return nil }
        // What its server left out of it was not played: an offset that is written counts from its place all the same.
        let isRest = isLive && entry.event.resumptionOffset == nil
        var found = takeBreak(at: entry.start, .offset(from: isRest ? position : entry.start))
        found?.wanted = position
        if isLive { found?.startOffset = position - entry.start }
        return found
    }

    /// The play head moved on by itself.
    mutating func move(to position: MediaTime) -> Break? {
        guard let reached, let entry = next, entry.start <= position else {
            self.reached = max(reached ?? position, position)
            return nil
        }
        self.reached = max(reached, entry.start)
        let due = entries.filter { $0.start == entry.start && isDue($0) }
        return takeBreak(due.map(\.event), .offset(from: entry.start))
    }

    /// A viewer moved the play head.
    mutating func jump(from old: MediaTime, to new: MediaTime) -> Break? {
        reached = new
        hasLeft = false
        consumed.subtract(entries.lazy.filter { $0.start >= new }.map(\.event.id))
        let origin = min(old, unseenFrom ?? old)
        let covering = covering(new)
        let barrier = entries.last { entry in
            entry.start > origin && entry.start < new && entry.event.id != covering?.event.id && isPlayable(entry.event)
                && entry.event.restrictions.contains(.constrainsSeekingForwardInPrimaryContent)
        }
        if let barrier {
            unseenFrom = origin
            // Behind it comes what stands for the place where the viewer wants to be.
            if let covering { consumed.remove(covering.event.id) }
            return takeBreak(at: barrier.start, .at(covering?.start ?? new))
        }
        guard let covering else { return nil }
        unseenFrom = origin
        var found = takeBreak(at: covering.start, .offset(from: covering.start))
        found?.wanted = new
        return found
    }

    /// The play head went back by itself, to a place.
    mutating func rewind(to position: MediaTime) {
        reached = position
        consumed.subtract(entries.lazy.filter { $0.start >= position }.map(\.event.id))
    }

    /// An event was played, or could not be.
    ///
    /// - Parameters:
    ///   - event: Which.
    ///   - offset: How far behind its place the item goes on for it.
    ///   - wasPlayed: Whether anything of it was.
    mutating func note(_ event: InterstitialEvent, offset: MediaTime, wasPlayed: Bool) {
        covers[event.id] = max(.zero, offset)
        if wasPlayed, event.willPlayOnce { playedForGood.insert(event.id) }
    }

    /// A viewer went elsewhere while an event was played: what has to be seen still has.
    mutating func left(_ event: InterstitialEvent) {
        guard event.restrictions.contains(.constrainsSeekingForwardInPrimaryContent),
            let entry = entries.first(where: { $0.event.id == event.id })
        else { return }
        let before = entry.start - MediaTime(value: 1, timescale: 1000)
        unseenFrom = min(unseenFrom ?? before, before)
    }

    /// The item ended.
    mutating func end(at position: MediaTime) -> Break? {
        guard !hasLeft else { return nil }
        // What stands at the very end comes before what comes behind it.
        if let due = move(to: position + Self.closeness) { return due }
        hasLeft = true
        return takeBreak(leaving.filter { isPlayable($0) }, .at(position))
    }

    /// Where the play head goes on.
    ///
    /// - Parameters:
    ///   - resumption: As the break says.
    ///   - played: The events of the break that were played, and how much of each; with 0 where one could not be.
    /// - Returns: Where, before it is brought to the border of a segment.
    static func target(
        _ resumption: Break.Resumption,
        _ played: [(event: InterstitialEvent, offset: MediaTime)]
    ) -> MediaTime {
        switch resumption {
        case .at(let time): time
        case .offset(let place): max(.zero, played.reduce(place) { $0 + $1.offset })
        }
    }

    /// The play head goes on behind a break.
    mutating func resumed(at position: MediaTime) {
        reached = position
        unseenFrom = nil
    }

    // MARK: Looking

    private func isPlayable(_ event: InterstitialEvent) -> Bool { !playedForGood.contains(event.id) }

    private func isDue(_ entry: Entry) -> Bool { !consumed.contains(entry.event.id) && isPlayable(entry.event) }

    /// The event that stands for what is at a place.
    private func covering(_ position: MediaTime) -> Entry? {
        entries.last { entry in
            let cover = min(entry.event.plannedCover, covers[entry.event.id] ?? entry.event.plannedCover)
            return entry.start < position && isPlayable(entry.event) && position < entry.start + cover
        }
    }

    private mutating func takeBreak(at start: MediaTime, _ resumption: Break.Resumption) -> Break? {
        takeBreak(entries.filter { $0.start == start && isPlayable($0.event) }.map(\.event), resumption)
    }

    private mutating func takeBreak(_ events: [InterstitialEvent], _ resumption: Break.Resumption) -> Break? {
        guard !events.isEmpty else { return nil }
        let events = Array(events.prefix(Self.mostEvents))
        consumed.formUnion(events.map(\.id))
        return Break(events: events, resumption: resumption)
    }
}
