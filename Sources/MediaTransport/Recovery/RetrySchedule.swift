import MediaTiming

/// The delays between the attempts for one resource.
package struct RetrySchedule: Sendable, Hashable {
    /// The delay before the first retry; each further delay is twice as long.
    package let initialDelay: Duration
    /// The maximum delay.
    package let maximumDelay: Duration

    /// The number of retries after which the delay is no longer doubled.
    private static let maximumDoublings = 16

    /// Creates a schedule.
    package init(initialDelay: Duration, maximumDelay: Duration) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// Returns the delay before a retry.
    ///
    /// - Parameter retry: The number of the retry, 1 or more.
    /// - Returns: The delay.
    package func delay(before retry: Int) -> Duration {
        min(initialDelay * (1 << min(max(0, retry - 1), Self.maximumDoublings)), maximumDelay)
    }
}
