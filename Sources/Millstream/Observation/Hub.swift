import MediaTiming
import Synchronization

/// A state that many read and watch, and the events that come with it.
///
/// State and events change under one lock, so that every watcher sees them in the order in which they happened. Nobody is
/// called under the lock: who waits is woken after it, and reads for itself.
final class Hub<State: Sendable, Event: Sendable>: Sendable {
    /// How many events are kept for a listener who does not read them.
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

    /// The state now.
    var state: State { storage.withLock { $0.state } }

    /// How many changes there were.
    var version: UInt64 { storage.withLock { $0.version } }

    /// What a watcher sees: the state, which change was the last, and whether there will be others.
    func read() -> (state: State, version: UInt64, isFinished: Bool) {
        storage.withLock { ($0.state, $0.version, $0.isFinished) }
    }

    /// Changes the state, and tells events.
    ///
    /// - Parameter change: Runs under the lock: it changes values and calls nobody.
    /// - Returns: What the change returned.
    /// - Throws: What the change threw; then nobody is told anything.
    @discardableResult
    func update<Result: Sendable, Failure: Error>(
        _ change: (inout State, inout [Event]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var waiters: [CheckedContinuation<Void, Never>] = []
        defer { for waiter in waiters { waiter.resume() } }
        return try storage.withLock { storage throws(Failure) in
            var events: [Event] = []
            let result = try change(&storage.state, &events)
            storage.tell(events)
            waiters = storage.advance()
            return result
        }
    }

    /// Says that nothing more will come.
    func finish() {
        let waiters = storage.withLock { storage in
            storage.isFinished = true
            return storage.advance()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for a change after the given one; returns at once where there was one, and when cancelled.
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

    /// Waits for a change after the given one, or until a time.
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
    /// Begins to keep events for a listener.
    ///
    /// - Parameter isWanted: Which; what nobody wants must not push out what somebody does. Runs under the lock.
    /// - Returns: What names the listener.
    func addListener(for isWanted: @escaping @Sendable (Event) -> Bool) -> Int {
        storage.withLock { storage in
            let id = storage.makeID()
            storage.listeners[id] = Listener(isWanted: isWanted)
            return id
        }
    }

    /// Forgets a listener.
    func removeListener(_ id: Int) {
        storage.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }

    /// What came for a listener since it asked last, and how many events were dropped before that.
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

    /// In the order in which they began to wait: a dictionary's own order differs from run to run.
    fileprivate mutating func advance() -> [CheckedContinuation<Void, Never>] {
        version &+= 1
        let woken = waiters.sorted { $0.key < $1.key }.map(\.value)
        waiters = [:]
        return woken
    }

    fileprivate mutating func tell(_ events: [Event]) {
        guard !events.isEmpty, !listeners.isEmpty else { return }
        for id in listeners.keys { listeners[id]?.append(events) }
    }
}

extension Hub.Listener {
    /// The newest are kept: what is true now matters more than what was.
    fileprivate mutating func append(_ events: [Event]) {
        buffer += events.filter(isWanted)
        let excess = buffer.count - Hub.bufferSize
        guard excess > 0 else { return }
        // In blocks: to shift a thousand events for each new one would cost a slow listener's neighbours.
        let removed = max(excess, Hub.bufferSize / 4)
        buffer.removeFirst(removed)
        dropped += removed
    }
}
