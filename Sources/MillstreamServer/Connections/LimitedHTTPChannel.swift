import HummingbirdCore
import Logging
import MediaTiming
import NIOCore

/// An HTTP/1.1 channel whose connections are subject to the limits of a registry.
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
                // After the codec, and before the handler that delivers requests.
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
    /// Returns an HTTP/1.1 server with the limits of a registry, whose request handlers can detect that the client has
    /// closed the connection.
    static func limited(by registry: ConnectionRegistry) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LimitedHTTPChannel(registry: registry, base: .detectingDisconnects(responder))
        }
    }
}
