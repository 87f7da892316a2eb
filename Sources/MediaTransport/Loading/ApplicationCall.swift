import MediaTiming
import ResourceAddressing
import Synchronization

/// A call of a closure of an application, which may return late, or never.
enum ApplicationCall {
    /// Returns the result of a closure, and stops waiting for it after a time limit or when the task is canceled.
    ///
    /// The closure runs in a task of its own, which is canceled then, so that a closure that ignores the cancellation
    /// does not delay the request.
    ///
    /// - Parameters:
    ///   - limit: The time limit; `nil` for none.
    ///   - time: The clock.
    ///   - address: The URL of the request, for the error.
    ///   - action: The action that was not completed, for the message of the error, such as “signed the request”.
    ///   - call: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure; ``TransportError`` after the time limit; `CancellationError`.
    static func result<Value: Sendable>(
        within limit: Duration?,
        _ time: any TimeSource,
        of address: ResourceAddress?,
        _ action: String,
        _ call: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = Outcome<Value>()
        let task = Task(executorPreference: time.taskExecutor) {
            do {
                outcome.store(.success(try await call()))
            } catch {
                outcome.store(.failure(error))
            }
        }
        defer { task.cancel() }
        let deadline = limit.map { time.now + $0 }
        while true {
            let seen = outcome.changes.count
            if let result = outcome.result { return try result.get() }
            try Task.checkCancellation()
            if let limit, let deadline, time.now >= deadline {
                throw TransportError(
                    .timedOut,
                    "the application has not \(action) within \(limit)",
                    address: address
                )
            }
            await outcome.changes.wait(after: seen, until: deadline, time)
        }
    }

    /// The result of a closure, for the task that waits for it.
    private final class Outcome<Value: Sendable>: Sendable {
        let changes = Broadcast()
        private let state = Mutex<Result<Value, any Error>?>(nil)

        var result: Result<Value, any Error>? { state.withLock { $0 } }

        func store(_ result: Result<Value, any Error>) {
            state.withLock { $0 = result }
            changes.notify()
        }
    }
}
