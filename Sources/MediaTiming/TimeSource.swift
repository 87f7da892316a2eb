/// A clock that is passed to all code that measures time or waits, so that tests can simulate time.
public protocol TimeSource: Sendable {
    /// The time since a reference point that the source chooses; it never decreases.
    var now: Duration { get }

    /// Suspends the current task for `duration`.
    ///
    /// - Throws: `CancellationError` as soon as the task is canceled.
    func sleep(for duration: Duration) async throws

    /// Schedules `action` to be called once `duration` has passed.
    ///
    /// - Parameters:
    ///   - duration: The delay; zero or a negative duration calls `action` as soon as possible.
    ///   - action: The closure to call; it must return without blocking.
    /// - Returns: A handle that cancels the action while it has not been called.
    func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction

    /// The executor for tasks that outlive the call that starts them, or `nil` for the default executor.
    ///
    /// A simulated clock runs everything on one thread and cannot control a task that runs elsewhere.
    var taskExecutor: (any TaskExecutor)? { get }
}

extension TimeSource {
    /// The default implementation: `nil`, for the default executor.
    public var taskExecutor: (any TaskExecutor)? { nil }

    /// Calls `action` from a new task that sleeps for `duration` first.
    public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let task = Task(executorPreference: taskExecutor) {
            guard (try? await sleep(for: duration)) != nil else { return }
            action()
        }
        return ScheduledAction { task.cancel() }
    }
}

/// A handle for an action that a time source has scheduled.
public struct ScheduledAction: Sendable {
    private let cancellation: @Sendable () -> Void

    /// Creates a handle that calls `cancellation` to cancel its action.
    public init(_ cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

    /// Cancels the action; without effect after the action has been called.
    public func cancel() { cancellation() }
}

/// A time source that reads the continuous clock of the system.
public struct SystemTimeSource: TimeSource {
    private static let origin = ContinuousClock.now
    /// The maximum duration of a sleep, 100 years, so that its end can be represented by the clock.
    private static let maximumSleep = Duration.seconds(3_155_760_000 as Int64)

    /// Creates a time source; all instances share one reference point.
    public init() {}

    /// The time since the first use of the clock in this process.
    public var now: Duration { ContinuousClock.now - Self.origin }

    /// Suspends the current task for `duration`, at most 100 years.
    ///
    /// - Throws: `CancellationError` when the task is canceled.
    public func sleep(for duration: Duration) async throws {
        // The standard library adds the duration to the current instant without saturation, in 64 bits of seconds.
        try await ContinuousClock().sleep(for: min(duration, Self.maximumSleep))
    }
}
