import Foundation
public import MediaTiming
import Synchronization

/// A simulation on one thread, in which time passes only when all tasks wait for it.
///
/// Hours pass in a moment, and a program runs identically each time. Child tasks and default actors run in the
/// simulation; a detached task does not, nor does a `Task` that does not use `TimeSource.taskExecutor`.
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
        let wakeAction: WakeAction
    }

    /// The operation that is performed at a deadline.
    fileprivate enum WakeAction {
        case resume(CheckedContinuation<Void, any Error>)
        case call(@Sendable () -> Void)

        func perform() {
            switch self {
            case .resume(let continuation): continuation.resume()
            case .call(let action): action()
            }
        }
    }

    fileprivate struct State {
        var jobs: [(job: UnownedJob, actorExecutor: UnownedSerialExecutor?)] = []
        /// The semaphore that wakes the thread of the program, and whether the thread waits for it.
        var wake = DispatchSemaphore(value: 0)
        var isWaiting = false
        /// The index of the next job; the array is cleared when all jobs have been taken.
        var nextJob = 0
        /// A binary heap: no element is before its parent.
        var sleepers: [Sleeper] = []
        var now = Duration.zero
        /// The number of tasks that wait for operations outside the simulation.
        var realTimeTaskCount = 0
        /// The number of operations during which time stands still.
        var stopCount = 0
        /// The real time up to which the wait of the thread is part of ``now``; `nil` while the thread runs jobs.
        var waitStart: ContinuousClock.Instant?
        var lastID = 0
        var cancelled: Set<Int> = []
        /// The numbers of programs that were started and finished; the thread of a finished program ends.
        var startedRuns = 0
        var finishedRuns = 0
    }

    private let state = Mutex(State())

    /// Creates a simulation at time zero.
    public init() {}

    /// The current time in the simulation.
    public var now: Duration { state.withLock { $0.currentTime } }

    /// The simulation itself.
    public var taskExecutor: (any TaskExecutor)? { self }

    /// Enqueues a job, as an executor.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        change { $0.jobs.append((job, nil)) }
    }

    /// An executor for actors that need their own executor, which runs them in this simulation.
    public var actorExecutor: any SerialExecutor { ActorExecutor(simulation: self) }

    private final class ActorExecutor: SerialExecutor {
        private let simulation: Simulation

        init(simulation: Simulation) { self.simulation = simulation }

        func enqueue(_ job: consuming ExecutorJob) {
            let (job, executor) = (UnownedJob(job), asUnownedSerialExecutor())
            simulation.change { $0.jobs.append((job, executor)) }
        }
    }

    /// Suspends the task until the simulated time has advanced by the duration.
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
                    state.push(Sleeper(deadline: deadline, id: id, wakeAction: .resume(continuation)))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(id)
        }
        try Task.checkCancellation()
    }

    /// Calls `action` when the simulated time has advanced by the duration.
    public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let id = change { state in
            state.lastID += 1
            let deadline = state.currentTime + max(duration, .zero)
            state.push(Sleeper(deadline: deadline, id: state.lastID, wakeAction: .call(action)))
            return state.lastID
        }
        return ScheduledAction { [self] in state.withLock { _ = $0.removeSleeper(id) } }
    }

    /// Runs an operation outside the simulation; while all other tasks wait, simulated time passes as real time does.
    ///
    /// A program can thus communicate with real servers at full speed: only the time in which all tasks wait for other
    /// tasks is skipped. The time in which a job of the simulation computes does not count, as without such an operation.
    /// Such a program does not run identically each time.
    public nonisolated(nonsending) func withRealTime<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        state.withLock { state in
            state.addWaitingTime()
            state.realTimeTaskCount += 1
        }
        defer {
            change { state in
                state.addWaitingTime()
                state.realTimeTaskCount -= 1
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
        if case .resume(let continuation) = sleeper?.wakeAction { continuation.resume(throwing: CancellationError()) }
    }

    /// Runs a program in this simulation.
    ///
    /// Only one program runs at a time.
    ///
    /// - Returns: The result of the program; tasks that it started and did not await are not continued.
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
        return try await RealTimeOperation.$clock.withValue(self) {
            try await withTaskExecutorPreference(self) { try await body() }
        }
    }

    /// Changes the state and wakes the thread of the simulation if it waits.
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
                state.addWaitingTime()
                state.waitStart = nil
                if let (job, executor) = state.takeJob() { return .job(job, executor) }
                if state.finishedRuns == run { return .finish }
                guard state.stopCount == 0, let first = state.sleepers.first else {
                    state.beginWaiting()
                    return .wait(nil)
                }
                if state.realTimeTaskCount > 0 {
                    let rest = first.deadline - state.now
                    guard rest <= .zero else {
                        state.beginWaiting()
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
            case .sleeper(let sleeper): sleeper.wakeAction.perform()
            case .wait(nil): wake.wait()
            case .wait(let rest?):
                let nanoseconds = min(rest, .seconds(60)) / .nanoseconds(1)
                _ = wake.wait(timeout: .now() + .nanoseconds(Int(saturating: nanoseconds.rounded(.up))))
            case .finish: return
            }
        }
    }
}

extension Simulation: StoppableClock {
    package func stop() { state.withLock { $0.stopCount += 1 } }

    package func start() { change { $0.stopCount -= 1 } }
}

extension Simulation.State {
    fileprivate var currentTime: Duration {
        guard realTimeTaskCount > 0, let waitStart else { return now }
        return now + (ContinuousClock.now - waitStart)
    }

    fileprivate mutating func beginWaiting() {
        isWaiting = true
        waitStart = .now
    }

    /// Adds the real time for which the thread has waited to ``now``, if a task waits for an operation outside the
    /// simulation.
    fileprivate mutating func addWaitingTime() {
        guard let start = waitStart else { return }
        let end = ContinuousClock.now
        if realTimeTaskCount > 0 { now += end - start }
        waitStart = end
    }

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
        if position < last { restoreHeap(from: position) }
        return removed
    }

    /// Moves the element at a position up or down to restore the order of the heap.
    private mutating func restoreHeap(from start: Int) {
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

    /// Of two elements with the same deadline, the one that was added first is before the other.
    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (sleepers[left].deadline, sleepers[left].id) < (sleepers[right].deadline, sleepers[right].id)
    }
}
