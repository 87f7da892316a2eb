import MediaTiming

/// The state of a connection, as far as its time limits are concerned.
struct ConnectionDeadlines {
    /// The part of a request that is due.
    enum Phase: Equatable {
        /// No request has begun.
        case idle
        /// The head of a request has begun.
        case head
        /// The body of a request is being received.
        case body
        /// The request was received; its answer is due from the server.
        case answer
    }

    private(set) var phase = Phase.idle
    private var start: Duration
    /// The number of requests whose answers are not complete; more than one for a client that does not wait.
    private(set) var unansweredCount = 0
    private let limits: ConnectionLimits

    /// The minimum number of bytes that a client must read for each second of the time limit.
    private static let minimumBytesPerSecond = 512.0
    private var readProgress: (bytes: Int, since: Duration)?

    /// Creates the state of a connection that was just opened.
    init(_ limits: ConnectionLimits, at now: Duration) {
        self.limits = limits
        start = now
    }

    /// The time at which the connection ends if nothing happens; `nil` while the client has nothing to send.
    var deadline: Duration? {
        switch phase {
        case .idle: start + limits.keepAliveTimeout
        case .head: start + limits.headTimeout
        case .body: start + limits.bodyTimeout
        case .answer: nil
        }
    }

    /// Bytes came; the first ones begin a head.
    mutating func receiveBytes(at now: Duration) {
        guard phase == .idle || phase == .answer else { return }
        enter(.head, at: now)
    }

    /// The head of a request is complete.
    mutating func receiveHead(at now: Duration) {
        unansweredCount += 1
        enter(.body, at: now)
    }

    /// The body of a request is complete.
    mutating func receiveEnd(at now: Duration) {
        enter(unansweredCount > 0 ? .answer : .idle, at: now)
    }

    /// The last part of an answer was written.
    mutating func finishAnswer(at now: Duration) {
        unansweredCount = max(0, unansweredCount - 1)
        if unansweredCount == 0, phase == .answer { enter(.idle, at: now) }
    }

    private mutating func enter(_ phase: Phase, at now: Duration) {
        self.phase = phase
        start = now
    }

    /// The client has read everything that was written for it.
    mutating func noteEmptyBuffer() { readProgress = nil }

    /// Decides whether the client reads too slowly what was written for it.
    ///
    /// - Parameters:
    ///   - sent: The number of bytes that the system took over so far.
    ///   - buffered: The number of bytes that wait for the client.
    ///   - now: The current time.
    /// - Returns: Whether it does.
    mutating func isReaderTooSlow(sent: Int, buffered: Int, at now: Duration) -> Bool {
        guard buffered > 0 else {
            readProgress = nil
            return false
        }
        guard let progress = readProgress else {
            readProgress = (sent, now)
            return false
        }
        guard now - progress.since >= limits.writeTimeout else { return false }
        let minimum = min(65_536, limits.writeTimeout / .seconds(1) * Self.minimumBytesPerSecond)
        guard Double(sent - progress.bytes) >= minimum else { return true }
        readProgress = (sent, now)
        return false
    }
}
