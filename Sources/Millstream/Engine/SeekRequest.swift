import MediaTiming
import StreamingEngine
import Synchronization

/// A pending seek, which is completed exactly once: by the engine, by the end of the session or by cancellation.
final class SeekRequest: Sendable {
    private struct State {
        var completion: SeekResult?
        var hasStarted = false
        var caller: CheckedContinuation<SeekResult, Never>?
        var queue: CheckedContinuation<Void, Never>?
    }

    let target: SeekTarget
    let tolerance: SeekTolerance
    private let state = Mutex(State())

    init(_ target: SeekTarget, tolerance: SeekTolerance) {
        self.target = target
        self.tolerance = tolerance
    }

    /// A Boolean value that indicates whether the seek is completed.
    var isComplete: Bool { state.withLock { $0.completion != nil } }

    /// Waits for the seek to be completed and returns its outcome.
    func completion() async -> SeekResult {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.completion == nil { state.caller = continuation }
                return state.completion
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Completes the seek, unless it is already completed.
    func complete(_ completion: SeekResult) {
        let (caller, queue) = state.withLock { state in
            guard state.completion == nil else { return (nil, nil) as Waiters }
            state.completion = completion
            state.hasStarted = true
            return (state.caller.take(), state.queue.take())
        }
        caller?.resume(returning: completion)
        queue?.resume()
    }

    /// Records that the engine has started the seek.
    func markStarted() {
        let queue = state.withLock { state in
            state.hasStarted = true
            return state.queue.take()
        }
        queue?.resume()
    }

    /// Waits until the engine has started the seek.
    func waitUntilStarted() async {
        await withCheckedContinuation { continuation in
            let hasBegun = state.withLock { state in
                if !state.hasStarted { state.queue = continuation }
                return state.hasStarted
            }
            if hasBegun { continuation.resume() }
        }
    }

    private typealias Waiters = (CheckedContinuation<SeekResult, Never>?, CheckedContinuation<Void, Never>?)
}
