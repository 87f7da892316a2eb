import MediaTiming
import NIOCore
import ResourceAddressing

/// The state of a request that a delegate answers: what it decided, and what it has responded so far.
struct LoadingState: Sendable {
    /// The decision of the delegate.
    enum Decision: Sendable {
        /// The delegate was not asked yet, or has not returned.
        case pending
        case accepted
        case declined
        /// There is no delegate.
        case missing
    }

    /// The end of the response.
    enum End: Sendable {
        case finished
        case failed(any Error)
        /// The delegate released the request without finishing it.
        case released
        /// The request was canceled by the side that made it.
        case cancelled
    }

    var decision = Decision.pending
    var information = AssetResourceContentInformation()
    var response: AssetResourceResponse?
    var redirect: TransportRequest?
    private(set) var end: End?
    private var pieces = CircularBuffer<ByteBuffer>()
    /// The number of requested bytes that are still missing; `nil` for all bytes to the end.
    private var remaining: Int64?
    private(set) var receivedByteCount: Int64 = 0
    /// The number of bytes that wait to be read.
    private(set) var waitingByteCount = 0

    private static let smallByteCount = 16 << 10

    /// Creates the state of a request that was not answered yet.
    ///
    /// - Parameter length: The number of requested bytes; `nil` for all bytes to the end.
    init(length: Int64?) { remaining = length }

    /// Adds bytes of the delegate; those that were not requested are ignored.
    mutating func append(_ bytes: ByteBuffer) {
        guard end == nil else { return }
        var bytes = bytes
        receivedByteCount +|= Int64(bytes.readableBytes)
        if let missing = remaining {
            let taken = min(missing, Int64(bytes.readableBytes))
            bytes = bytes.readSlice(length: Int(clamping: taken)) ?? ByteBuffer()
            remaining = missing.subtractingSaturated(taken)
        }
        guard bytes.readableBytes > 0 else { return }
        waitingByteCount +|= bytes.readableBytes
        // Small pieces are joined, so that their number is bounded by the number of bytes.
        if let last = pieces.indices.last, pieces[last].readableBytes < Self.smallByteCount {
            pieces[last].writeBuffer(&bytes)
        } else {
            pieces.append(bytes)
        }
    }

    /// Removes and returns the next bytes; `nil` if there are none at the moment.
    mutating func next() -> ByteBuffer? {
        guard let piece = pieces.popFirst() else { return nil }
        waitingByteCount -|= piece.readableBytes
        return piece
    }

    /// Ends the response.
    ///
    /// - Returns: `false` if it had ended before; the first end counts.
    @discardableResult
    mutating func finish(_ end: End) -> Bool {
        guard self.end == nil else { return false }
        self.end = end
        if case .cancelled = end { (pieces, waitingByteCount) = (CircularBuffer(), 0) }
        return true
    }

    /// A Boolean value that indicates whether the head of the response is known.
    var hasHead: Bool { end != nil || !pieces.isEmpty || isComplete }

    /// A Boolean value that indicates whether no more bytes are needed.
    var isComplete: Bool { remaining == 0 }
}
