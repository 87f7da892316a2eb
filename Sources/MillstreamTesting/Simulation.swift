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
public final class Simulation: TaskExecutor, TimeSource {
    fileprivate struct Sleeper {
        let deadline: Duration
        let id: Int
        let alarm: Alarm
    }

    /// What happens when the time has come.
    fileprivate enum Alarm {
        case resume(CheckedContinuation<Void, any Error>)
        case call(@Sendable () -> Void)

        func ring() {
            switch self {
            case .resume(let continuation): continuation.resume()
            case .call(let action): action()
            }
        }
    }

    fileprivate struct State {
        var jobs: [(job: UnownedJob, actorExecutor: UnownedSerialExecutor?)] = []
        /// Wakes the thread of the program, and whether it waits for that.
        var wake = DispatchSemaphore(value: 0)
        var isWaiting = false
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

    /// Makes a world at time zero.
    public init() {}

    /// The time in this world.
    public var now: Duration { state.withLock { $0.currentTime } }

    /// The world itself.
    public var taskExecutor: (any TaskExecutor)? { self }

    /// Takes a job; part of what an executor is.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        change { $0.jobs.append((job, nil)) }
    }

    /// Runs actors that want an executor of their own in this world.
    public var actorExecutor: any SerialExecutor { ActorExecutor(simulation: self) }

    private final class ActorExecutor: SerialExecutor {
        private let simulation: Simulation

        init(simulation: Simulation) { self.simulation = simulation }

        func enqueue(_ job: consuming ExecutorJob) {
            let (job, executor) = (UnownedJob(job), asUnownedSerialExecutor())
            simulation.change { $0.jobs.append((job, executor)) }
        }
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
                    state.push(Sleeper(deadline: deadline, id: id, alarm: .resume(continuation)))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(id)
        }
        try Task.checkCancellation()
    }

    /// Calls `action` when everything else in this world waits for longer.
    public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let id = change { state in
            state.lastID += 1
            let deadline = state.currentTime + max(duration, .zero)
            state.push(Sleeper(deadline: deadline, id: state.lastID, alarm: .call(action)))
            return state.lastID
        }
        return ScheduledAction { [self] in state.withLock { _ = $0.removeSleeper(id) } }
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
            change { state in
                let now = state.currentTime
                state.outsiders -= 1
                if state.outsiders == 0 { state.now = now }
            }
        }
        return try await body()
    }

    private func cancel(_ id: Int) {
        let sleeper: Sleeper? = state.withLock { state in
            if let sleeper = state.removeSleeper(id) { return sleeper }
            state.cancelled.insert(id)
            return nil
        }
        if case .resume(let continuation) = sleeper?.alarm { continuation.resume(throwing: CancellationError()) }
    }

    /// Runs a program in this world.
    ///
    /// - Returns: What it returned; what it began and did not wait for goes no further. One program runs at a time.
    public func run<Result: Sendable>(_ body: @Sendable @concurrent () async throws -> Result) async throws -> Result {
        let wake = DispatchSemaphore(value: 0)
        let run = state.withLock { state in
            state.startedRuns += 1
            state.wake = wake
            return state.startedRuns
        }
        let thread = Thread { [self] in loop(run, wake) }
        thread.stackSize = 8 << 20
        thread.start()
        defer {
            state.withLock { $0.finishedRuns += 1 }
            wake.signal()
        }
        return try await withTaskExecutorPreference(self) { try await body() }
    }

    /// Changes something that the thread of this world may be waiting for.
    private func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        let (result, wake) = state.withLock { state in
            defer { state.isWaiting = false }
            return (body(&state), state.isWaiting ? state.wake : nil)
        }
        wake?.signal()
        return result
    }

    private func loop(_ run: Int, _ wake: DispatchSemaphore) {
        while true {
            enum Step { case job(UnownedJob, UnownedSerialExecutor?), sleeper(Sleeper), wait(Duration?), finish }
            let step: Step = state.withLock { state in
                if state.startedRuns != run { return .finish }
                state.isWaiting = false
                if let (job, executor) = state.takeJob() { return .job(job, executor) }
                if state.finishedRuns == run { return .finish }
                guard let first = state.sleepers.first else {
                    state.isWaiting = true
                    return .wait(nil)
                }
                if state.outsiders > 0 {
                    let rest = first.deadline - state.currentTime
                    guard rest <= .zero else {
                        state.isWaiting = true
                        return .wait(rest)
                    }
                    return .sleeper(state.remove(at: 0))
                }
                let sleeper = state.remove(at: 0)
                state.now = max(state.now, sleeper.deadline)
                return .sleeper(sleeper)
            }
            switch step {
            case .job(let job, nil): job.runSynchronously(on: asUnownedTaskExecutor())
            case .job(let job, let actor?):
                job.runSynchronously(isolatedTo: actor, taskExecutor: asUnownedTaskExecutor())
            case .sleeper(let sleeper): sleeper.alarm.ring()
            case .wait(nil): wake.wait()
            case .wait(let rest?):
                let nanoseconds = min(rest, .seconds(60)) / .nanoseconds(1)
                _ = wake.wait(timeout: .now() + .nanoseconds(Int(saturating: nanoseconds.rounded(.up))))
            case .finish: return
            }
        }
    }
}

extension Simulation.State {
    fileprivate var currentTime: Duration { outsiders > 0 ? now + (ContinuousClock.now - outsideSince) : now }

    fileprivate mutating func takeJob() -> (job: UnownedJob, actorExecutor: UnownedSerialExecutor?)? {
        guard nextJob < jobs.count else { return nil }
        defer {
            nextJob += 1
            if nextJob == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                nextJob = 0
            }
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

    fileprivate mutating func removeSleeper(_ id: Int) -> Simulation.Sleeper? {
        sleepers.firstIndex { $0.id == id }.map { remove(at: $0) }
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
            var child = 2 * position + 1
            guard child < sleepers.count else { return }
            if child + 1 < sleepers.count, isBefore(child + 1, child) { child += 1 }
            guard isBefore(child, position) else { return }
            sleepers.swapAt(position, child)
            position = child
        }
    }

    /// Whoever began to wait first wakes first, where both wake at one moment.
    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (sleepers[left].deadline, sleepers[left].id) < (sleepers[right].deadline, sleepers[right].id)
    }
}
