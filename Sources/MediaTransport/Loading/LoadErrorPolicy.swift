import MediaTiming

/// The one place that decides what follows a failed request: another try, something else instead, or the end.
public struct LoadErrorPolicy: Sendable, Hashable {
    /// How often and how soon a request is tried again.
    public struct Rule: Sendable, Hashable {
        /// How often a request is tried again after it failed, 0 or more.
        public var retries: Int
        /// How long to wait before the first further try; each wait is twice the one before.
        public var firstDelay: Duration
        /// The longest wait of our own.
        public var longestDelay: Duration

        /// Makes a rule.
        ///
        /// - Parameters:
        ///   - retries: Defaults to 3, as players have it.
        ///   - firstDelay: Defaults to a quarter of a second.
        ///   - longestDelay: Defaults to 8 seconds.
        public init(
            retries: Int = 3,
            firstDelay: Duration = .milliseconds(250),
            longestDelay: Duration = .seconds(8)
        ) {
            self.retries = max(0, retries)
            self.firstDelay = firstDelay
            self.longestDelay = longestDelay
        }
    }

    /// What can be loaded instead of what failed.
    public enum Fallback: Sendable, Hashable {
        /// The same from elsewhere (RFC 8216bis §7).
        case pathway
        /// Another quality.
        case variant
    }

    /// What follows.
    public enum Decision: Sendable, Hashable {
        /// Another try.
        case retry(after: Duration)
        /// Something else; the same request would fail again, or did so often enough.
        case fallBack(Fallback)
        /// The end: whoever asked gets the error.
        case fail
    }

    /// When a body comes so slowly that it counts as one that does not come.
    public struct Pace: Sendable, Hashable {
        /// The stretch of time that is looked at.
        public var window: Duration
        /// How many bytes have to come in it.
        public var leastBytes: Int64

        /// Makes a pace.
        ///
        /// - Parameters:
        ///   - window: Defaults to 20 seconds.
        ///   - leastBytes: Defaults to 20 KiB, less than the leanest audio needs.
        public init(window: Duration = .seconds(20), leastBytes: Int64 = 20 << 10) {
            self.window = window
            self.leastBytes = leastBytes
        }
    }

    /// For requests whose kind has no rule of its own.
    public var rule: Rule
    /// For requests of some kinds.
    public var rules: [TransportRequest.Kind: Rule]
    /// How slow a body may be.
    public var slowestPace: Pace
    /// The longest wait that a server may ask for; where it asks for a longer one, it is not asked again.
    public var longestServerDelay: Duration

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - rule: For all kinds but those of `rules`.
    ///   - rules: Defaults to two further tries for subtitles, which nobody should wait for.
    ///   - slowestPace: How slow a body may be.
    ///   - longestServerDelay: Defaults to a minute.
    public init(
        rule: Rule = Rule(),
        rules: [TransportRequest.Kind: Rule] = [.subtitle: Rule(retries: 2)],
        slowestPace: Pace = Pace(),
        longestServerDelay: Duration = .seconds(60)
    ) {
        self.rule = rule
        self.rules = rules
        self.slowestPace = slowestPace
        self.longestServerDelay = longestServerDelay
    }

    /// Makes a policy with the same number of further tries for all kinds.
    public init(retries: Int) { self.init(rule: Rule(retries: retries), rules: [:]) }

    /// Decides what follows a failure.
    ///
    /// - Parameters:
    ///   - error: Why the last try failed.
    ///   - kind: What was asked for.
    ///   - attempt: How many tries failed so far, 1 or more.
    ///   - fallbacks: What could be loaded instead.
    ///   - jitter: From 0 up to 1, from a source that the caller owns; spreads the tries of many clients.
    /// - Returns: What follows; never another try without end.
    public func decision(
        after error: TransportError,
        of kind: TransportRequest.Kind,
        attempt: Int,
        fallbacks: Set<Fallback> = [],
        jitter: Double
    ) -> Decision {
        let rule = rules[kind] ?? rule
        if attempt <= rule.retries, Self.mayPass(error), (error.retryAfter ?? .zero) <= longestServerDelay {
            let exponential = rule.firstDelay * (1 << min(max(0, attempt - 1), 16))
            let spread = min(exponential, rule.longestDelay) * (0.5 + 0.5 * min(max(jitter, 0), 1))
            return .retry(after: max(spread, error.retryAfter ?? .zero))
        }
        guard Self.mayBeBetterElsewhere(error, kind) else { return .fail }
        // The same quality from elsewhere, before another quality.
        if fallbacks.contains(.pathway) { return .fallBack(.pathway) }
        return fallbacks.contains(.variant) ? .fallBack(.variant) : .fail
    }

    /// Whether the same request may succeed later.
    static func mayPass(_ error: TransportError) -> Bool {
        switch error.code {
        case .status:
            [408, 425, 429].contains(error.status)
                || (500...599).contains(error.status ?? 0) && error.status != 501
                    && error.status != 505
        case .cannotConnect, .timedOut, .connectionLost, .wrongContent, .unknownHost, .contentChanged: true
        default: false
        }
    }

    private static func mayBeBetterElsewhere(_ error: TransportError, _ kind: TransportRequest.Kind) -> Bool {
        // Who may not have the key may not have it for another quality either.
        !(kind == .key && [401, 402, 403].contains(error.status))
    }
}
