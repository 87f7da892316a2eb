import Synchronization

/// Everything that happens from the moment on at which this value was made, in order.
///
/// Up to 1,024 events wait for a reader who is slow; beyond that the oldest are dropped, and where events have a case for it,
/// one says how many. It ends when what it tells of is gone. One loop reads one value; ask for another for another loop.
public struct EventUpdates<Event: Sendable>: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = Event
    /// It never fails.
    public typealias Failure = Never

    private let take: @Sendable () -> Taken
    private let wait: @Sendable (UInt64) async -> Void

    fileprivate struct Taken: Sendable {
        let events: [Event]
        let version: UInt64
        let isFinished: Bool
    }

    /// - Parameters:
    ///   - hub: Where events come from.
    ///   - dropped: The event that says how many were dropped.
    ///   - convert: What is made of an event; `nil` for nothing.
    init<State, Told>(
        _ hub: Hub<State, Told>,
        dropped: @escaping @Sendable (Int) -> Event?,
        _ convert: @escaping @Sendable (Told) -> Event?
    ) {
        let listening = Listening(hub) { convert($0) != nil }
        take = {
            let taken = listening.hub.takeEvents(of: listening.id)
            var events = taken.events.compactMap(convert)
            if taken.dropped > 0, let told = dropped(taken.dropped) { events.insert(told, at: 0) }
            return Taken(events: events, version: taken.version, isFinished: taken.isFinished)
        }
        wait = { await listening.hub.wait(after: $0) }
    }

    /// Several as one.
    ///
    /// - Parameters:
    ///   - sources: What is read.
    ///   - areInOrder: Whether an event comes before another; of what has come, the earlier is given first.
    init(merging sources: [EventUpdates], by areInOrder: @escaping @Sendable (Event, Event) -> Bool) {
        // What each source was when it was read last.
        let progress = MergeProgress(count: sources.count)
        take = {
            let taken = sources.map { $0.take() }
            progress.note(taken.map { $0.isFinished ? nil : $0.version })
            let events = taken.flatMap(\.events).enumerated()
                // Those of one moment stay in the order of their sources.
                .sorted { left, right in
                    if areInOrder(left.element, right.element) { return true }
                    return !areInOrder(right.element, left.element) && left.offset < right.offset
                }
            return Taken(events: events.map(\.element), version: 0, isFinished: taken.allSatisfy(\.isFinished))
        }
        wait = { _ in
            await withTaskGroup(of: Void.self) { group in
                for (source, version) in zip(sources, progress.versions) {
                    if let version { group.addTask { await source.wait(version) } }
                }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(take: take, wait: wait) }

    /// Gives one event after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let take: @Sendable () -> Taken
        fileprivate let wait: @Sendable (UInt64) async -> Void
        private var ready: ArraySlice<Event> = []

        fileprivate init(take: @escaping @Sendable () -> Taken, wait: @escaping @Sendable (UInt64) async -> Void) {
            self.take = take
            self.wait = wait
        }

        /// Waits for an event.
        ///
        /// - Parameter actor: Where the caller is.
        /// - Returns: The event; `nil` when there will be none, and when cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Event? {
            while !Task.isCancelled {
                if let event = ready.popFirst() { return event }
                let taken = take()
                ready = taken.events[...]
                if !ready.isEmpty { continue }
                if taken.isFinished { return nil }
                await wait(taken.version)
            }
            return nil
        }
    }
}

/// How far each of several sources was read.
private final class MergeProgress: Sendable {
    private let state: Mutex<[UInt64?]>

    init(count: Int) { state = Mutex(Array(repeating: nil, count: count)) }

    /// `nil` for one that has ended.
    var versions: [UInt64?] { state.withLock { $0 } }

    func note(_ versions: [UInt64?]) { state.withLock { $0 = versions } }
}

/// Keeps events as long as somebody may read them.
private final class Listening<State: Sendable, Event: Sendable>: Sendable {
    let hub: Hub<State, Event>
    let id: Int

    init(_ hub: Hub<State, Event>, _ isWanted: @escaping @Sendable (Event) -> Bool) {
        self.hub = hub
        id = hub.addListener(for: isWanted)
    }

    deinit { hub.removeListener(id) }
}
