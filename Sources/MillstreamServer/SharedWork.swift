import HTTPTypes
import Synchronization

/// Work that several clients wait for: it is done once for all of them, and canceled when none of them waits any longer.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let number: Int
        let task: Task<Value, any Error>
        var waiterCount: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var lastNumber = 0
    }

    private let maximumCount: Int
    private let state = Mutex(State())

    /// Creates an empty collection of work.
    ///
    /// - Parameter maximumCount: The maximum number of keys with work at the same time.
    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Returns the result of the work for a key, which begins unless another client waits for it already.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - work: The work, which must not depend on the client.
    /// - Returns: The result.
    /// - Throws: The error of the work; ``ServerError`` with 503 if there is too much work; `CancellationError`.
    func value(for key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (number, task) = try state.withLock { state in
            if var known = state.entries[key] {
                known.waiterCount += 1
                state.entries[key] = known
                return (known.number, known.task)
            }
            guard state.entries.count < maximumCount else {
                throw ServerError(
                    .serviceUnavailable,
                    "busy",
                    "the server is at capacity",
                    hint: "try again in a moment"
                )
            }
            state.lastNumber &+= 1
            // The work does not end with the connection of the client that begins it.
            let task = ClientPresence.$current.withValue(nil) { Task { try await work() } }
            state.entries[key] = Entry(number: state.lastNumber, task: task, waiterCount: 1)
            return (state.lastNumber, task)
        }
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
            state.entries[key] = entry.waiterCount > 0 ? entry : nil
            return entry.waiterCount > 0 ? nil : entry.task
        }
        task?.cancel()
    }
}
