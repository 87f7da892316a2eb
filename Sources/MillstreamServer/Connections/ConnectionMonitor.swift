import HTTPTypes
import MediaTiming
import NIOCore
import NIOHTTPTypes
import ReportFormat

/// A channel handler that monitors the bytes of a connection; it is the first in the pipeline.
///
/// It refuses connections over the limits, and reports bytes to the ``RequestMonitor`` of the same connection.
final class ByteMonitor: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let registry: ConnectionRegistry
    private let monitor: RequestMonitor
    private var lease: ConnectionRegistry.Lease?
    private var refusal: ConnectionRegistry.Lease?
    private var isRefused = false

    /// The time that a refused client has to read the response.
    private static let refusalTime = TimeAmount.seconds(1)

    init(_ registry: ConnectionRegistry, _ monitor: RequestMonitor) {
        self.registry = registry
        self.monitor = monitor
    }

    func channelActive(context: ChannelHandlerContext) {
        switch registry.admitConnection(from: context.channel.remoteAddress?.hostAddress) {
        case .admitted(let lease):
            self.lease = lease
            context.fireChannelActive()
        case .serverIsFull: refuse("the server has too many connections", context)
        case .clientIsFull: refuse("this client has too many connections", context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        (lease, refusal) = (nil, nil)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        monitor.receiveBytes()
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        monitor.writeBytes(unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let response = event as? EncodedResponse else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        monitor.writeBytes(response.head.readableBytes +| (response.body?.readableBytes ?? 0))
        if let body = response.body {
            context.write(wrapOutboundOut(.byteBuffer(response.head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.byteBuffer(body)), promise: promise)
        } else {
            context.writeAndFlush(wrapOutboundOut(.byteBuffer(response.head)), promise: promise)
        }
    }

    /// Responds without waiting for a request, and closes the connection.
    private func refuse(_ message: String, _ context: ChannelHandlerContext) {
        isRefused = true
        let body = ServerError(.serviceUnavailable, "too-many-connections", message, hint: "close some and try again")
            .report
        let text = "{\"error\":\(body.json)}"
        let head =
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\n"
            + "Content-Length: \(text.utf8.count)\r\nCache-Control: no-store\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer(string: head + text))), promise: nil)
        // Closing a connection with unread bytes resets it, so that the client would not receive the response.
        context.close(mode: .output, promise: nil)
        context.read()
        refusal = registry.admitRefusal()
        guard refusal != nil else { return context.close(promise: nil) }
        let channel = context.channel
        _ = context.eventLoop.scheduleTask(in: Self.refusalTime) { channel.close(promise: nil) }
    }
}

/// A channel handler that monitors the requests and responses of a connection, and closes it when a time limit has
/// passed.
final class RequestMonitor: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var deadlines: ConnectionDeadlines
    private let limits: ConnectionLimits
    private let time: any TimeSource
    private var context: ChannelHandlerContext?
    private var deadlineTask: Scheduled<Void>?
    private var readerTask: Scheduled<Void>?
    private var writtenBytes = 0
    private var hasStartedResponse = false

    init(_ limits: ConnectionLimits, time: any TimeSource) {
        self.limits = limits
        self.time = time
        deadlines = ConnectionDeadlines(limits, at: time.now)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelActive(context: ChannelHandlerContext) {
        scheduleDeadline()
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func receiveBytes() {
        deadlines.receiveBytes(at: time.now)
        scheduleDeadline()
    }

    func writeBytes(_ count: Int) {
        writtenBytes += count
        if readerTask == nil { checkReader() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: deadlines.receiveHead(at: time.now)
        case .body: break
        case .end: deadlines.receiveEnd(at: time.now)
        }
        scheduleDeadline()
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head: hasStartedResponse = true
        case .body: break
        case .end:
            hasStartedResponse = false
            deadlines.finishResponse(at: time.now)
            scheduleDeadline()
        }
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is EncodedResponse {
            deadlines.finishResponse(at: time.now)
            scheduleDeadline()
        }
        context.triggerUserOutboundEvent(event, promise: promise)
    }

    private func end() {
        deadlineTask?.cancel()
        readerTask?.cancel()
        (deadlineTask, readerTask, context) = (nil, nil, nil)
    }

    /// Schedules a check of the deadline; one scheduled task serves many requests, since it checks whether the deadline
    /// has moved.
    private func scheduleDeadline() {
        guard deadlineTask == nil, let context, let deadline = deadlines.deadline else { return }
        // The delay is at most the shortest limit, so that a deadline that has become earlier is noticed.
        let shortest = min(limits.headTimeout, limits.bodyTimeout, limits.keepAliveTimeout)
        let wait = max(.milliseconds(1), min(deadline - time.now, shortest))
        deadlineTask = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limiting: wait)) { [self] in
            deadlineTask = nil
            guard let deadline = deadlines.deadline, deadline <= time.now else { return scheduleDeadline() }
            timeOut()
        }
    }

    /// Checks periodically whether the client reads its response, as long as bytes wait to be sent.
    private func checkReader() {
        guard let context else { return }
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        if deadlines.isReaderTooSlow(sent: writtenBytes - buffered, buffered: buffered, at: time.now) {
            return context.close(promise: nil)
        }
        let interval = max(.milliseconds(1), limits.writeTimeout / 4)
        readerTask = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limiting: interval)) { [self] in
            readerTask = nil
            let waiting = (try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            if waiting > 0 { checkReader() } else { deadlines.recordEmptyBuffer() }
        }
    }

    private func timeOut() {
        guard let context else { return }
        // After a request that has no response yet, this response would be taken for the response to that request.
        let isRequestDue =
            switch deadlines.phase {
            case .head: deadlines.pendingResponseCount == 0
            case .body: deadlines.pendingResponseCount == 1
            case .idle, .response: false
            }
        guard isRequestDue, !hasStartedResponse else { return context.close(promise: nil) }
        let failure = ServerError(.requestTimeout, "request-timeout", "the request took too long to arrive")
        let text = ByteBuffer(string: "{\"error\":\(failure.report.json)}")
        let head = HTTPResponse(
            status: .requestTimeout,
            headerFields: [
                .contentType: "application/json; charset=utf-8", .contentLength: "\(text.readableBytes)",
                .connection: "close", .cacheControl: "no-store",
            ]
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(text)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }
}

extension TimeAmount {
    /// Creates an amount from a duration, limited to the range from zero to one year.
    init(limiting duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(31_536_000)).components
        self = .nanoseconds(seconds.multipliedSaturated(by: 1_000_000_000).addingSaturated(attoseconds / 1_000_000_000))
    }
}
