import MediaTiming
import NIOCore
import NIOHTTP1
import NIOHTTP2
import Synchronization

/// What is known of a request while it is on its way to a connection.
struct Exchange: Sendable {
    /// What the request line names, exactly.
    let target: String
    /// When a connection was asked for.
    let begun: Duration
    let record: TransferRecord
}

/// The requests that are on their way to a connection: the client below chooses one, and there they are found again by a
/// field that never reaches the wire.
final class ExchangeRegistry: Sendable {
    static let field = "X-Millstream-Exchange"

    private struct State {
        var exchanges: [String: Exchange] = [:]
        var count = 0
        /// Connections of HTTP/2 that carried nothing yet.
        var freshConnections: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())

    /// Enters a request.
    ///
    /// - Returns: The value of its ``field``.
    func enter(_ exchange: Exchange) -> String {
        state.withLock { state in
            state.count += 1
            let key = String(state.count)
            state.exchanges[key] = exchange
            return key
        }
    }

    func remove(_ key: String) -> Exchange? { state.withLock { $0.exchanges.removeValue(forKey: key) } }

    func noteFresh(_ connection: any Channel) {
        let id = ObjectIdentifier(connection)
        state.withLock { _ = $0.freshConnections.insert(id) }
        connection.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.freshConnections.remove(id) } }
    }

    /// Whether nothing was sent on a connection before; asked once.
    func takeFresh(_ connection: any Channel) -> Bool {
        state.withLock { $0.freshConnections.remove(ObjectIdentifier(connection)) != nil }
    }
}

/// Stands between HTTP and the wire: sends addresses as they were given, and notes when what came.
final class ExchangeObserver: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let registry: ExchangeRegistry
    private let time: any TimeSource
    private let protocolName: String
    private var isFresh: Bool
    private var exchange: Exchange?

    private init(_ registry: ExchangeRegistry, _ time: any TimeSource, _ protocolName: String, isFresh: Bool) {
        self.registry = registry
        self.time = time
        self.protocolName = protocolName
        self.isFresh = isFresh
    }

    /// Puts an observer into a connection of HTTP/1.1.
    static func observe(
        _ channel: any Channel,
        _ registry: ExchangeRegistry,
        _ time: any TimeSource
    )
        -> EventLoopFuture<Void>
    {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(
                ExchangeObserver(registry, time, "http/1.1", isFresh: true),
                position: .after(decoder)
            )
        }
    }

    /// Puts an observer into a stream of HTTP/2.
    static func observe(
        stream channel: any Channel,
        _ registry: ExchangeRegistry,
        _ time: any TimeSource
    )
        -> EventLoopFuture<Void>
    {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            let isFresh = channel.parent.map { registry.takeFresh($0) } ?? false
            try pipeline.addHandler(ExchangeObserver(registry, time, "h2", isFresh: isFresh), position: .after(codec))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let key = head.headers.first(name: ExchangeRegistry.field)
        else { return context.write(data, promise: promise) }
        head.headers.remove(name: ExchangeRegistry.field)
        exchange = registry.remove(key)
        if let exchange {
            head.uri = exchange.target
            let (now, isFresh) = (time.now, isFresh)
            // Not the context's: a stream of HTTP/2 has none there.
            let server = context.channel.remoteAddress.flatMap { address in
                address.ipAddress.map {
                    $0.contains(":") ? "[\($0)]:\(address.port ?? 0)" : "\($0):\(address.port ?? 0)"
                }
            }
            exchange.record.update { measurement in
                measurement.sent = now
                measurement.connect = isFresh ? now - exchange.begun : nil
                measurement.serverAddress = server
                measurement.protocolName = protocolName
            }
        }
        isFresh = false
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let exchange {
            let now = time.now
            switch unwrapInboundIn(data) {
            case .head: exchange.record.update { $0.firstByte = now - $0.sent }
            case .body(let buffer): exchange.record.received(buffer.readableBytes)
            case .end:
                exchange.record.ended(at: now)
                self.exchange = nil
            }
        }
        context.fireChannelRead(data)
    }
}
