import MediaTiming
import NIOPosix
import Synchronization

/// Operations that block their thread, such as those on files.
package enum BlockingOperation {
    /// Performs an operation on a thread of the shared pool; simulated time stands still meanwhile.
    ///
    /// - Parameter body: The operation, which must not wait for other tasks.
    /// - Returns: The result of the operation.
    /// - Throws: The error of the operation, or `CancellationError` if the task is canceled before it begins.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await RealTimeOperation.wait { try await NIOThreadPool.singleton.runIfActive(body) }
    }

    /// Performs an operation on a thread of the shared pool, and waits for it at most until the task is canceled.
    ///
    /// Use it for operations that can take long with hostile input. One that has begun continues after the cancellation,
    /// and its result is discarded.
    ///
    /// - Parameter body: The operation, which must not wait for other tasks.
    /// - Returns: The result of the operation.
    /// - Throws: The error of the operation, or `CancellationError` if the task is canceled before the operation ends.
    package static func runUntilCanceled<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let operation = AbandonableOperation(body)
        return try await RealTimeOperation.wait { try await operation.run() }
    }
}

/// An operation on a thread of the shared pool for which a task waits until it is canceled.
private final class AbandonableOperation<Value: Sendable>: Sendable {
    private enum State {
        case idle
        case running(CheckedContinuation<Value, any Error>)
        case ended
    }

    private let state = Mutex(State.idle)
    private let body: @Sendable () throws -> Value

    init(_ body: @escaping @Sendable () throws -> Value) { self.body = body }

    /// Performs the operation; called once.
    ///
    /// - Returns: The result of the operation.
    /// - Throws: The error of the operation, or `CancellationError`.
    func run() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { start($0) }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    private func start(_ continuation: CheckedContinuation<Value, any Error>) {
        let isCanceled = state.withLock { state in
            guard case .idle = state else { return true }
            state = .running(continuation)
            return false
        }
        guard !isCanceled else {
            continuation.resume(throwing: CancellationError())
            return
        }
        NIOThreadPool.singleton.submit { workState in
            switch workState {
            case .active: self.perform()
            case .cancelled: self.end(.failure(CancellationError()))
            }
        }
    }

    /// Performs the operation on the current thread, unless the task was canceled before.
    private func perform() {
        let isRunning = state.withLock { state in
            guard case .running = state else { return false }
            return true
        }
        if isRunning { end(Result { try body() }) }
    }

    /// Resumes the task that waits, if any, with a result; later results are discarded.
    private func end(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            defer { state = .ended }
            guard case .running(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume(with: result)
    }
}
