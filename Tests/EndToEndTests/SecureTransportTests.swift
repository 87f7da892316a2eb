import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging
import MediaTiming
import MediaTransport
import NIOCore
import NIOPosix
import NIOSSL
import ResourceAddressing
import Synchronization
import Testing

/// Tests the transport over TLS, HTTP/2 and a proxy, on real sockets.
@Suite(.tags(.endToEnd), .timeLimit(.minutes(10))) struct SecureTransportTests {
    private static let media = [UInt8](repeating: 7, count: 300_000)

    /// Runs a server with TLS and optional HTTP/2, whose certificate is not trusted.
    private func withServer(
        _ body: @Sendable (Int, @escaping @Sendable () -> [String]) async throws -> Void
    ) async throws {
        let targets = TargetList()
        let router = Router()
        router.get("**") { request, _ in
            targets.append("\(request.head.path ?? "") \(request.headers[.range] ?? "-")")
            guard let text = request.headers[.range], text == "bytes=1000-1999" else {
                return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: Self.media)))
            }
            return Response(
                status: .partialContent,
                headers: [.contentRange: "bytes 1000-1999/300000"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: Self.media[1_000..<2_000]))
            )
        }
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
        let certificate = try NIOSSLCertificate.fromPEMFile(fixtures.appendingPathComponent("localhost.pem").path)
        let key = try NIOSSLPrivateKey(file: fixtures.appendingPathComponent("localhost-key.pem").path, format: .pem)
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificate.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router,
            server: try .http2Upgrade(tlsConfiguration: tls),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            try await body(port) { targets.all }
            group.cancelAll()
        }
    }

    private func loaded(
        _ options: HTTPTransport.Options,
        _ addresses: [String],
        _ range: ByteRange? = nil
    ) async throws -> [ResourceLoader.Loaded] {
        let transport = HTTPTransport(options)
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        do {
            var result: [ResourceLoader.Loaded] = []
            for address in addresses {
                let request = TransportRequest(ResourceAddress(address), kind: .segment, byteRange: range)
                result.append(try await loader.load(request))
            }
            try await transport.shutdown()
            return result
        } catch {
            try await transport.shutdown()
            throw error
        }
    }

    @Test func http2IsUsedAndMeasured() async throws {
        try await withServer { port, targets in
            let options = HTTPTransport.Options(acceptsAnyCertificate: true)
            let site = "https://localhost:\(port)"
            let loads = try await loaded(options, ["\(site)/a%2f/./b?x={|}", "\(site)/b"])
            #expect(loads.allSatisfy { $0.bytes == Self.media && $0.measurement.protocolName == "h2" })
            #expect(loads.map { $0.measurement.connectDuration != nil } == [true, false])
            #expect(loads.allSatisfy { $0.measurement.serverAddress?.hasSuffix(":\(port)") == true })
            #expect(loads.allSatisfy { $0.measurement.bytes.bytes == 300_000 && $0.measurement.timeToLastByte != nil })
            #expect(targets() == ["/a%2f/./b?x={|} -", "/b -"])
            let part = try await loaded(options, ["\(site)/c"], ByteRange(start: 1_000, length: 1_000))
            #expect(part.first?.bytes.count == 1_000)
        }
    }

    @Test func untrustedCertificateIsRejected() async throws {
        try await withServer { port, targets in
            let error = await #expect(throws: TransportError.self) {
                _ = try await loaded(HTTPTransport.Options(), ["https://localhost:\(port)/"])
            }
            #expect(error?.code == .insecure && targets().isEmpty, "\(String(describing: error))")
        }
    }

    @Test func proxyReceivesConnectRequests() async throws {
        try await withServer { port, targets in
            let proxy = try await ConnectProxy()
            var options = HTTPTransport.Options(acceptsAnyCertificate: true, proxy: ("127.0.0.1", proxy.port))
            let loads = try await loaded(options, ["https://localhost:\(port)/a"])
            #expect(loads.first?.bytes == Self.media && proxy.asked == ["localhost:\(port)"])
            #expect(loads.first?.measurement.domainLookupDuration == nil && targets() == ["/a -"])
            try await proxy.end()
            options.connectTimeout = .seconds(2)
            let (gone, address) = (options, "https://localhost:\(port)/a")
            let error = await #expect(throws: TransportError.self) { _ = try await loaded(gone, [address]) }
            #expect(error?.code == .cannotConnect)
        }
    }
}

/// The targets that a server was asked for.
private final class TargetList: Sendable {
    private let list = Mutex<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func append(_ target: String) { list.withLock { $0.append(target) } }
}

/// An HTTP proxy that supports only CONNECT (RFC 9110 §9.3.6).
private final class ConnectProxy: Sendable {
    private let targets: TargetList
    private let channel: any Channel

    var asked: [String] { targets.all }
    var port: Int { channel.localAddress?.port ?? 0 }

    init() async throws {
        let targets = TargetList()
        self.targets = targets
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectHandler(targets))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func end() async throws { try await channel.close() }
}

private final class ConnectHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let targets: TargetList
    private var head = ""
    private var peer: (any Channel)?

    init(_ targets: TargetList) { self.targets = targets }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        if let peer {
            peer.writeAndFlush(buffer, promise: nil)
            return
        }
        head += String(buffer: buffer)
        guard head.contains("\r\n\r\n") else { return }
        let target = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        targets.append(target)
        let parts = target.split(separator: ":")
        let client = context.channel
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ForwardingHandler(client))
                }
            }
            .connect(host: String(parts.first ?? ""), port: parts.last.flatMap { Int($0) } ?? 0)
            .whenSuccess { peer in
                let (handler, context) = bound.value
                handler.peer = peer
                context.writeAndFlush(
                    handler.wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")),
                    promise: nil
                )
            }
    }

    func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }
}

private final class ForwardingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel

    init(_ client: any Channel) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
}
