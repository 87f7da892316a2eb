import MediaTiming
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPCompression
import Synchronization

/// The information about a request that is waiting for a connection.
struct Exchange: Sendable {
    /// The request target of the request line, byte by byte.
    let target: String
    /// The time at which a connection was requested.
    let start: Duration
    let record: TransferRecord
}

/// A registry of the requests that are waiting for a connection.
///
/// AsyncHTTPClient chooses the connection. There, the request is identified by an internal header field, which is
/// removed before the request is sent.
final class ExchangeRegistry: Sendable {
    static let field = "X-Millstream-Exchange"

    private struct State {
        var exchanges: [String: Exchange] = [:]
        var count = 0
        /// The HTTP/2 connections on which no request was sent yet.
        var unusedConnections: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())

    /// Registers a request.
    ///
    /// - Returns: The value of the header field ``field`` that identifies the request.
    func register(_ exchange: Exchange) -> String {
        state.withLock { state in
            state.count += 1
            let key = String(state.count)
            state.exchanges[key] = exchange
            return key
        }
    }

    func remove(_ key: String) -> Exchange? { state.withLock { $0.exchanges.removeValue(forKey: key) } }

    func markUnused(_ connection: any Channel) {
        let id = ObjectIdentifier(connection)
        state.withLock { _ = $0.unusedConnections.insert(id) }
        connection.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.unusedConnections.remove(id) } }
    }

    /// Returns a Boolean value that indicates whether no request was sent on a connection before; `true` only once per
    /// connection.
    func removeUnused(_ connection: any Channel) -> Bool {
        state.withLock { $0.unusedConnections.remove(ObjectIdentifier(connection)) != nil }
    }
}

/// A channel handler that sends request targets unchanged and measures when requests are sent and responses are
/// received.
final class ExchangeObserver: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let registry: ExchangeRegistry
    private let time: any TimeSource
    private let protocolName: String
    private var isUnused: Bool
    private var exchange: Exchange?

    private init(_ registry: ExchangeRegistry, _ time: any TimeSource, _ protocolName: String, isUnused: Bool) {
        self.registry = registry
        self.time = time
        self.protocolName = protocolName
        self.isUnused = isUnused
    }

    /// Adds an observer to an HTTP/1.1 connection, and a handler that limits the time for which the server sends nothing.
    static func observe(
        _ channel: any Channel,
        _ registry: ExchangeRegistry,
        _ time: any TimeSource,
        readLimit: TimeAmount,
        readSize: Int
    )
        -> EventLoopFuture<Void>
    {
        channel.eventLoop.submit {
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(
                    minimum: 64,
                    initial: HTTPClientPool.initialReadSize,
                    maximum: readSize
                )
            )
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            // The observer counts the bytes that are transferred, and the other handler those that are decompressed.
            let decompressor = try pipeline.handler(type: NIOHTTPResponseDecompressor.self)
            let observer = ExchangeObserver(registry, time, "http/1.1", isUnused: true)
            try pipeline.addHandler(observer, position: .after(decoder))
            try pipeline.addHandler(IdleReadHandler(limit: readLimit), position: .after(decompressor))
        }
    }

    /// Adds an observer to an HTTP/2 stream, and a handler that limits the time for which the server sends nothing.
    static func observe(
        stream channel: any Channel,
        _ registry: ExchangeRegistry,
        _ time: any TimeSource,
        readLimit: TimeAmount
    )
        -> EventLoopFuture<Void>
    {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            let isFresh = channel.parent.map { registry.removeUnused($0) } ?? false
            let decompressor = try pipeline.handler(type: NIOHTTPResponseDecompressor.self)
            let observer = ExchangeObserver(registry, time, "h2", isUnused: isFresh)
            try pipeline.addHandler(observer, position: .after(codec))
            try pipeline.addHandler(IdleReadHandler(limit: readLimit), position: .after(decompressor))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let key = head.headers.first(name: ExchangeRegistry.field)
        else { return context.write(data, promise: promise) }
        head.headers.remove(name: ExchangeRegistry.field)
        exchange = registry.remove(key)
        if let exchange {
            head.uri = exchange.target
            let (now, isFresh) = (time.now, isUnused)
            // The remote address is read from the channel, because the context of an HTTP/2 stream has none.
            let server = context.channel.remoteAddress.flatMap { address in
                address.ipAddress.map {
                    $0.contains(":") ? "[\($0)]:\(address.port ?? 0)" : "\($0):\(address.port ?? 0)"
                }
            }
            exchange.record.update { measurement in
                measurement.requestStart = now
                measurement.connectDuration = isFresh ? now - exchange.start : nil
                measurement.serverAddress = server
                measurement.protocolName = protocolName
            }
        }
        isUnused = false
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let exchange {
            let now = time.now
            switch unwrapInboundIn(data) {
            case .head: exchange.record.update { $0.timeToFirstByte = now - $0.requestStart }
            case .body(let buffer): exchange.record.addReceivedBytes(buffer.readableBytes)
            case .end:
                exchange.record.recordEnd(at: now)
                self.exchange = nil
            }
        }
        context.fireChannelRead(data)
    }
}
