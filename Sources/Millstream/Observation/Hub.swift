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
        var version: UInt64 = 1
        var isFinished = false
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var listeners: [Int: Listener] = [:]
    }

    private let storage: Mutex<Storage>

    init(_ state: State) { storage = Mutex(Storage(state: state)) }

    /// The current state.
    var state: State { storage.withLock { $0.state } }

    /// The version of the state, which increases with each change.
    var version: UInt64 { storage.withLock { $0.version } }

    /// Returns the state, its version, and whether there will be no further changes.
    func read() -> (state: State, version: UInt64, isFinished: Bool) {
        storage.withLock { ($0.state, $0.version, $0.isFinished) }
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
        var waiters: [CheckedContinuation<Void, Never>] = []
        defer { for waiter in waiters { waiter.resume() } }
        return try storage.withLock { storage throws(Failure) in
            var events: [Event] = []
            let result = try change(&storage.state, &events)
            storage.deliver(events)
            waiters = storage.advance()
            return result
        }
    }

    /// Marks the state as final and resumes all waiting tasks.
    func finish() {
        let waiters = storage.withLock { storage in
            storage.isFinished = true
            return storage.advance()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the version differs from the given one; also returns when the hub is finished or the task is
    /// cancelled.
    func wait(after seen: UInt64) async {
        let id = storage.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = storage.withLock { storage in
                    guard storage.version == seen, !storage.isFinished, !Task.isCancelled else { return false }
                    storage.waiters[id] = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            storage.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }

    /// Waits until the version differs from the given one, or until a deadline.
    func wait(after seen: UInt64, until deadline: Duration?, _ time: any TimeSource) async {
        guard let deadline else { return await wait(after: seen) }
        let delay = deadline - time.now
        guard delay > .zero, version == seen else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await time.sleep(for: delay) }
            group.addTask { await self.wait(after: seen) }
            await group.next()
            group.cancelAll()
        }
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
        storage.withLock { storage in
            let listener = storage.listeners[id]
            storage.listeners[id]?.buffer = []
            storage.listeners[id]?.dropped = 0
            return (listener?.buffer ?? [], listener?.dropped ?? 0, storage.version, storage.isFinished)
        }
    }
}

extension Hub.Storage {
    fileprivate mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Returns the waiting tasks in the order in which they began to wait, since the order of a dictionary differs from
    /// run to run.
    fileprivate mutating func advance() -> [CheckedContinuation<Void, Never>] {
        version &+= 1
        let woken = waiters.sorted { $0.key < $1.key }.map(\.value)
        waiters = [:]
        return woken
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
