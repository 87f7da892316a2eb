import MediaTiming

/// A policy that decides how to continue after a failure.
///
/// A failed request is retried. If that does not help, the player continues with another location, another variant or
/// rendition, a gap, or without the track, before playback ends. Failures are classified by ``FailureCategory``.
public struct RecoveryPolicy: Sendable, Hashable {
    /// The number and the delays of retries.
    public struct Rule: Sendable, Hashable {
        /// The maximum number of retries after the first attempt, 0 or more.
        public var maximumRetries: Int
        /// The delay before the first retry; each further delay is twice as long.
        public var initialDelay: Duration
        /// The maximum delay, unless the server requests a longer one with `Retry-After`.
        public var maximumDelay: Duration

        /// Creates a rule.
        ///
        /// - Parameters:
        ///   - maximumRetries: The maximum number of retries; 3 by default, as in other players.
        ///   - initialDelay: The delay before the first retry; 250 milliseconds by default.
        ///   - maximumDelay: The maximum delay; 8 seconds by default.
        public init(
            maximumRetries: Int = 3,
            initialDelay: Duration = .milliseconds(250),
            maximumDelay: Duration = .seconds(8)
        ) {
            self.maximumRetries = max(0, maximumRetries)
            self.initialDelay = initialDelay
            self.maximumDelay = maximumDelay
        }
    }

    /// The minimum throughput of a body; a slower transfer times out.
    public struct MinimumThroughput: Sendable, Hashable {
        /// The interval in which the throughput is measured.
        public var interval: Duration
        /// The minimum number of bytes in an interval.
        public var byteCount: Int64

        /// Creates a minimum throughput.
        ///
        /// - Parameters:
        ///   - interval: The interval; 20 seconds by default.
        ///   - byteCount: The number of bytes; 20 KiB by default, which is less than the lowest audio bit rate in use.
        public init(interval: Duration = .seconds(20), byteCount: Int64 = 20 << 10) {
            self.interval = interval
            self.byteCount = byteCount
        }
    }

    /// The rule for kinds of requests without a rule in ``rules``.
    public var rule: Rule
    /// The rules for individual kinds of requests.
    public var rules: [TransportRequest.Kind: Rule]
    /// The minimum throughput of a body.
    public var minimumThroughput: MinimumThroughput
    /// The time in which a document must be received.
    public var documentTimeLimit: DocumentTimeLimit
    /// The maximum delay that a server may request with `Retry-After`; if it requests a longer one, there is no retry.
    public var maximumServerDelay: Duration

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - rule: The rule for kinds of requests that are not in `rules`.
    ///   - rules: The rules for individual kinds; by default, subtitles have two retries, because playback should not
    ///     wait for them.
    ///   - minimumThroughput: The minimum throughput of a body.
    ///   - maximumServerDelay: The maximum delay that a server may request; 60 seconds by default.
    ///   - documentTimeLimit: The time in which a document must be received.
    public init(
        rule: Rule = Rule(),
        rules: [TransportRequest.Kind: Rule] = [.subtitle: Rule(maximumRetries: 2)],
        minimumThroughput: MinimumThroughput = MinimumThroughput(),
        maximumServerDelay: Duration = .seconds(60),
        documentTimeLimit: DocumentTimeLimit = DocumentTimeLimit()
    ) {
        self.rule = rule
        self.rules = rules
        self.minimumThroughput = minimumThroughput
        self.maximumServerDelay = maximumServerDelay
        self.documentTimeLimit = documentTimeLimit
    }

    /// Creates a policy with the same number of retries for all kinds of requests.
    ///
    /// The number is the bound of all attempts: a player does not request a segment again from a server that remains busy
    /// or unreachable after these retries, as it does with other policies while it has time.
    ///
    /// - Parameter retries: The maximum number of retries after the first attempt, 0 or more.
    public init(retries: Int) {
        self.init(rule: Rule(maximumRetries: retries), rules: [:])
        limits.isBoundByRetries = true
    }

    /// The limits of the recovery of segments, playlists and downloads.
    package struct Limits: Sendable, Hashable {
        /// The maximum number of consecutive segments that are skipped, and the maximum number of files of a download
        /// that may fail before it ends.
        ///
        /// After more failures, the rest would not be usable either.
        package var skippedResources = 4
        /// The number of consecutive missing segments after which a source is excluded temporarily.
        package var missingSegments = 2
        /// The time for which a source is excluded.
        package var exclusionDuration = Duration.seconds(60)
        /// The time for which a server may be busy before one segment is skipped, which may be the only one that fails.
        package var busyDuration = Duration.seconds(20)
        /// A Boolean value that indicates whether a segment or a playlist is not requested again after its retries, even
        /// if the server is only busy or unreachable.
        package var isBoundByRetries = false
        /// The number of retries of a segment of a live stream that the server does not have yet.
        package var liveRetries = 2
        /// The maximum delay before a segment is requested again.
        package var segmentDelay = Duration.seconds(30)
        /// The maximum delay of a reload that a server may request.
        package var reloadServerDelay = Duration.seconds(300)

        /// Creates the default limits.
        package init() {}
    }

    /// The limits of the recovery of segments, playlists and downloads.
    package var limits = Limits()
}
