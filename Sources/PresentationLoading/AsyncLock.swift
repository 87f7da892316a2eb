import Synchronization

/// A lock that tasks wait for without blocking a thread, in the order in which they asked for it.
final class AsyncLock: Sendable {
    private struct State {
        var isHeld = false
        var lastWaiter: UInt64 = 0
        var waiters: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    /// Performs work while no other work is performed.
    ///
    /// - Throws: `CancellationError` if the task is canceled while it waits, or the error of the work.
    func withLock<Result>(_ work: () async throws -> Result) async throws -> Result {
        try await acquire()
        defer { release() }
        return try await work()
    }

    private func acquire() async throws {
        let id = state.withLock { state in
            state.lastWaiter &+= 1
            return state.lastWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    // A cancellation after this check finds the waiter in the list.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.isHeld else {
                        state.isHeld = true
                        return .success(())
                    }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func release() {
        let next = state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.isHeld = false
                return CheckedContinuation<Void, any Error>?.none
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume()
    }
}
