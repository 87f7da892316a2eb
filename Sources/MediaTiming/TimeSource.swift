/// The clock that everything takes instead of reading a global one, so that a test can hold time in its hand.
public protocol TimeSource: Sendable {
    /// The time since a moment that this source chose; it never goes back.
    var now: Duration { get }

    /// Waits for `duration`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Where a task has to run that outlives the call which began it; `nil` for anywhere.
    ///
    /// A simulated world runs everything on one thread, and what leaves it is lost to it.
    var taskExecutor: (any TaskExecutor)? { get }
}

extension TimeSource {
    /// Anywhere.
    public var taskExecutor: (any TaskExecutor)? { nil }
}

/// The machine's own monotonic clock.
public struct SystemTimeSource: TimeSource {
    private static let origin = ContinuousClock.now

    /// Makes the source; all of them agree on the time.
    public init() {}

    /// The time since the first use of the clock in this process.
    public var now: Duration { ContinuousClock.now - Self.origin }

    /// Waits for `duration`; ends with `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await ContinuousClock().sleep(for: duration)
    }
}
