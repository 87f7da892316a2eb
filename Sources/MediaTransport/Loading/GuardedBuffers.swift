import MediaTiming
import NIOCore
import ResourceAddressing

/// A body that is validated while it is read, and resumed with a range request if the connection is lost.
struct GuardedBuffers: AsyncSequence, Sendable {
    let request: TransportRequest
    let response: TransportResponse
    let transport: any Transport
    let policy: LoadErrorPolicy
    let time: any TimeSource
    let jitter: @Sendable () -> Double

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let source: GuardedBuffers
        private var iterator: TransportBody.AsyncIterator
        private var received: Int64 = 0
        private var failures = 0
        /// The number of received bytes at the last failure.
        private var receivedAtFailure: Int64 = 0
        /// The time spent waiting for bytes since the last throughput check, in which `windowBytes` were received.
        private var waited = Duration.zero
        private var windowBytes: Int64 = 0

        /// The number of bytes between two failures that resets the failure count, so that a large file can be
        /// completed over an unreliable connection.
        private static let forgivingProgress: Int64 = 256 << 10

        init(_ source: GuardedBuffers) {
            self.source = source
            iterator = source.response.body.makeAsyncIterator()
        }

        /// Returns the next bytes; `nil` after the last ones.
        mutating func next() async throws -> ByteBuffer? {
            while true {
                do {
                    let begun = source.time.now
                    guard let buffer = try await iterator.next() else {
                        try checkEnd()
                        return nil
                    }
                    // Only the time that the server takes is counted, not that of the reader.
                    waited += source.time.now - begun
                    if received == 0 { try refusePage(buffer) }
                    // Bytes are counted after the check, because the resumption starts after the last bytes that were
                    // returned.
                    try checkPace(Int64(buffer.readableBytes))
                    received +|= Int64(buffer.readableBytes)
                    try checkLength()
                    return buffer
                } catch let error as TransportError {
                    try await goOn(after: error)
                }
            }
        }

        // MARK: Validation

        private func checkEnd() throws {
            guard let expected = source.response.expectedLength, received < expected else { return }
            throw error(.connectionLost, "\(received) of \(expected) bytes came")
        }

        private func checkLength() throws {
            guard let expected = source.response.expectedLength, received > expected else { return }
            throw error(.wrongContent, "more than the announced \(expected) bytes came")
        }

        /// Verifies that the body is not an HTML page, such as an error or login page with status 200.
        ///
        /// The media type is not checked, because scripts that serve keys and media often send `text/html`.
        private func refusePage(_ buffer: ByteBuffer) throws {
            guard source.request.kind != .playlist, source.request.kind != .other else { return }
            let start = buffer.readableBytesView.prefix(256).drop {
                [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0)
            }
            let text = String(decoding: start.prefix(14), as: UTF8.self).lowercased()
            guard text.hasPrefix("<!doctype html") || text.hasPrefix("<html") else { return }
            throw error(.wrongContent, "a web page came where \(source.request.kind.noun) was expected")
        }

        private mutating func checkPace(_ byteCount: Int64) throws {
            windowBytes +|= byteCount
            let pace = source.policy.slowestPace
            guard waited >= pace.window else { return }
            // After a pause, the required number of bytes is computed from the entire waiting time.
            let least = Double(pace.leastBytes) * (waited / pace.window)
            let isEnd = source.response.expectedLength.map { received +| byteCount >= $0 } ?? false
            let seconds = waited.components.seconds
            defer { (waited, windowBytes) = (.zero, 0) }
            guard Double(windowBytes) < least, !isEnd else { return }
            throw error(.timedOut, "only \(windowBytes) bytes came in \(seconds) seconds")
        }

        private func error(_ code: TransportError.Code, _ message: String) -> TransportError {
            TransportError(code, message, address: source.response.address, status: source.response.status)
        }

        // MARK: Resumption

        /// Requests the rest of the body.
        ///
        /// - Throws: The error if the body cannot be resumed or has failed too often.
        private mutating func goOn(after error: TransportError) async throws {
            guard let validator = source.validator, received > 0, error.code != .wrongContent else { throw error }
            if received -| receivedAtFailure >= Self.forgivingProgress { failures = 0 }
            receivedAtFailure = received
            var error = error
            while true {
                failures += 1
                let decision = source.policy.decision(
                    after: error,
                    of: source.request.kind,
                    attempt: failures,
                    jitter: source.jitter()
                )
                guard case .retry(let delay) = decision, error.code != .contentChanged else { throw error }
                try await source.time.sleep(for: delay)
                do {
                    iterator = try await source.rest(from: received, validator)
                    (waited, windowBytes) = (.zero, 0)
                    return
                } catch let failure as TransportError {
                    error = failure
                }
            }
        }
    }

    /// The validator that proves that the resource is unchanged: a strong entity tag, or a modification date that is
    /// strong (RFC 9110 §8.8.2.2); `nil` if there is none or if byte ranges are not supported.
    private var validator: String? {
        guard response.header("Accept-Ranges")?.lowercased() != "none", response.header("Content-Encoding") == nil,
            response.expectedLength != nil
        else { return nil }
        if let tag = response.header("ETag"), tag.hasPrefix("\""), tag.count > 1 { return tag }
        guard let modified = response.header("Last-Modified"), let date = response.header("Date"),
            let changed = HTTPDate.seconds(modified), let now = HTTPDate.seconds(date), now -| changed >= 1
        else { return nil }
        return modified
    }

    /// Requests the body from the given offset on.
    private func rest(from offset: Int64, _ validator: String) async throws -> TransportBody.AsyncIterator {
        var request = request
        request.resumption = TransportRequest.Resumption(offset: offset, validator: validator)
        let rest = try await transport.send(request)
        guard rest.expectedLength == response.expectedLength.map({ $0 -| offset }) else {
            throw TransportError(
                .contentChanged,
                "the resource changed while it was loaded",
                address: rest.address,
                status: rest.status
            )
        }
        let record = rest.record
        let first = response.record
        let spent = first.measurement.bytes
        let buffers = ContinuedBuffers(rest: rest.body, record: record, first: first, spent: spent)
        return TransportBody(buffers).makeAsyncIterator()
    }
}

/// The rest of a body, whose measurements are added to those of its beginning.
private struct ContinuedBuffers: AsyncSequence, Sendable {
    let rest: TransportBody
    let record: TransferRecord
    let first: TransferRecord
    let spent: ByteCount

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let buffers: ContinuedBuffers

        mutating func next() async throws -> ByteBuffer? {
            let buffer = try await iterator.next()
            let rest = buffers.record.measurement
            buffers.first.update { measurement in
                measurement.bytes = buffers.spent + rest.bytes
                measurement.serverAddress = rest.serverAddress
                // Both times are relative to the first request.
                measurement.lastByte = rest.lastByte.map { rest.sent - measurement.sent + $0 }
            }
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: rest.makeAsyncIterator(), buffers: self) }
}
