/// The times at which a session applies the storage policy of its library: when it is created, and at intervals.
struct StoragePolicySchedule: Sendable, Hashable {
    private var nextTime: Duration?

    /// The minimum time between two applications; `nil` for no application.
    private let interval: Duration?
    /// The ratio of the time between two applications to the time that the former took, because a library with a quota is
    /// measured each time.
    private static let restRatio = 20

    /// Creates the schedule of a session that was just created.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two applications; `nil` for no application.
    ///   - applied: The time at which the policy has already been applied for the session; `nil` if it has not.
    init(_ interval: Duration?, appliedAt applied: Duration? = nil) {
        self.interval = interval
        if let applied { finish(from: applied, to: applied) }
    }

    /// Returns a Boolean value that indicates whether the policy is to be applied now.
    func isDue(at now: Duration) -> Bool { interval != nil && nextTime.map { now >= $0 } ?? true }

    /// Sets the next time after an application with the given beginning and end.
    mutating func finish(from begun: Duration, to end: Duration) {
        nextTime = end + max(interval ?? .zero, (end - begun) * Self.restRatio)
    }
}
