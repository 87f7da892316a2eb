import HummingbirdCore
import Logging
import MediaTiming
import NIOCore

/// A connection of HTTP/1.1 within the limits of a registry.
struct LimitedHTTPChannel: ServerChildChannel {
    let registry: ConnectionRegistry
    let base: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            let monitor = RequestMonitor(registry.limits, time: SystemTimeSource())
            try channel.pipeline.syncOperations.addHandler(ByteMonitor(registry, monitor))
            let boundMonitor = NIOLoopBound(monitor, eventLoop: channel.eventLoop)
            return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
                let operations = channel.pipeline.syncOperations
                // Behind the codec, and before the handler that delivers requests.
                let state = try operations.handler(type: HTTPConnectionStateHandler.self)
                try operations.addHandler(boundMonitor.value, position: .before(state))
                return value
            }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension HTTPServerBuilder {
    /// A server of HTTP/1.1 within the limits of a registry.
    static func limited(by registry: ConnectionRegistry) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LimitedHTTPChannel(registry: registry, base: HTTP1Channel(responder: responder))
        }
    }
}
