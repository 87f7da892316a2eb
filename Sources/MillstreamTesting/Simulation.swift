import Foundation
public import MediaTiming
import Synchronization

/// A world that runs on one thread, where time passes only when every task waits for it.
///
/// Hours go by in a moment, and the same program takes the same course each time. Child tasks and default actors stay
/// inside; a detached task leaves the world, and so does a `Task` that does not ask for ``TimeSource/taskExecutor``.
///
/// ```swift
/// let simulation = Simulation()
/// try await simulation.run {
///     try await simulation.sleep(for: .seconds(3600))
/// }
/// ```
public final class Simulation: TaskExecutor, SerialExecutor, TimeSource {
    fileprivate struct Sleeper {
        let deadline: Duration
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    fileprivate struct State {
        var jobs: [UnownedJob] = []
        /// Taken from here on; the array is emptied when all are.
        var nextJob = 0
        /// A heap: none is before the one at half its position.
        var sleepers: [Sleeper] = []
        var now = Duration.zero
        /// How many wait for the world outside, and since when there is one.
        var outsiders = 0
        var outsideSince = ContinuousClock.now
        var lastID = 0
        var cancelled: Set<Int> = []
        /// Counts the programs, and those that ended: the thread of one that did goes.
        var startedRuns = 0
        var finishedRuns = 0
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// Makes a world at time zero.
    public init() {}

    /// The time in this world.
    public var now: Duration { state.withLock { $0.currentTime } }

    /// The world itself.
    public var taskExecutor: (any TaskExecutor)? { self }

    /// Takes a job; part of what an executor is.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wake.signal()
    }

    /// Waits until everything else in this world waits for longer.
    public func sleep(for duration: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    let deadline = state.currentTime + max(duration, .zero)
                    state.push(Sleeper(deadline: deadline, id: id, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(id)
        }
        try Task.checkCancellation()
    }

    /// Waits for something outside this world: as long as anybody does, time passes here as it does there.
    ///
    /// So a program can be run at full speed that has to do with real servers: only the waiting is left out in which
    /// nobody would do anything. What such a program does is no longer the same each time.
    public nonisolated(nonsending) func outside<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        state.withLock { state in
            if state.outsiders == 0 { state.outsideSince = .now }
            state.outsiders += 1
        }
        defer {
            state.withLock { state in
                let now = state.currentTime
                state.outsiders -= 1
                if state.outsiders == 0 { state.now = now }
            }
            wake.signal()
        }
        return try await body()
    }

    private func cancel(_ id: Int) {
        let sleeper: Sleeper? = state.withLock { state in
            guard let position = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.remove(at: position)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }

    /// Runs a program in this world.
    ///
    /// - Returns: What it returned; what it began and did not wait for goes no further. One program runs at a time.
    public func run<Result: Sendable>(_ body: @Sendable @concurrent () async throws -> Result) async throws -> Result {
        let run = state.withLock { state in
            state.startedRuns += 1
            return state.startedRuns
        }
        let thread = Thread { [self] in loop(run) }
        thread.stackSize = 8 << 20
        thread.start()
        defer {
            state.withLock { $0.finishedRuns += 1 }
            wake.signal()
        }
        return try await withTaskExecutorPreference(self) { try await body() }
    }

    private func loop(_ run: Int) {
        while true {
            enum Step { case job(UnownedJob), sleeper(Sleeper), wait(Duration?), finish }
            let step: Step = state.withLock { state in
                if state.startedRuns != run { return .finish }
                if let job = state.takeJob() { return .job(job) }
                if state.finishedRuns == run { return .finish }
                guard let first = state.sleepers.first else { return .wait(nil) }
                if state.outsiders > 0 {
                    let rest = first.deadline - state.currentTime
                    guard rest <= .zero else { return .wait(rest) }
                    return .sleeper(state.remove(at: 0))
                }
                let sleeper = state.remove(at: 0)
                state.now = max(state.now, sleeper.deadline)
                return .sleeper(sleeper)
            }
            switch step {
            case .job(let job):
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            case .sleeper(let sleeper): sleeper.continuation.resume()
            case .wait(nil): wake.wait()
            case .wait(let rest?):
                let nanoseconds = min(rest, .seconds(60)) / .nanoseconds(1)
                _ = wake.wait(timeout: .now() + .nanoseconds(Int(nanoseconds.rounded(.up))))
            case .finish: return
            }
        }
    }
}

extension Simulation.State {
    fileprivate var currentTime: Duration { outsiders > 0 ? now + (ContinuousClock.now - outsideSince) : now }

    fileprivate mutating func takeJob() -> UnownedJob? {
        guard nextJob < jobs.count else { return nil }
        defer {
            nextJob += 1
            if nextJob == jobs.count { (jobs, nextJob) = ([], 0) }
        }
        return jobs[nextJob]
    }

    fileprivate mutating func push(_ sleeper: Simulation.Sleeper) {
        sleepers.append(sleeper)
        var position = sleepers.count - 1
        while position > 0, isBefore(position, (position - 1) / 2) {
            sleepers.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    fileprivate mutating func remove(at position: Int) -> Simulation.Sleeper {
        let last = sleepers.count - 1
        sleepers.swapAt(position, last)
        let removed = sleepers.removeLast()
        if position < last { settle(position) }
        return removed
    }

    /// Moves what stands at a position to where it belongs.
    private mutating func settle(_ start: Int) {
        var position = start
        while position > 0, isBefore(position, (position - 1) / 2) {
            sleepers.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
        while true {
            let children = [2 * position + 1, 2 * position + 2].filter { $0 < sleepers.count }
            guard let first = children.min(by: { isBefore($0, $1) }), isBefore(first, position) else { return }
            sleepers.swapAt(position, first)
            position = first
        }
    }

    /// Whoever began to wait first wakes first, where both wake at one moment.
    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (sleepers[left].deadline, sleepers[left].id) < (sleepers[right].deadline, sleepers[right].id)
    }
}
