package import MediaTiming
import NIOCore
import ResourceAddressing

/// A check whether a body arrives with a minimum throughput, while only the time that the server takes is counted.
struct ThroughputWindow: Sendable {
    private let minimum: RecoveryPolicy.MinimumThroughput
    /// The time spent waiting for bytes since the last check, in which `byteCount` bytes were received.
    private var waitingTime = Duration.zero
    private var byteCount: Int64 = 0

    /// Creates a check that begins now.
    init(_ minimum: RecoveryPolicy.MinimumThroughput) { self.minimum = minimum }

    /// Adds the time that was spent waiting for bytes.
    mutating func addWaitingTime(_ duration: Duration) { waitingTime += duration }

    /// Adds received bytes, and begins again after each interval.
    ///
    /// - Parameters:
    ///   - count: The number of bytes, 0 or more.
    ///   - isEnd: A Boolean value that indicates whether these are the last bytes of the body, which may be slow.
    /// - Returns: The message of an error if an interval had too few bytes; `nil` otherwise.
    mutating func shortfall(adding count: Int64, isEnd: Bool) -> String? {
        byteCount +|= count
        guard waitingTime >= minimum.interval else { return nil }
        // After a pause, the required number of bytes is computed from the entire waiting time.
        let least = Double(minimum.byteCount) * (waitingTime / minimum.interval)
        let seconds = waitingTime.components.seconds
        defer { (waitingTime, byteCount) = (.zero, 0) }
        guard Double(byteCount) < least, !isEnd else { return nil }
        return "only \(byteCount) bytes were received in \(seconds) seconds"
    }
}

extension TransportResponse {
    /// Returns the response with a body that times out below the minimum throughput of a policy and, for a document,
    /// after its time limit, for a transport that reads the beginning of a body before a ``ResourceLoader`` verifies it.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - request: The request.
    ///   - time: The clock.
    /// - Returns: The response; its body has no empty buffers.
    package func requiringThroughput(
        of policy: RecoveryPolicy,
        for request: TransportRequest,
        _ time: any TimeSource
    ) -> TransportResponse {
        let timer = DocumentTimer(request, limit: policy.documentTimeLimit)
        let buffers = TimedBuffers(
            body: body,
            minimum: policy.minimumThroughput,
            timer: timer,
            time: time,
            expectedLength: expectedLength,
            address: address,
            status: status
        )
        var response = replacingBody(with: TransportBody(buffers))
        if let timer { response.documentTimers.append(timer) }
        return response
    }
}

/// The buffers of a body with a minimum throughput.
private struct TimedBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let minimum: RecoveryPolicy.MinimumThroughput
    let timer: DocumentTimer?
    let time: any TimeSource
    let expectedLength: Int64?
    let address: ResourceAddress
    let status: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        private let buffers: TimedBuffers
        private var iterator: TransportBody.AsyncIterator
        private var window: ThroughputWindow
        private var received: Int64 = 0

        init(_ buffers: TimedBuffers) {
            self.buffers = buffers
            iterator = buffers.body.makeAsyncIterator()
            window = ThroughputWindow(buffers.minimum)
        }

        mutating func next() async throws -> ByteBuffer? {
            while true {
                let begun = buffers.time.now
                guard let buffer = try await iterator.next() else { return nil }
                let waitingTime = buffers.time.now - begun
                window.addWaitingTime(waitingTime)
                let count = Int64(buffer.readableBytes)
                received +|= count
                let isEnd = buffers.expectedLength.map { received >= $0 } ?? false
                if let message = buffers.timer?.excess(adding: count, after: waitingTime, isEnd: isEnd) {
                    var error = buffers.timeout(message)
                    error.exceedsDocumentTime = true
                    throw error
                }
                if let message = window.shortfall(adding: count, isEnd: isEnd) { throw buffers.timeout(message) }
                if count > 0 { return buffer }
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    private func timeout(_ message: String) -> TransportError {
        TransportError(.timedOut, message, address: address, status: status)
    }
}
