import MediaTiming
import Synchronization

/// A measurement of the time that a document takes, over all attempts of a request.
///
/// Only the time until bytes of the body arrive is counted; waits that end with an error are limited by the number of
/// retries.
final class DocumentTimer: Sendable {
    private struct State {
        var waitingTime = Duration.zero
        var byteCount: Int64 = 0
        /// The number of bytes of the current attempt, which begins at the first byte of the document again.
        var attemptByteCount: Int64 = 0
        var attemptCount = 0
        var isEnded = false
    }

    private let limit: RecoveryPolicy.DocumentTimeLimit
    private let state = Mutex(State())

    /// Creates a measurement; `nil` if the resource of the request is not a document.
    init?(_ request: TransportRequest, limit: RecoveryPolicy.DocumentTimeLimit) {
        guard request.isForDocument else { return nil }
        self.limit = limit
    }

    /// Begins an attempt, which receives the document from its first byte.
    func beginAttempt() {
        state.withLock { state in
            state.attemptCount +|= 1
            state.attemptByteCount = 0
        }
    }

    /// Ends the measurement, because the resource is no document.
    func end() { state.withLock { $0.isEnded = true } }

    /// Adds bytes that were received.
    ///
    /// The last bytes of a body may be late, because nothing is gained if they are refused.
    ///
    /// - Parameters:
    ///   - count: The number of bytes, 0 or more, including those before the requested range.
    ///   - waitingTime: The time that was spent waiting for them.
    ///   - isEnd: A Boolean value that indicates whether these are the last bytes of the body.
    /// - Returns: The message of an error if the time limit has passed; `nil` otherwise.
    func excess(adding count: Int64, after waitingTime: Duration, isEnd: Bool) -> String? {
        let state = state.withLock { state in
            state.waitingTime += waitingTime
            state.byteCount +|= count
            state.attemptByteCount +|= count
            return state
        }
        guard !isEnd, !state.isEnded, limit.isExceeded(by: state.waitingTime, after: state.byteCount)
        else { return nil }
        let seconds = state.waitingTime.components.seconds
        // The resource can be a media file, which is known only after its first bytes.
        let bytes = "only \(state.attemptByteCount) bytes were received in"
        return state.attemptCount > 1
            ? "\(bytes) the last attempt, and all attempts took \(seconds) seconds" : "\(bytes) \(seconds) seconds"
    }
}

extension TransportRequest {
    /// A Boolean value that indicates whether the resource is a document, which is loaded completely before it is used.
    ///
    /// Byte ranges of other resources are parts of media files, such as their indexes.
    fileprivate var isForDocument: Bool {
        switch kind {
        case .playlist, .key, .subtitle: true
        case .other: byteRange == nil
        case .segment, .initialization: false
        }
    }
}
