/// The clock that everything takes instead of reading a global one, so that a test can hold time in its hand.
public protocol TimeSource: Sendable {
    /// The time since a moment that this source chose; it never goes back.
    var now: Duration { get }

    /// Waits for `duration`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Calls `action` once `duration` has passed.
    ///
    /// - Parameters:
    ///   - duration: How long to wait; none at all, or less, for as soon as possible.
    ///   - action: What to do; it has to return at once.
    /// - Returns: What can be cancelled for as long as it has not happened.
    func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction

    /// Where a task has to run that outlives the call which began it; `nil` for anywhere.
    ///
    /// A simulated world runs everything on one thread, and what leaves it is lost to it.
    var taskExecutor: (any TaskExecutor)? { get }
}

extension TimeSource {
    /// Anywhere.
    public var taskExecutor: (any TaskExecutor)? { nil }

    /// Calls `action` from a task that sleeps until then.
    public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let task = Task(executorPreference: taskExecutor) {
            guard (try? await sleep(for: duration)) != nil else { return }
            action()
        }
        return ScheduledAction { task.cancel() }
    }
}

/// Something that happens at its time, if it is not cancelled before.
public struct ScheduledAction: Sendable {
    private let cancellation: @Sendable () -> Void

    /// Makes one, of what prevents it.
    public init(_ cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

    /// Prevents it; after it has happened, nothing.
    public func cancel() { cancellation() }
}

/// The machine's own monotonic clock.
public struct SystemTimeSource: TimeSource {
    private static let origin = ContinuousClock.now
    /// The longest time to sleep for, so that the clock can count the moment after it.
    private static let longestSleep = Duration.seconds(3_155_760_000 as Int64)

    /// Makes the source; all of them agree on the time.
    public init() {}

    /// The time since the first use of the clock in this process.
    public var now: Duration { ContinuousClock.now - Self.origin }

    /// Waits for `duration`, at most a century; ends with `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        // The clock adds its own time, which does not saturate, and counts the sum in 64 bits of seconds.
        try await ContinuousClock().sleep(for: min(duration, Self.longestSleep))
    }
}
