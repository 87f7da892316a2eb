/// The one place that decides whether a failed request is tried again, and when.
public struct LoadErrorPolicy: Sendable, Hashable {
    /// How often a request is tried again after it failed, 0 or more.
    public var retries: Int
    /// How long to wait before the first further try; each wait is twice the one before.
    public var firstDelay: Duration
    /// The longest wait, also where the server asks for a longer one.
    public var longestDelay: Duration

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - retries: Defaults to 3.
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

    /// Decides whether to try again.
    ///
    /// - Parameters:
    ///   - error: Why the last try failed.
    ///   - attempt: How many tries failed so far, 1 or more.
    ///   - jitter: From 0 up to 1, from a source that the caller owns; spreads the tries of many clients.
    /// - Returns: How long to wait before the next try; `nil` where there shall be none.
    public func delay(after error: TransportError, attempt: Int, jitter: Double) -> Duration? {
        guard attempt <= retries, Self.mayPass(error) else { return nil }
        let exponential = firstDelay * (1 << min(attempt - 1, 16))
        let spread = min(exponential, longestDelay) * (0.5 + 0.5 * jitter)
        return min(max(spread, error.retryAfter ?? .zero), longestDelay)
    }

    /// Whether the same request may succeed later.
    private static func mayPass(_ error: TransportError) -> Bool {
        switch error.code {
        case .status: [408, 425, 429].contains(error.status) || (500...599).contains(error.status ?? 0)
        case .cannotConnect, .timedOut, .connectionLost, .wrongContent, .unknownHost: true
        default: false
        }
    }
}
