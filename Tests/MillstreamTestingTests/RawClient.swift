import MillstreamTesting
import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The bytes that were received on a connection, and how it ended.
struct Exchange: Sendable {
    enum Ending: Sendable {
        case closed
        case reset
        /// The client closed the connection after it reached a limit.
        case leftOpen
    }

    var bytes: [UInt8] = []
    var ending = Ending.closed
    /// The number of received bytes at each time since the start.
    var arrivals: [(time: Duration, count: Int)] = []
    var duration = Duration.zero

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The head of the response up to and including its empty line, or all bytes if there is none.
    var head: String { String(decoding: bytes[..<headEnd], as: UTF8.self) }
    /// The bytes after the first empty line.
    var body: [UInt8] { Array(bytes[headEnd...]) }
    var bodyText: String { String(decoding: body, as: UTF8.self) }
    var status: Int? { text.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    func header(_ name: String) -> String? {
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
        return line.map { String($0.dropFirst(name.count + 2)) }
    }

    private var headEnd: Int {
        let end = bytes.indices.first { bytes[$0...].starts(with: [0x0D, 0x0A, 0x0D, 0x0A]) }
        return end.map { $0 + 4 } ?? bytes.count
    }
}

/// A client that sends the given bytes, and does not interpret HTTP.
final class RawClient: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The conditions under which a client disconnects.
    struct ClientOptions: Sendable {
        /// The time after which the client disconnects.
        var timeout = Duration.seconds(5)
        /// The text at the end of the received bytes that starts the timeout; it avoids timeouts on a busy machine.
        var after: String?
        /// The number of received bytes after which the client disconnects.
        var byteLimit = Int.max
        /// A Boolean value that indicates whether the client closes its output after sending.
        var closesOutput = false
    }

    private let start = ContinuousClock.now
    private let clientOptions: ClientOptions
    private let promise: EventLoopPromise<Exchange>
    private var exchange = Exchange()
    private var timer: Scheduled<Void>?

    private init(_ clientOptions: ClientOptions, _ promise: EventLoopPromise<Exchange>) {
        self.clientOptions = clientOptions
        self.promise = promise
    }

    /// Sends bytes to a server and receives bytes until the connection ends.
    static func send(
        _ bytes: [UInt8],
        to server: MisbehavingServer,
        _ clientOptions: ClientOptions = ClientOptions()
    ) async throws -> Exchange {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Exchange.self)
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(RawClient(clientOptions, promise))
                    }
                }
                .connect(host: "127.0.0.1", port: server.port).get()
            // The server may close the connection before all bytes are sent; the bytes received until then are still
            // available.
            try? await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
            if clientOptions.closesOutput { try? await channel.close(mode: .output).get() }
        } catch {
            promise.fail(error)
        }
        return try await promise.futureResult.get()
    }

    func channelActive(context: ChannelHandlerContext) {
        leave(context, in: clientOptions.after == nil ? clientOptions.timeout : .seconds(5))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        exchange.bytes += unwrapInboundIn(data).readableBytesView
        exchange.arrivals.append((ContinuousClock.now - start, exchange.bytes.count))
        if exchange.bytes.count >= clientOptions.byteLimit {
            leave(context)
        } else if let after = clientOptions.after, exchange.text.utf8.suffix(after.utf8.count).elementsEqual(after.utf8)
        {
            leave(context, in: clientOptions.timeout)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if (error as? IOError)?.errnoCode == ECONNRESET { exchange.ending = .reset }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        exchange.duration = ContinuousClock.now - start
        promise.succeed(exchange)
    }

    private func leave(_ context: ChannelHandlerContext, in timeout: Duration) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { self.leave(context) }
    }

    private func leave(_ context: ChannelHandlerContext) {
        exchange.ending = .leftOpen
        context.close(promise: nil)
    }
}
