import HummingbirdCore
import Logging
import MediaTiming
import NIOCore
import NIOHTTP1

/// An HTTP/1.1 channel whose connections are subject to the limits of a registry.
struct LimitedHTTPChannel: ServerChildChannel {
    let registry: ConnectionRegistry
    /// The responses that are sent without the responder; `nil` for none.
    let responses: RepeatedResponses?
    /// The logger of answered requests; `nil` to log none.
    let requestLogger: Logger?
    let base: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            let monitor = RequestMonitor(registry.limits, time: SystemTimeSource())
            try channel.pipeline.syncOperations.addHandler(ByteMonitor(registry, monitor))
            let boundMonitor = NIOLoopBound(monitor, eventLoop: channel.eventLoop)
            let setup = base.setup(channel: channel, logger: logger)
            return setup.flatMapThrowing { [registry, responses, requestLogger] value in
                let operations = channel.pipeline.syncOperations
                // Before the target is converted, and the authority of one in absolute form lost.
                let decoder = try operations.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try operations.addHandler(RequestHeadGuard(), position: .after(decoder))
                // After the codec, and before the handler that delivers requests.
                let state = try operations.handler(type: HTTPConnectionStateHandler.self)
                let log = requestLogger.map { RequestLogHandler($0) }
                // The monitor answers requests that take too long.
                if let log { try operations.addHandler(log, position: .before(state)) }
                try operations.addHandler(boundMonitor.value, position: .before(state))
                if let responses {
                    let handler = RepeatedResponseHandler(
                        responses,
                        trustedProxies: registry.limits.trustedProxies,
                        log: log
                    )
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
    ///   - responses: The responses that are sent without the responder; none by default.
    ///   - requestLogger: The logger of answered requests; none by default.
    /// - Returns: The builder of the server.
    static func limited(
        by registry: ConnectionRegistry,
        responses: RepeatedResponses? = nil,
        requestLogger: Logger? = nil
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LimitedHTTPChannel(
                registry: registry,
                responses: responses,
                requestLogger: requestLogger,
                base: .detectingDisconnects(responder)
            )
        }
    }
}
