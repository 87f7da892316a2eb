import MediaTiming

/// A state machine for the time limits of a connection.
struct ConnectionDeadlines {
    /// The part of a request or response that is expected next.
    enum Phase: Equatable {
        /// No request has begun.
        case idle
        /// The head of a request has begun.
        case head
        /// The body of a request is being received.
        case body
        /// The request was received, and the server is expected to respond.
        case response
    }

    private(set) var phase = Phase.idle
    private var start: Duration
    /// The number of requests without a complete response; more than one if the client pipelines requests.
    private(set) var pendingResponseCount = 0
    private let limits: ConnectionLimits

    /// The minimum number of bytes that a client must read for each second of the time limit.
    private static let minimumBytesPerSecond = 512.0
    private var readProgress: (bytes: Int, since: Duration)?

    /// Creates the state of a connection that has just been opened.
    init(_ limits: ConnectionLimits, at now: Duration) {
        self.limits = limits
        start = now
    }

    /// The time at which the connection ends unless more bytes are received; `nil` while the client is not expected to
    /// send anything.
    var deadline: Duration? {
        switch phase {
        case .idle: start + limits.keepAliveTimeout
        case .head: start + limits.headTimeout
        case .body: start + limits.bodyTimeout
        case .response: nil
        }
    }

    /// Records that bytes were received; the first ones begin the head of a request.
    mutating func receiveBytes(at now: Duration) {
        guard phase == .idle || phase == .response else { return }
        enter(.head, at: now)
    }

    /// Records that the head of a request is complete.
    mutating func receiveHead(at now: Duration) {
        pendingResponseCount += 1
        enter(.body, at: now)
    }

    /// Records that the body of a request is complete.
    mutating func receiveEnd(at now: Duration) {
        enter(pendingResponseCount > 0 ? .response : .idle, at: now)
    }

    /// Records that the last part of a response was written.
    mutating func finishResponse(at now: Duration) {
        pendingResponseCount = max(0, pendingResponseCount - 1)
        if pendingResponseCount == 0, phase == .response { enter(.idle, at: now) }
    }

    private mutating func enter(_ phase: Phase, at now: Duration) {
        self.phase = phase
        start = now
    }

    /// Records that the client has received all bytes that were written.
    mutating func recordEmptyBuffer() { readProgress = nil }

    /// Returns whether the client reads a response too slowly.
    ///
    /// - Parameters:
    ///   - sent: The total number of bytes that the operating system has accepted.
    ///   - buffered: The number of bytes that wait to be sent.
    ///   - now: The current time.
    /// - Returns: `true` if, within the write timeout, the client accepted fewer bytes than 512 per second or 64 KiB,
    ///   whichever is less.
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
