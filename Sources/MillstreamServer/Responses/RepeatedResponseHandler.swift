import HTTPTypes
import MediaTiming
import NIOCore
import NIOHTTPTypes

/// A channel handler that answers requests for edited playlists from ``RepeatedResponses``, and delivers all others to the
/// handlers behind it.
final class RepeatedResponseHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A request that can be answered.
    private struct Candidate {
        let head: HTTPRequest
        let storedResponse: RepeatedResponse
        let sources: RepeatedResponses.SourceState
        /// The time at which the head arrived.
        let start: Duration
    }

    private enum Phase {
        /// All parts are delivered.
        case delivering
        /// The head of a request has arrived, its end has not.
        case receiving(Candidate)
        /// The sources of a response are requested again; what the client sends meanwhile waits.
        case confirming(Candidate, RepeatedResponses.Waiter, parts: [HTTPRequestPart])
    }

    private let responses: RepeatedResponses
    private let trustedProxies: [TrustedProxy]
    /// The log of the requests of the connection; `nil` if requests are not logged.
    private let log: RequestLogHandler?
    private let time: any TimeSource
    private var context: ChannelHandlerContext?
    private var phase = Phase.delivering
    private var isForwarded = false
    /// The number of delivered requests whose responses have not ended.
    private var pendingResponseCount = 0
    /// A Boolean value that indicates whether a read was requested during a confirmation.
    private var isReadPending = false
    /// The number of repeated responses whose bytes are not all sent.
    private var unsentResponseCount = 0
    /// A Boolean value that indicates whether the server began to shut down before a repeated response was sent.
    private var isQuiescing = false
    /// An error of the connection during a confirmation, which concerns what follows the request.
    private var error: (any Error)?

    init(
        _ responses: RepeatedResponses,
        trustedProxies: [TrustedProxy],
        log: RequestLogHandler? = nil,
        time: any TimeSource = SystemTimeSource()
    ) {
        self.responses = responses
        self.trustedProxies = trustedProxies
        self.log = log
        self.time = time
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        recognizePeer(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stopWaiting()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        recognizePeer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopWaiting()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { receive(unwrapInboundIn(data), context) }

    func read(context: ChannelHandlerContext) {
        // The parts that wait must not become more and more.
        if case .confirming = phase { isReadPending = true } else { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            pendingResponseCount -= 1
            ClientDisconnectHandler.presence(on: context.channel)?.setConfirmation(nil)
        }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, hasUnsentResponse {
            // The handlers behind this one do not know the request, and would close the connection before its response.
            isQuiescing = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .confirming = phase { self.error = error } else { context.fireErrorCaught(error) }
    }

    /// A Boolean value that indicates whether a repeated response is not yet sent.
    private var hasUnsentResponse: Bool { if case .confirming = phase { true } else { unsentResponseCount > 0 } }

    /// Continues a shutdown that waited for responses.
    private func quiesceIfSent() {
        guard isQuiescing, !hasUnsentResponse, let context else { return }
        isQuiescing = false
        context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    private func recognizePeer(_ context: ChannelHandlerContext) {
        isForwarded = context.channel.remoteAddress?.hostAddress.map { trustedProxies.contains($0) } ?? false
    }

    private func receive(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch phase {
        case .confirming(let candidate, let waiter, var parts):
            parts.append(part)
            phase = .confirming(candidate, waiter, parts: parts)
        case .receiving(let candidate):
            phase = .delivering
            guard case .end(nil) = part else {
                deliver(.head(candidate.head), context)
                return deliver(part, context)
            }
            switch candidate.sources {
            case .fresh: respond(to: candidate, context)
            // Requests that a proxy forwards are counted by client while they wait.
            case .unconfirmed where isForwarded: deliver(candidate, context)
            case .unconfirmed: confirm(candidate, context)
            }
        case .delivering:
            guard case .head(let head) = part, let candidate = candidate(head, context) else {
                return deliver(part, context)
            }
            phase = .receiving(candidate)
        }
    }

    /// Returns a request that can be answered; `nil` for one that must be delivered.
    private func candidate(_ head: HTTPRequest, _ context: ChannelHandlerContext) -> Candidate? {
        // Responses have the order of the requests, and a client that reads none gets no more.
        guard pendingResponseCount == 0, context.channel.isWritable,
            let request = RepeatedRequest(head, isForwarded: isForwarded),
            let (response, sources) = responses.response(to: request)
        else { return nil }
        return Candidate(head: head, storedResponse: response, sources: sources, start: time.now)
    }

    private func deliver(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        if case .head = part { pendingResponseCount += 1 }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func deliver(_ candidate: Candidate, _ context: ChannelHandlerContext) {
        deliver(.head(candidate.head), context)
        deliver(.end(nil), context)
    }

    private func respond(to candidate: Candidate, _ context: ChannelHandlerContext) {
        guard let reservation = responses.reservation(for: candidate.storedResponse) else {
            // The response says that the server is at capacity.
            return deliver(candidate, context)
        }
        unsentResponseCount += 1
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] _ in
            withExtendedLifetime(reservation) {}
            unsentResponseCount -= 1
            quiesceIfSent()
        }
        log?.setCacheResult(.playlist(candidate.sources.playlistSource))
        context.triggerUserOutboundEvent(
            candidate.storedResponse.response(date: CurrentDateField.value),
            promise: written
        )
        responses.count(candidate.storedResponse, candidate.sources, duration: time.now - candidate.start)
    }

    // MARK: Confirmation

    private func confirm(_ candidate: Candidate, _ context: ChannelHandlerContext) {
        let (loop, handler) = (context.eventLoop, NIOLoopBound(self, eventLoop: context.eventLoop))
        let peer = context.channel.remoteAddress?.hostAddress
        let waiter = responses.confirm(candidate.storedResponse, for: peer) { confirmation in
            loop.execute { handler.value.end(confirmation) }
        }
        phase = .confirming(candidate, waiter, parts: [])
    }

    private func end(_ confirmation: RepeatedResponses.Confirmation) {
        guard case .confirming(let candidate, _, let parts) = phase, let context else { return }
        phase = .delivering
        if case .confirmed = confirmation {
            respond(to: candidate, context)
        } else {
            // The route of the delivered request requests no source again.
            let presence = ClientDisconnectHandler.presence(on: context.channel)
            presence?.setConfirmation((candidate.storedResponse.key, confirmation))
            deliver(candidate, context)
        }
        for part in parts { receive(part, context) }
        context.fireChannelReadComplete()
        if case .confirming = phase { return }
        if let error {
            self.error = nil
            context.fireErrorCaught(error)
        }
        quiesceIfSent()
        if isReadPending {
            isReadPending = false
            context.read()
        }
    }

    private func stopWaiting() {
        guard case .confirming(_, let waiter, _) = phase else { return }
        phase = .delivering
        responses.leave(waiter)
    }
}
