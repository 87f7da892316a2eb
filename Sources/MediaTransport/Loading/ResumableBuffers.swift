import MediaTiming
import NIOCore
import ResourceAddressing

/// A body that is validated while it is read, and resumed with a range request if the connection is lost.
struct ResumableBuffers: AsyncSequence, Sendable {
    let request: TransportRequest
    let response: TransportResponse
    let transport: any Transport
    let policy: RecoveryPolicy
    /// The time of the document; `nil` for other resources.
    let timer: DocumentTimer?
    let time: any TimeSource
    let jitter: @Sendable () -> Double

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let source: ResumableBuffers
        private var iterator: TransportBody.AsyncIterator
        private var received: Int64 = 0
        /// The failures since the last reset.
        private var history = RecoveryPolicy.History()
        /// The number of received bytes at the last failure.
        private var receivedAtFailure: Int64 = 0
        private var window: ThroughputWindow
        /// The number of received bytes that precede the requested range, and are not a part of the body.
        private var skipped: Int64 = 0

        /// The number of bytes between two failures that resets the history, so that a large file can be
        /// completed over an unreliable connection.
        private static let failureResetByteCount: Int64 = 256 << 10

        init(_ source: ResumableBuffers) {
            self.source = source
            iterator = source.response.body.makeAsyncIterator()
            window = ThroughputWindow(source.policy.minimumThroughput)
        }

        /// Returns the next bytes; `nil` after the last ones.
        ///
        /// A buffer is empty only if bytes before the requested range were received.
        mutating func next() async throws -> ByteBuffer? {
            while true {
                do {
                    let begun = source.time.now
                    guard let buffer = try await iterator.next() else {
                        try checkEnd()
                        return nil
                    }
                    // Only the time that the server takes is counted, not that of the reader.
                    let waitingTime = source.time.now - begun
                    window.addWaitingTime(waitingTime)
                    if received == 0 { try rejectHTMLPage(buffer) }
                    // Bytes are counted after the check, because the resumption starts after the last bytes that were
                    // returned.
                    let skippedBytes = newlySkippedBytes()
                    try checkThroughput(Int64(buffer.readableBytes), skippedBytes: skippedBytes, after: waitingTime)
                    received +|= Int64(buffer.readableBytes)
                    try checkLength()
                    // Readers that collect bytes must not collect buffers without any.
                    guard buffer.readableBytes > 0 || skippedBytes > 0 else { continue }
                    return buffer
                } catch let error as TransportError {
                    try await resume(after: error)
                }
            }
        }

        // MARK: Validation

        private func checkEnd() throws {
            guard let expected = source.response.expectedLength, received < expected else { return }
            throw error(.connectionLost, "the body ended after \(received) of \(expected) bytes")
        }

        private func checkLength() throws {
            guard let expected = source.response.expectedLength, received > expected else { return }
            throw error(.wrongContent, "the body is longer than the announced \(expected) bytes")
        }

        /// Verifies that the body is not an HTML page, such as an error or login page with status 200.
        private func rejectHTMLPage(_ buffer: ByteBuffer) throws {
            guard source.request.kind != .playlist, source.request.kind != .other else { return }
            guard WebPage.isRecognized(in: buffer) else { return }
            throw error(.wrongContent, "the server sent a web page instead of \(source.request.kind.displayName)")
        }

        /// Returns the number of bytes that were skipped since the last call.
        private mutating func newlySkippedBytes() -> Int64 {
            let total = source.response.record.measurement.skippedBytes.bytes
            defer { skipped = total }
            return Swift.max(0, total -| skipped)
        }

        private mutating func checkThroughput(
            _ byteCount: Int64,
            skippedBytes: Int64,
            after waitingTime: Duration
        ) throws {
            let isEnd = source.response.expectedLength.map { received +| byteCount >= $0 } ?? false
            // Bytes before the requested range arrive as well, though they are not a part of the body.
            let arrivedCount = byteCount +| skippedBytes
            if let message = source.timer?.excess(adding: arrivedCount, after: waitingTime, isEnd: isEnd) {
                var failure = error(.timedOut, message)
                failure.exceedsDocumentTime = true
                throw failure
            }
            guard let message = window.shortfall(adding: arrivedCount, isEnd: isEnd) else { return }
            throw error(.timedOut, message)
        }

        private func error(_ code: TransportError.Code, _ message: String) -> TransportError {
            TransportError(code, message, address: source.response.address, status: source.response.status)
        }

        // MARK: Resumption

        /// Requests the rest of the body.
        ///
        /// - Throws: The error if the body cannot be resumed or has failed too often.
        private mutating func resume(after error: TransportError) async throws {
            guard let validator = source.response.resumptionValidator, received > 0, error.code != .wrongContent else {
                throw error
            }
            if received -| receivedAtFailure >= Self.failureResetByteCount { history = RecoveryPolicy.History() }
            receivedAtFailure = received
            var error = error
            while true {
                let kind = source.request.kind
                let delay = source.policy.retryDelay(
                    after: RecoveryPolicy.Failure(error, of: kind),
                    of: kind,
                    &history,
                    jitter: source.jitter()
                )
                guard let delay, error.code != .contentChanged else { throw error }
                try await source.time.sleep(for: delay)
                do {
                    iterator = try await source.resumedBody(from: received, validator: validator)
                    window = ThroughputWindow(source.policy.minimumThroughput)
                    return
                } catch let failure as TransportError {
                    error = failure
                }
            }
        }
    }

    /// Requests the body from the given offset on.
    private func resumedBody(from offset: Int64, validator: String) async throws -> TransportBody.AsyncIterator {
        var request = request
        // The response may itself be the rest of a body whose beginning was received earlier.
        let begun = request.resumption?.offset ?? 0
        request.resumption = TransportRequest.Resumption(
            offset: begun +| offset,
            validator: validator,
            totalLength: response.totalLength(of: request)
        )
        let rest = try await transport.sendFollowingRedirects(request)
        guard rest.expectedLength == response.expectedLength.map({ $0 -| offset }) else {
            throw TransportError(
                .contentChanged,
                "the resource changed while it was being loaded",
                address: rest.address,
                status: rest.status
            )
        }
        let record = rest.record
        let first = response.record
        let buffers = ResumedBuffers(
            rest: rest.body,
            record: record,
            firstRecord: first,
            previousBytes: first.measurement.bytes,
            previouslySkippedBytes: first.measurement.skippedBytes
        )
        return TransportBody(buffers).makeAsyncIterator()
    }
}

extension TransportResponse {
    /// The validator that proves that the resource is unchanged: a strong entity tag, or a modification date that is
    /// strong (RFC 9110 §8.8.2.2); `nil` if there is none or if byte ranges are not supported.
    package var resumptionValidator: String? {
        guard header("Accept-Ranges")?.lowercased() != "none", header("Content-Encoding") == nil,
            expectedLength != nil
        else { return nil }
        if let tag = header("ETag"), tag.hasPrefix("\""), tag.count > 1 { return tag }
        guard let modified = header("Last-Modified"), let date = header("Date"),
            let changed = HTTPDate.seconds(modified), let now = HTTPDate.seconds(date), now -| changed >= 1
        else { return nil }
        return modified
    }

    /// Returns the length of the entire resource of a request in bytes; `nil` if it is unknown.
    ///
    /// - Parameter request: The request, which can be one for a part of the resource.
    /// - Returns: The length.
    package func totalLength(of request: TransportRequest) -> Int64? {
        if let total = header("Content-Range").flatMap({ ContentRange($0) })?.total { return total }
        let offset = request.resumption?.offset ?? 0
        guard request.byteRange == nil, status == 200 || offset > 0 else { return nil }
        return expectedLength.map { $0 +| offset }
    }
}

/// The rest of a body, whose measurements are added to those of its beginning.
private struct ResumedBuffers: AsyncSequence, Sendable {
    let rest: TransportBody
    let record: TransferRecord
    let firstRecord: TransferRecord
    let previousBytes: ByteCount
    let previouslySkippedBytes: ByteCount

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let buffers: ResumedBuffers

        mutating func next() async throws -> ByteBuffer? {
            let buffer = try await iterator.next()
            let rest = buffers.record.measurement
            buffers.firstRecord.update { measurement in
                measurement.bytes = buffers.previousBytes + rest.bytes
                measurement.skippedBytes = buffers.previouslySkippedBytes + rest.skippedBytes
                measurement.serverAddress = rest.serverAddress
                // Both times are relative to the first request.
                measurement.timeToLastByte = rest.timeToLastByte.map {
                    rest.requestStart - measurement.requestStart + $0
                }
            }
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: rest.makeAsyncIterator(), buffers: self) }
}
