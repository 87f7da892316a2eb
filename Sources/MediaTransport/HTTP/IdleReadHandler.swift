import AsyncHTTPClient
import MediaTiming
import NIOCore
import NIOHTTP1

/// A channel handler that ends an exchange if the server sends nothing for a given time while data is wanted.
///
/// The time-out of AsyncHTTPClient also runs while the reader of a body does not want more data. A body that is passed on
/// to a slow reader would be truncated then, although the server is ready to send.
final class IdleReadHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let limit: TimeAmount
    /// A Boolean value that indicates whether a request was sent whose response is not complete.
    private var isInExchange = false
    /// A Boolean value that indicates whether the channel was asked to read and has not read since.
    private var isReading = false
    /// The time since which the server is expected to send.
    private var waitingSince = NIODeadline.now()
    /// The next check of the time; one check is enough for many received parts.
    private var check: Scheduled<Void>?

    init(limit: TimeAmount) { self.limit = limit }

    func handlerRemoved(context: ChannelHandlerContext) { cancelCheck() }

    func channelInactive(context: ChannelHandlerContext) {
        isInExchange = false
        cancelCheck()
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            isInExchange = true
            // The channel reads since before this handler was added, or since the end of the last exchange.
            isReading = true
            waitingSince = .now()
            scheduleCheck(context, at: waitingSince + limit)
        }
        context.write(data, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        if !isReading {
            isReading = true
            waitingSince = .now()
            if isInExchange, check == nil { scheduleCheck(context, at: waitingSince + limit) }
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waitingSince = .now()
        if case .end = unwrapInboundIn(data) {
            isInExchange = false
            cancelCheck()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    private func scheduleCheck(_ context: ChannelHandlerContext, at deadline: NIODeadline) {
        cancelCheck()
        check = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            check = nil
            // The next read begins another check.
            guard isInExchange, isReading else { return }
            guard .now() - waitingSince >= limit else { return scheduleCheck(context, at: waitingSince + limit) }
            isInExchange = false
            context.fireErrorCaught(HTTPClientError.readTimeout)
            context.close(promise: nil)
        }
    }

    private func cancelCheck() {
        check?.cancel()
        check = nil
    }
}
