import Synchronization

/// An asynchronous sequence of the events that occur after this value was created, in order.
///
/// Up to 1,024 unread events are buffered; if there are more, the oldest are dropped. If the event type has a case for
/// it, an event reports the number of dropped events. The sequence ends when the observed object is deallocated. Only
/// one loop can iterate over a value; use a separate value for each loop.
public struct EventUpdates<Event: Sendable>: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = Event
    /// The type of errors; the sequence never throws.
    public typealias Failure = Never

    private let take: @Sendable () -> Taken
    private let wait: @Sendable (UInt64) async -> Void

    fileprivate struct Taken: Sendable {
        let events: [Event]
        let version: UInt64
        let isFinished: Bool
    }

    /// Creates a sequence of the events of a hub.
    ///
    /// - Parameters:
    ///   - hub: The source of the events.
    ///   - dropped: Returns the event that reports the number of dropped events; `nil` if there is none.
    ///   - convert: Converts an event; `nil` omits it.
    init<State, Told>(
        _ hub: Hub<State, Told>,
        dropped: @escaping @Sendable (Int) -> Event?,
        _ convert: @escaping @Sendable (Told) -> Event?
    ) {
        let listening = ListenerRegistration(hub) { convert($0) != nil }
        take = {
            let taken = listening.hub.takeEvents(of: listening.id)
            var events = taken.events.compactMap(convert)
            if taken.dropped > 0, let told = dropped(taken.dropped) { events.insert(told, at: 0) }
            return Taken(events: events, version: taken.version, isFinished: taken.isFinished)
        }
        wait = { await listening.hub.wait(after: $0) }
    }

    /// Creates a sequence that merges the events of several others.
    ///
    /// - Parameters:
    ///   - sources: The sequences to merge.
    ///   - areInOrder: Returns whether the first event precedes the second. Of the events that are available, the first
    ///     is returned first.
    init(merging sources: [EventUpdates], by areInOrder: @escaping @Sendable (Event, Event) -> Bool) {
        // The version of each source at its last read.
        let progress = MergeProgress(count: sources.count)
        take = {
            let taken = sources.map { $0.take() }
            progress.record(taken.map { $0.isFinished ? nil : $0.version })
            let events = taken.flatMap(\.events).enumerated()
                // Events that compare as equal stay in the order of their sources.
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

    /// Creates an iterator over the events.
    public func makeAsyncIterator() -> Iterator { Iterator(take: take, wait: wait) }

    /// An iterator over events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let take: @Sendable () -> Taken
        fileprivate let wait: @Sendable (UInt64) async -> Void
        private var ready: ArraySlice<Event> = []

        fileprivate init(take: @escaping @Sendable () -> Taken, wait: @escaping @Sendable (UInt64) async -> Void) {
            self.take = take
            self.wait = wait
        }

        /// Waits for the next event.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The event; `nil` if there will be no more events or the task is canceled.
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

/// The versions up to which several sources have been read.
private final class MergeProgress: Sendable {
    private let state: Mutex<[UInt64?]>

    init(count: Int) { state = Mutex(Array(repeating: nil, count: count)) }

    /// The version of each source; `nil` for one that has ended.
    var versions: [UInt64?] { state.withLock { $0 } }

    func record(_ versions: [UInt64?]) { state.withLock { $0 = versions } }
}

/// A registration that buffers events for a reader until it is released.
private final class ListenerRegistration<State: Sendable, Event: Sendable>: Sendable {
    let hub: Hub<State, Event>
    let id: Int

    init(_ hub: Hub<State, Event>, _ isWanted: @escaping @Sendable (Event) -> Bool) {
        self.hub = hub
        id = hub.addListener(for: isWanted)
    }

    deinit { hub.removeListener(id) }
}
