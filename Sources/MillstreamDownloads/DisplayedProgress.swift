import MediaTiming

/// The percentage and the rate of one run of a download, as a user sees them.
package struct DisplayedProgress: Sendable {
    /// The time after the first bytes before which the rate is unknown, because the bytes arrive in bursts.
    private static let minimumMeasurement = Duration.seconds(3)

    /// The time over which the rate is computed.
    private let window: Duration
    /// The numbers of received bytes when bytes were found to have arrived, oldest first.
    private var arrivals: [(time: Duration, bytes: Int64)] = []
    /// The number of bytes that were received last; `nil` before the first one is added.
    private var received: Int64?
    /// The highest percentage so far, below 100.
    private var highestPercent = 0.0

    /// Creates the figures of a run.
    ///
    /// - Parameter window: The time over which the rate is computed; bursts must be much shorter.
    package init(window: Duration) { self.window = window }

    /// Returns the percentage of a progress, which does not decrease when an estimated size changes.
    ///
    /// - Parameter progress: The current progress.
    /// - Returns: The percentage from 0 to 100; 100 only if all files are stored.
    package mutating func percent(of progress: DownloadProgress) -> Double {
        let percent = progress.percentOfBytes
        guard percent < 100 else { return percent }
        highestPercent = max(highestPercent, percent)
        return highestPercent
    }

    /// Adds the number of bytes that the run has received up to a time.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes.
    ///   - now: The time.
    package mutating func addReceived(_ bytes: Int64, at now: Duration) {
        defer { self.received = bytes }
        guard let received, received != bytes else { return }
        // After a pause, the rate is measured anew: one that includes the pause would be too low for the time of the window.
        let pause = arrivals.last.map { now - $0.time } ?? .zero
        if bytes < received || pause > window { arrivals = [] }
        arrivals.append((now, bytes))
        while arrivals.count > 2, now - arrivals[1].time > window { arrivals.removeFirst() }
    }

    /// Returns the rate at which bytes have arrived, in bytes per second.
    ///
    /// The bytes that arrived first count as received before the measurement: a measurement that begins before a burst and ends after
    /// one would have a burst too many, and its rate would exceed a limit of the rate.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The rate; `nil` within three seconds of the first bytes or of the end of a pause, and if nothing has arrived within the
    ///   window.
    package func rate(at now: Duration) -> Double? {
        guard let first = arrivals.first, let last = arrivals.last, last.bytes > first.bytes,
            now - last.time <= window, now - first.time >= Self.minimumMeasurement
        else { return nil }
        return Double(last.bytes -| first.bytes) / ((now - first.time) / .seconds(1))
    }
}
