import HTTPTypes
import Synchronization

/// Work that several clients wait for: it is done once for all of them, and canceled when none of them waits any longer.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let number: Int
        let task: Task<Value, any Error>
        /// The client that has begun the work; `nil` if clients have no shares.
        let client: RequestingClient?
        var waiterCount: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var places: ClientShares
        var lastNumber = 0

        mutating func remove(_ key: Key, _ number: Int) {
            guard let entry = entries[key], entry.number == number else { return }
            entries[key] = nil
            places.remove(entry.client)
        }
    }

    private let hasShares: Bool
    private let executor: (any TaskExecutor)?
    private let state: Mutex<State>

    /// The maximum number of attempts of a client, if work fails because of the client that began it.
    private static var maximumAttemptCount: Int { 4 }

    /// Creates an empty collection of work.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of keys with work at the same time.
    ///   - minimumShare: The number of keys with work that a client can begin in any case, if it has a share of them; `nil` for no shares.
    ///   - executor: The executor of the work; `nil` for the default one.
    init(maximumCount: Int, minimumShare: Int? = nil, executor: (any TaskExecutor)? = nil) {
        hasShares = minimumShare != nil
        self.executor = executor
        state = Mutex(State(places: ClientShares(total: maximumCount, minimum: minimumShare ?? maximumCount)))
    }

    /// The number of clients that wait.
    var waiterCount: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.waiterCount } } }

    /// Returns the result of the work for a key.
    ///
    /// The work begins unless another client already waits for it.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - work: The work, which must not depend on the client.
    /// - Returns: The result.
    /// - Throws: The error of the work; ``ServerError`` with 503 if there is too much work, with 429 if the client has begun too much of
    ///   it; `CancellationError`.
    func value(for key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        for _ in 1..<Self.maximumAttemptCount {
            let (number, task, isOwn) = try join(key, work)
            do {
                return try await result(of: task, key, number)
            } catch let error as ServerError where error.isOfOneClient && !isOwn {
                // The share of the client that began the work is used up, but the share of this client may not be.
                state.withLock { $0.remove(key, number) }
            }
        }
        let (number, task, _) = try join(key, work)
        return try await result(of: task, key, number)
    }

    /// Adds a client to the clients that wait for the work of a key.
    ///
    /// The first client begins the work.
    private func join(
        _ key: Key,
        _ work: @escaping @Sendable () async throws -> Value
    ) throws -> (number: Int, task: Task<Value, any Error>, isOwn: Bool) {
        try state.withLock { state in
            if var known = state.entries[key] {
                known.waiterCount += 1
                state.entries[key] = known
                return (known.number, known.task, false)
            }
            let client = hasShares ? RequestingClient.current : nil
            try state.places.add(client)
            state.lastNumber &+= 1
            // The work does not end with the connection of the client that begins it.
            let task = ClientPresence.$current.withValue(nil) {
                Task(executorPreference: executor) { try await work() }
            }
            state.entries[key] = Entry(number: state.lastNumber, task: task, client: client, waiterCount: 1)
            return (state.lastNumber, task, true)
        }
    }

    /// Waits for the result of work.
    private func result(of task: Task<Value, any Error>, _ key: Key, _ number: Int) async throws -> Value {
        let hasLeft = Mutex(false)
        defer { leave(key, number, hasLeft) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            leave(key, number, hasLeft)
        }
    }

    /// Removes a client from those that wait, once.
    private func leave(_ key: Key, _ number: Int, _ hasLeft: borrowing Mutex<Bool>) {
        let isFirst = hasLeft.withLock { hasLeft in
            defer { hasLeft = true }
            return !hasLeft
        }
        guard isFirst else { return }
        let task: Task<Value, any Error>? = state.withLock { state in
            guard var entry = state.entries[key], entry.number == number else { return nil }
            entry.waiterCount -= 1
            state.entries[key] = entry
            guard entry.waiterCount == 0 else { return nil }
            state.remove(key, number)
            return entry.task
        }
        task?.cancel()
    }
}
