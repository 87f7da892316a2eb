import MediaTiming
import Synchronization

/// A shared state with many readers and observers, and the events that accompany its changes.
///
/// State and events change under one lock, so that every observer sees them in the order in which they occurred. No
/// callbacks run under the lock: waiting tasks are resumed after it is released, and read the state themselves.
final class Hub<State: Sendable, Event: Sendable>: Sendable {
    /// The maximum number of events that are buffered for a listener that does not read them.
    static var bufferSize: Int { 1_024 }

    fileprivate struct Listener {
        var isWanted: @Sendable (Event) -> Bool
        var buffer: [Event] = []
        var dropped = 0
    }

    fileprivate struct Storage {
        var state: State
        var isFinished = false
        var lastID = 0
        var listeners: [Int: Listener] = [:]
    }

    private let storage: Mutex<Storage>
    /// The changes of the state; the first is its creation.
    private let changes = Broadcast(count: 1)

    init(_ state: State) { storage = Mutex(Storage(state: state)) }

    /// The current state.
    var state: State { storage.withLock { $0.state } }

    /// The version of the state, which increases with each change.
    var version: UInt64 { changes.count }

    /// Returns the state, its version, and whether there will be no further changes.
    func read() -> (state: State, version: UInt64, isFinished: Bool) {
        // The version first: if the state changes in between, the next wait returns at once, and no change is lost.
        let version = version
        return storage.withLock { ($0.state, version, $0.isFinished) }
    }

    /// Changes the state and delivers events to listeners.
    ///
    /// - Parameter change: Runs under the lock; it must change values only, and call no other code.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure; no events are delivered then.
    @discardableResult
    func update<Result: Sendable, Failure: Error>(
        _ change: (inout State, inout [Event]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try storage.withLock { storage throws(Failure) in
            var events: [Event] = []
            let result = try change(&storage.state, &events)
            storage.deliver(events)
            return result
        }
        changes.notify()
        return result
    }

    /// Marks the state as final and resumes all waiting tasks.
    func finish() {
        storage.withLock { $0.isFinished = true }
        changes.notify()
    }

    /// Waits until the version differs from the given one, until a deadline at most; also returns when the hub is
    /// finished or the task is canceled.
    func wait(after seen: UInt64, until deadline: Duration? = nil, _ time: any TimeSource = SystemTimeSource()) async {
        guard !storage.withLock({ $0.isFinished }) else { return }
        await changes.wait(after: seen, until: deadline, time)
    }
}

extension Hub {
    /// Starts to buffer events for a listener.
    ///
    /// - Parameter isWanted: Returns whether the listener needs an event, so that unneeded events do not displace
    ///   needed ones. Runs under the lock.
    /// - Returns: The identifier of the listener.
    func addListener(for isWanted: @escaping @Sendable (Event) -> Bool) -> Int {
        storage.withLock { storage in
            let id = storage.makeID()
            storage.listeners[id] = Listener(isWanted: isWanted)
            return id
        }
    }

    /// Removes a listener.
    func removeListener(_ id: Int) {
        storage.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }

    /// Removes and returns the buffered events of a listener, with the number of events that were dropped before them.
    func takeEvents(of id: Int) -> (events: [Event], dropped: Int, version: UInt64, isFinished: Bool) {
        let version = version
        return storage.withLock { storage in
            let listener = storage.listeners[id]
            storage.listeners[id]?.buffer = []
            storage.listeners[id]?.dropped = 0
            return (listener?.buffer ?? [], listener?.dropped ?? 0, version, storage.isFinished)
        }
    }
}

extension Hub.Storage {
    fileprivate mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    fileprivate mutating func deliver(_ events: [Event]) {
        guard !events.isEmpty, !listeners.isEmpty else { return }
        for id in listeners.keys { listeners[id]?.append(events) }
    }
}

extension Hub.Listener {
    /// Buffers events; at the limit the oldest are dropped, since newer events describe the current state.
    fileprivate mutating func append(_ events: [Event]) {
        buffer += events.filter(isWanted)
        let excess = buffer.count - Hub.bufferSize
        guard excess > 0 else { return }
        // Dropped in blocks: moving a thousand events for each new one would slow down all other listeners.
        let removed = max(excess, Hub.bufferSize / 4)
        buffer.removeFirst(removed)
        dropped += removed
    }
}
