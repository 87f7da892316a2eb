import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A channel handler that reads the requests of a connection and performs the actions for each, in sequence.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case idle
        case responding
        case stalled
        case closed
    }

    /// The maximum number of unread bytes during a response, in bytes; more is a flood and not pipelining.
    private static let unreadLimit = 1 << 20

    private let server: MisbehavingServer
    private let connection: Int
    private let channel: any Channel
    private let loop: NIOIsolatedEventLoop
    private var phase = Phase.idle
    private var reader = RequestReader()
    private var actions: ArraySlice<WireAction> = []
    private var sending: PacedSending?
    private var idleRule = IdleRule.stay
    private var timer: Scheduled<Void>?
    private var isInputClosed = false

    /// Creates a handler; must be called on the event loop of the channel.
    init(_ server: MisbehavingServer, connection: Int, on channel: any Channel) {
        self.server = server
        self.connection = connection
        self.channel = channel
        loop = channel.eventLoop.assumeIsolated()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .closed else { return }
        reader.append(unwrapInboundIn(data).readableBytesView)
        if phase == .idle {
            takeRequest()
        } else if reader.unreadCount > Self.unreadLimit {
            close()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            isInputClosed = true
            // The client has closed its side, so as far as can be told it no longer waits for a stalled response.
            if phase == .idle || phase == .stalled { close() }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelPendingWork()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

    // MARK: Requests

    private func takeRequest() {
        switch reader.next() {
        case .incomplete:
            if isInputClosed { close() }
        case .request(let message):
            timer?.cancel()
            begin(server.actions(for: message, on: connection, idleRule: idleRule))
        case .malformed(let status):
            timer?.cancel()
            begin(Response(refusal: status).actions)
        }
    }

    private func begin(_ actions: [WireAction]) {
        phase = .responding
        self.actions = actions[...]
        performNextAction()
    }

    // MARK: Actions

    private func performNextAction() {
        guard phase == .responding, let action = actions.popFirst() else { return }
        switch action {
        case .wait(let duration): schedule(.now() + TimeAmount(duration)) { $0.performNextAction() }
        case .send(let bytes, let pace): send(PacedSending(bytes, pace, repeats: false))
        case .sendForever(let bytes, let pace): send(PacedSending(bytes, pace, repeats: true))
        case .stall:
            phase = .stalled
            if isInputClosed { close() }
        case .close: close()
        case .reset: resetWhenDelivered(checksLeft: 1000)
        case .keepOpen(let rule):
            phase = .idle
            idleRule = rule
            if case .close(let duration) = rule { schedule(.now() + TimeAmount(duration)) { $0.close() } }
            takeRequest()
        }
    }

    private func send(_ sending: PacedSending) {
        self.sending = sending
        sendNext()
    }

    /// Writes the next piece after the previous one was sent, so that a slow client delays only its own response.
    private func sendNext() {
        guard let (chunk, due) = sending?.next() else {
            sending = nil
            return performNextAction()
        }
        schedule(due) { handler in
            handler.channel.writeAndFlush(chunk).assumeIsolated().whenComplete { result in
                switch result {
                case .success: handler.sendNext()
                case .failure: handler.close()
                }
            }
        }
    }

    private func schedule(_ deadline: NIODeadline, _ work: @escaping (ConnectionHandler) -> Void) {
        timer = loop.scheduleTask(deadline: deadline) {
            guard self.phase != .closed else { return }
            work(self)
        }
    }

    // MARK: Closing

    private func cancelPendingWork() {
        phase = .closed
        timer?.cancel()
        timer = nil
        actions = []
        sending = nil
    }

    private func close() {
        cancelPendingWork()
        channel.close(promise: nil)
    }

    /// Waits until the client has received all bytes, since a reset discards bytes in transit.
    private func resetWhenDelivered(checksLeft: Int) {
        #if os(Linux)
        channel.hasUndeliveredBytes().assumeIsolated().whenSuccess { hasUndelivered in
            guard self.phase != .closed else { return }
            guard hasUndelivered, checksLeft > 0 else { return self.reset() }
            self.schedule(.now() + .milliseconds(4)) { $0.resetWhenDelivered(checksLeft: checksLeft - 1) }
        }
        #else
        schedule(.now() + .milliseconds(50)) { $0.reset() }
        #endif
    }

    /// Closes the connection with a reset, by closing it with SO_LINGER set to 0 seconds.
    private func reset() {
        guard let socket = channel as? any SocketOptionProvider else { return close() }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in self.close() }
    }
}
