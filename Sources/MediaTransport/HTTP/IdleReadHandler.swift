import AsyncHTTPClient
import MediaTiming
import NIOCore
import NIOHTTP1

/// The error of a response that is preceded by too many informational responses.
struct TooManyInformationalResponses: Error {}

/// A channel handler that ends an exchange if a server makes no progress for a given time while data is wanted.
///
/// The final head of the response must arrive within the time after the end of the request; neither single header lines
/// nor informational responses (RFC 9110 §15.2) extend it. After the head, only bytes of the body are progress, so that
/// neither chunk extensions nor trailer fields extend the time. The handler is placed after the decompressor: compressed
/// bytes that expand to nothing are no progress either, and nothing of them is delivered.
///
/// Small parts of the body are combined, so that chunks of one byte need neither the time nor the memory of a buffer each.
///
/// The time-out of AsyncHTTPClient also runs while the reader of a body does not want more data. A body that is passed on
/// to a slow reader would be truncated then, although the server is ready to send.
final class IdleReadHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private enum Phase {
        /// No response is expected.
        case idle
        /// The request was sent at the given time, and the final head of the response is expected.
        case head(since: NIODeadline, informationalCount: Int)
        /// The rest of the body and the end of the response are expected.
        case body
        /// The exchange was ended, and the connection is being closed.
        case failed
    }

    /// The maximum number of informational responses before the final head; servers send one or two.
    static let maximumInformationalCount = 16
    /// The number of bytes from which a part of the body is delivered by itself.
    private static let smallPartSize = 4 << 10
    /// The number of bytes at which combined parts of the body are delivered before the end of a read.
    private static let combinedSize = 64 << 10

    private let limit: TimeAmount
    private var phase = Phase.idle
    /// A Boolean value that indicates whether the channel was asked to read and has not read since.
    private var isReading = false
    /// The time since which the channel reads.
    private var readingSince = NIODeadline.uptimeNanoseconds(0)
    /// The time of earlier reads that received nothing of the body.
    private var waitedBefore = TimeAmount.zero
    /// A Boolean value that indicates whether bytes were received since the last progress.
    private var hasReceivedBytes = false
    /// A Boolean value that indicates whether the current read has made progress.
    private var hasProgress = false
    /// The combined parts of the body that are not delivered yet; `nil` if there are none.
    private var smallParts: ByteBuffer?
    /// The next check of the time; one check is enough for many received parts.
    private var check: Scheduled<Void>?

    init(limit: TimeAmount) { self.limit = limit }

    func handlerRemoved(context: ChannelHandlerContext) { cancelCheck() }

    func channelInactive(context: ChannelHandlerContext) {
        deliverSmallParts(context)
        phase = .idle
        cancelCheck()
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            let now = context.eventLoop.now
            phase = .head(since: now, informationalCount: 0)
            hasReceivedBytes = false
            scheduleCheck(context, at: now + limit)
        }
        context.write(data, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        if !isReading {
            isReading = true
            readingSince = context.eventLoop.now
            if check == nil, let deadline { scheduleCheck(context, at: deadline) }
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if head.isInformational, case .head(let since, let count) = phase {
                guard count < Self.maximumInformationalCount else {
                    return fail(context, TooManyInformationalResponses())
                }
                phase = .head(since: since, informationalCount: count + 1)
            } else if case .head = phase {
                phase = .body
                recordProgress(at: context.eventLoop.now)
            }
        case .body(let buffer):
            guard buffer.readableBytes > 0 else { return }
            recordProgress(at: context.eventLoop.now)
            if case .failed = phase { return }
            return deliver(buffer, context)
        case .end:
            deliverSmallParts(context)
            if case .body = phase {
                phase = .idle
                cancelCheck()
            }
        }
        // The decoder may still have parts after the exchange was ended.
        if case .failed = phase { return }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        deliverSmallParts(context)
        context.fireErrorCaught(error)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        deliverSmallParts(context)
        if isReading {
            isReading = false
            waitedBefore = waitedBefore + (context.eventLoop.now - readingSince)
        }
        if !hasProgress { hasReceivedBytes = true }
        hasProgress = false
        context.fireChannelReadComplete()
    }

    /// Delivers a part of the body, which may be combined with others that the same read receives.
    private func deliver(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
        guard buffer.readableBytes < Self.smallPartSize else {
            deliverSmallParts(context)
            return context.fireChannelRead(wrapInboundOut(.body(buffer)))
        }
        if smallParts == nil {
            smallParts = buffer
        } else {
            var buffer = buffer
            smallParts?.writeBuffer(&buffer)
        }
        if smallParts?.readableBytes ?? 0 >= Self.combinedSize { deliverSmallParts(context) }
    }

    /// Delivers the combined parts of the body.
    private func deliverSmallParts(_ context: ChannelHandlerContext) {
        guard let parts = smallParts else { return }
        smallParts = nil
        if case .failed = phase { return }
        context.fireChannelRead(wrapInboundOut(.body(parts)))
    }

    private func recordProgress(at now: NIODeadline) {
        hasProgress = true
        hasReceivedBytes = false
        waitedBefore = .zero
        readingSince = now
    }

    /// The time at which the exchange ends without progress; `nil` while nothing is expected or no data is wanted.
    private var deadline: NIODeadline? {
        switch phase {
        case .idle, .failed: nil
        case .head(let since, _): since + limit
        case .body: isReading ? readingSince + (limit - waitedBefore) : nil
        }
    }

    private func scheduleCheck(_ context: ChannelHandlerContext, at deadline: NIODeadline) {
        cancelCheck()
        check = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            check = nil
            // The next read begins another check.
            guard let deadline = self.deadline else { return }
            guard context.eventLoop.now >= deadline else { return scheduleCheck(context, at: deadline) }
            fail(context, hasReceivedBytes ? HTTPClientError.deadlineExceeded : HTTPClientError.readTimeout)
        }
    }

    private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
        phase = .failed
        cancelCheck()
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    private func cancelCheck() {
        check?.cancel()
        check = nil
    }
}

extension HTTPResponseHead {
    /// A Boolean value that indicates whether another head follows; a switch to another protocol is the final response.
    fileprivate var isInformational: Bool { (100..<200).contains(status.code) && status != .switchingProtocols }
}
