import MediaTiming

/// A policy that decides how to continue after a failed request: retry it, use a fallback, or fail.
public struct LoadErrorPolicy: Sendable, Hashable {
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

    /// An alternative to a failed resource.
    public enum Fallback: Sendable, Hashable {
        /// The same resource from another pathway (RFC 8216bis §7).
        case pathway
        /// Another variant.
        case variant
    }

    /// A decision after a failed request.
    public enum Decision: Sendable, Hashable {
        /// The request is sent again after the delay.
        case retry(after: Duration)
        /// The alternative is used, because the same request would fail again or has failed too often.
        case fallBack(Fallback)
        /// The request fails with its error.
        case fail
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
    public init(
        rule: Rule = Rule(),
        rules: [TransportRequest.Kind: Rule] = [.subtitle: Rule(maximumRetries: 2)],
        minimumThroughput: MinimumThroughput = MinimumThroughput(),
        maximumServerDelay: Duration = .seconds(60)
    ) {
        self.rule = rule
        self.rules = rules
        self.minimumThroughput = minimumThroughput
        self.maximumServerDelay = maximumServerDelay
    }

    /// Creates a policy with the same number of retries for all kinds of requests.
    public init(retries: Int) { self.init(rule: Rule(maximumRetries: retries), rules: [:]) }

    /// Returns the decision after a failed request.
    ///
    /// - Parameters:
    ///   - error: The error of the last attempt.
    ///   - kind: The kind of request.
    ///   - attempt: The number of failed attempts, 1 or more.
    ///   - fallbacks: The available alternatives.
    ///   - jitter: A random number from 0 to 1 that spreads the retries of many clients.
    /// - Returns: The decision; after the maximum number of retries, it is never another retry.
    public func decision(
        after error: TransportError,
        of kind: TransportRequest.Kind,
        attempt: Int,
        fallbacks: Set<Fallback> = [],
        jitter: Double
    ) -> Decision {
        let rule = rules[kind] ?? rule
        if attempt <= rule.maximumRetries, Self.isTransient(error), (error.retryAfter ?? .zero) <= maximumServerDelay {
            let exponential = rule.initialDelay * (1 << min(max(0, attempt - 1), 16))
            let spread = min(exponential, rule.maximumDelay) * (0.5 + 0.5 * min(max(jitter, 0), 1))
            return .retry(after: max(spread, error.retryAfter ?? .zero))
        }
        guard Self.allowsFallback(after: error, of: kind) else { return .fail }
        // The same variant on another pathway is preferred to another variant.
        if fallbacks.contains(.pathway) { return .fallBack(.pathway) }
        return fallbacks.contains(.variant) ? .fallBack(.variant) : .fail
    }

    /// Returns a Boolean value that indicates whether the same request may succeed later.
    static func isTransient(_ error: TransportError) -> Bool {
        switch error.code {
        case .status:
            [408, 425, 429].contains(error.status)
                || (500...599).contains(error.status ?? 0) && error.status != 501
                    && error.status != 505
        case .cannotConnect, .timedOut, .connectionLost, .wrongContent, .unknownHost, .contentChanged: true
        default: false
        }
    }

    private static func allowsFallback(after error: TransportError, of kind: TransportRequest.Kind) -> Bool {
        // A client that is not authorized for a key is not authorized for that of another variant either.
        !(kind == .key && [401, 402, 403].contains(error.status))
    }
}
