public import MediaTiming
import StreamingEngine
import Synchronization

/// How a seek ended.
public struct SeekCompletion: Sendable, Hashable {
    /// Whether the play head is there; `false` where another seek, another item or a failure came first.
    public let isFinished: Bool
    /// Where the play head is.
    public let landed: MediaTime

    /// Makes a completion.
    public init(isFinished: Bool, landed: MediaTime) {
        self.isFinished = isFinished
        self.landed = landed
    }
}

/// A seek on its way: it is answered once, by whoever knows first how it ended.
final class SeekTicket: Sendable {
    private struct State {
        var completion: SeekCompletion?
        var hasBegun = false
        var caller: CheckedContinuation<SeekCompletion, Never>?
        var queue: CheckedContinuation<Void, Never>?
    }

    let target: SeekTarget
    let tolerance: SeekTolerance
    private let state = Mutex(State())

    init(_ target: SeekTarget, tolerance: SeekTolerance) {
        self.target = target
        self.tolerance = tolerance
    }

    /// Whether it was answered.
    var isComplete: Bool { state.withLock { $0.completion != nil } }

    /// The answer.
    func completion() async -> SeekCompletion {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.completion == nil { state.caller = continuation }
                return state.completion
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Answers, unless somebody did.
    func complete(_ completion: SeekCompletion) {
        let (caller, queue) = state.withLock { state in
            guard state.completion == nil else { return (nil, nil) as Waiters }
            state.completion = completion
            state.hasBegun = true
            return (state.caller.take(), state.queue.take())
        }
        caller?.resume(returning: completion)
        queue?.resume()
    }

    /// Says that the engine has it.
    func begin() {
        let queue = state.withLock { state in
            state.hasBegun = true
            return state.queue.take()
        }
        queue?.resume()
    }

    /// Waits for that.
    func waitUntilBegun() async {
        await withCheckedContinuation { continuation in
            let hasBegun = state.withLock { state in
                if !state.hasBegun { state.queue = continuation }
                return state.hasBegun
            }
            if hasBegun { continuation.resume() }
        }
    }

    private typealias Waiters = (CheckedContinuation<SeekCompletion, Never>?, CheckedContinuation<Void, Never>?)
}
