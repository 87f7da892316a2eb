import HTTPTypes
import MediaTiming
import NIOCore
import NIOHTTPTypes

/// A channel handler that answers requests for edited playlists from ``RepeatedAnswers``, and delivers all others to the
/// handlers behind it.
final class AnswerHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A request that can be answered.
    private struct Candidate {
        let head: HTTPRequest
        let answer: RepeatedAnswer
        let sources: RepeatedAnswers.SourceState
        /// The time at which the head arrived.
        let start: Duration
    }

    private enum Phase {
        /// All parts are delivered.
        case delivering
        /// The head of a request has arrived, its end has not.
        case receiving(Candidate)
        /// The sources of an answer are requested again; what the client sends meanwhile waits.
        case confirming(Candidate, RepeatedAnswers.Waiter, parts: [HTTPRequestPart])
    }

    private let answers: RepeatedAnswers
    private let trustedProxies: [TrustedProxy]
    private let time: any TimeSource
    private var context: ChannelHandlerContext?
    private var phase = Phase.delivering
    private var isForwarded = false
    /// The number of delivered requests whose responses have not ended.
    private var pendingResponseCount = 0
    /// A Boolean value that indicates whether a read was requested during a confirmation.
    private var isReadPending = false
    /// A Boolean value that indicates whether the server began to shut down during a confirmation.
    private var isQuiescing = false

    init(_ answers: RepeatedAnswers, trustedProxies: [TrustedProxy], time: any TimeSource = SystemTimeSource()) {
        self.answers = answers
        self.trustedProxies = trustedProxies
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
            handOver(nil, context)
        }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, case .confirming = phase {
            // The handlers behind this one do not know the request, and would close the connection before its answer.
            isQuiescing = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
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
            case .fresh: answer(candidate, context)
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
            let (answer, sources) = answers.answer(to: request)
        else { return nil }
        return Candidate(head: head, answer: answer, sources: sources, start: time.now)
    }

    private func deliver(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        if case .head = part { pendingResponseCount += 1 }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func deliver(_ candidate: Candidate, _ context: ChannelHandlerContext) {
        deliver(.head(candidate.head), context)
        deliver(.end(nil), context)
    }

    private func answer(_ candidate: Candidate, _ context: ChannelHandlerContext) {
        guard let reservation = answers.reservation(for: candidate.answer) else { return deliver(candidate, context) }
        var head = candidate.answer.head
        head.headerFields[.date] = CurrentDateField.value
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body = candidate.answer.body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in withExtendedLifetime(reservation) {} }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        answers.count(candidate.answer, candidate.sources, duration: time.now - candidate.start)
    }

    // MARK: Confirmation

    private func confirm(_ candidate: Candidate, _ context: ChannelHandlerContext) {
        let (loop, handler) = (context.eventLoop, NIOLoopBound(self, eventLoop: context.eventLoop))
        let waiter = answers.confirm(candidate.answer) { confirmation in
            loop.execute { handler.value.end(confirmation) }
        }
        phase = .confirming(candidate, waiter, parts: [])
    }

    private func end(_ confirmation: RepeatedAnswers.Confirmation) {
        guard case .confirming(let candidate, _, let parts) = phase, let context else { return }
        phase = .delivering
        if case .confirmed = confirmation {
            answer(candidate, context)
        } else {
            handOver(confirmation, context)
            deliver(candidate, context)
        }
        for part in parts { receive(part, context) }
        context.fireChannelReadComplete()
        if case .confirming = phase { return }
        if isQuiescing {
            isQuiescing = false
            context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        if isReadPending {
            isReadPending = false
            context.read()
        }
    }

    /// Gives the result of a confirmation to the route of the delivered request, so that no source is requested twice.
    private func handOver(_ confirmation: RepeatedAnswers.Confirmation?, _ context: ChannelHandlerContext) {
        ClientDisconnectHandler.presence(on: context.channel)?.setConfirmation(confirmation)
    }

    private func stopWaiting() {
        guard case .confirming(_, let waiter, _) = phase else { return }
        phase = .delivering
        answers.leave(waiter)
    }
}
