import HummingbirdCore
import Logging
import MediaTiming
import NIOCore

/// An HTTP/1.1 channel whose connections are subject to the limits of a registry.
struct LimitedHTTPChannel: ServerChildChannel {
    let registry: ConnectionRegistry
    /// The answers that are given without the responder; `nil` for none.
    let answers: RepeatedAnswers?
    let base: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            let monitor = RequestMonitor(registry.limits, time: SystemTimeSource())
            try channel.pipeline.syncOperations.addHandler(ByteMonitor(registry, monitor))
            let boundMonitor = NIOLoopBound(monitor, eventLoop: channel.eventLoop)
            return base.setup(channel: channel, logger: logger).flatMapThrowing { [registry, answers] value in
                let operations = channel.pipeline.syncOperations
                // After the codec, and before the handler that delivers requests.
                let state = try operations.handler(type: HTTPConnectionStateHandler.self)
                try operations.addHandler(boundMonitor.value, position: .before(state))
                if let answers {
                    let handler = AnswerHandler(answers, trustedProxies: registry.limits.trustedProxies)
                    try operations.addHandler(handler, position: .before(state))
                }
                return value
            }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension HTTPServerBuilder {
    /// Returns an HTTP/1.1 server with the limits of a registry, whose request handlers can detect that the client has
    /// closed the connection.
    ///
    /// - Parameters:
    ///   - registry: The registry.
    ///   - answers: The answers that are given without the responder; none by default.
    /// - Returns: The builder of the server.
    static func limited(by registry: ConnectionRegistry, answers: RepeatedAnswers? = nil) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LimitedHTTPChannel(registry: registry, answers: answers, base: .detectingDisconnects(responder))
        }
    }
}
