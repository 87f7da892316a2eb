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

/// What came back over a connection on which some bytes were sent.
struct Exchange: Sendable {
    enum Ending: Sendable {
        case closed
        case reset
        /// The client had enough, or waited long enough.
        case leftOpen
    }

    var bytes: [UInt8] = []
    var ending = Ending.closed
    /// How many bytes were there at which time since the start.
    var arrivals: [(time: Duration, count: Int)] = []
    var duration = Duration.zero

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The head up to its empty line; all of it where there is none.
    var head: String { String(decoding: bytes[..<headEnd], as: UTF8.self) }
    /// What follows the first empty line.
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

/// A client that sends what it is told and knows nothing of HTTP.
final class RawClient: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How a client leaves.
    struct Manners: Sendable {
        /// How long it waits at most.
        var patience = Duration.seconds(5)
        /// What has to be the end of what it got before its patience begins to run; a busy machine takes its time.
        var after: String?
        /// After how many bytes it has enough.
        var enough = Int.max
        /// Whether it says that it will send nothing more.
        var finishes = false
    }

    private let start = ContinuousClock.now
    private let manners: Manners
    private let promise: EventLoopPromise<Exchange>
    private var exchange = Exchange()
    private var timer: Scheduled<Void>?

    private init(_ manners: Manners, _ promise: EventLoopPromise<Exchange>) {
        self.manners = manners
        self.promise = promise
    }

    /// Sends bytes to a server and takes what comes back until the connection ends.
    static func send(
        _ bytes: [UInt8],
        to server: MisbehavingServer,
        _ manners: Manners = Manners()
    ) async throws -> Exchange {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Exchange.self)
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(RawClient(manners, promise))
                    }
                }
                .connect(host: "127.0.0.1", port: server.port).get()
            // A server may close before all is sent; what it said until then is there all the same.
            try? await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
            if manners.finishes { try? await channel.close(mode: .output).get() }
        } catch {
            promise.fail(error)
        }
        return try await promise.futureResult.get()
    }

    func channelActive(context: ChannelHandlerContext) {
        leave(context, in: manners.after == nil ? manners.patience : .seconds(5))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        exchange.bytes += unwrapInboundIn(data).readableBytesView
        exchange.arrivals.append((ContinuousClock.now - start, exchange.bytes.count))
        if exchange.bytes.count >= manners.enough {
            leave(context)
        } else if let after = manners.after, exchange.text.utf8.suffix(after.utf8.count).elementsEqual(after.utf8) {
            leave(context, in: manners.patience)
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

    private func leave(_ context: ChannelHandlerContext, in patience: Duration) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(patience)) { self.leave(context) }
    }

    private func leave(_ context: ChannelHandlerContext) {
        exchange.ending = .leftOpen
        context.close(promise: nil)
    }
}
