import HTTPTypes
import Logging
import MediaTransport
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import MillstreamServer

/// Tests of the time limit for clients that do not read, where a check comes before or after the bytes.
@Suite struct SlowReaderFaultTests {
    /// A handler next to the network that sends nothing, so that all bytes stay in the buffer.
    private final class Gate: ChannelOutboundHandler {
        typealias OutboundIn = Any

        func flush(context: ChannelHandlerContext) {}
    }

    /// A connection without a network, with a clock that a test advances.
    private struct Connection {
        let time = ManualTime()
        let monitor: RequestMonitor
        let channel: EmbeddedChannel

        init(_ first: [any ChannelHandler] = []) throws {
            let limits = ConnectionLimits(keepAliveTimeout: .seconds(3_600), writeTimeout: .seconds(4))
            monitor = RequestMonitor(limits, time: time)
            let bytes = ByteMonitor(ConnectionRegistry(limits), monitor)
            channel = EmbeddedChannel(handlers: first + [bytes, monitor])
            try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4_711)).wait()
        }

        func advance(by duration: Duration) {
            var rest = duration
            while rest > .zero {
                let part = min(rest, .milliseconds(10))
                time.advance(by: part)
                channel.embeddedEventLoop.advanceTime(by: TimeAmount(limiting: part))
                rest -= part
            }
        }

        /// Writes bytes that are buffered until the channel is flushed.
        func write(_ count: Int) throws {
            let context = try channel.pipeline.syncOperations.context(handler: monitor)
            context.write(NIOAny(IOData.byteBuffer(ByteBuffer(repeating: 1, count: count))), promise: nil)
        }

        func expectEnd(after duration: Duration, _ location: SourceLocation = #_sourceLocation) {
            advance(by: duration - .milliseconds(10))
            #expect(channel.isActive, sourceLocation: location)
            advance(by: .milliseconds(10))
            #expect(!channel.isActive, sourceLocation: location)
        }
    }

    /// The bytes of a response that is sent again count like those of any other response.
    @Test(arguments: [ByteBuffer(repeating: 1, count: 10_000), nil])
    func clientThatDoesNotReadAnEncodedResponseIsDisconnected(body: ByteBuffer?) throws {
        let connection = try Connection([Gate()])
        let response = EncodedResponse(HTTPResponse(status: .ok), body: body)
        connection.channel.triggerUserOutboundEvent(response, promise: nil)
        connection.expectEnd(after: .seconds(5))
    }

    /// While the buffer is empty, there are no checks.
    ///
    /// The time of the next checks follows from the next bytes.
    @Test func checksBeginWithTheNextBytes() throws {
        let connection = try Connection()
        try connection.write(100)
        connection.advance(by: .seconds(2))
        connection.channel.flush()
        connection.advance(by: .milliseconds(30_500))
        try connection.write(100)
        connection.expectEnd(after: .seconds(5))
    }

    @Test func clientThatDoesNotReadTheLastByteIsDisconnected() throws {
        let connection = try Connection()
        try connection.write(1)
        connection.expectEnd(after: .seconds(5))
    }

    /// The minimum applies to the bytes that have left the buffer since the last check.
    @Test func bytesInTheBufferAreNotSent() throws {
        let connection = try Connection()
        try connection.write(2_047)
        connection.advance(by: .seconds(2))
        connection.channel.flush()
        try connection.write(10_000)
        connection.expectEnd(after: .seconds(3))
    }
}

/// Tests of the numbers of connections and requests when several of them are released.
@Suite struct AdmissionFaultTests {
    @Test func refusalsAreReleasedOneByOne() {
        let registry = ConnectionRegistry(ConnectionLimits())
        var refusals = (0..<64).map { _ in registry.admitRefusal() }
        refusals.removeLast(2)
        refusals += (0..<2).map { _ in registry.admitRefusal() }
        #expect(refusals.allSatisfy { $0 != nil } && registry.admitRefusal() == nil)
    }

    @Test func requestsOfAProxyDoNotCountAsItsConnections() throws {
        let proxy = try #require(TrustedProxy("10.0.0.1"))
        let limits = ConnectionLimits(maximumConnections: 1, maximumConnectionsPerClient: 2, trustedProxies: [proxy])
        let registry = ConnectionRegistry(limits)
        let client = try #require(HostAddress([192, 0, 2, 1]))
        let requests = (0..<3).map { _ in registry.admitForwardedRequest(of: client) }
        #expect(registry.connectionCount == 0)
        let admitted = requests.count { if case .admitted = $0 { true } else { false } }
        #expect(admitted == 2)
        guard case .admitted = registry.admitConnection(from: HostAddress([10, 0, 0, 1])) else {
            Issue.record("the proxy was refused")
            return
        }
        withExtendedLifetime(requests) {}
    }

    /// A bracket that is not at the beginning does not enclose an address.
    @Test(arguments: ["192.0.2.1]", "x192.0.2.1]", "a[192.0.2.1]"])
    func otherBracketsAreNoAddress(node: String) throws {
        let proxies = [try #require(TrustedProxy("10.0.0.0/8"))]
        #expect(proxies.client(forwardedFor: node, forwarded: nil) == nil)
        #expect(proxies.client(forwardedFor: nil, forwarded: "for=" + node) == nil)
    }

    /// Two ports that are not numbers are not considered equal.
    @Test func pageAtAPortThatIsNoNumberIsForeign() {
        func initiator(_ authority: String) -> RequestInitiator {
            var head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
            head.headerFields[.origin] = "http://" + authority
            return RequestInitiator(head, names: ServerNames([]), isForwarded: false)
        }
        #expect(initiator("127.0.0.1:80") == .ownPage && initiator("127.0.0.1") == .ownPage)
        #expect(initiator("127.0.0.1:x").isForeign)
    }
}

/// Tests the log of requests after their connection has ended.
@Suite struct RequestLogFaultTests {
    @Test func nothingIsLoggedAfterTheEndOfAConnection() throws {
        let lines = RecordingLogHandler.Lines()
        let logger = Logger(label: "requests") { _ in RecordingLogHandler(lines) }
        let channel = EmbeddedChannel(handler: RequestLogHandler(logger, time: ManualTime()))
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4_711)).wait()
        func respond() throws {
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
        }
        for path in ["/a", "/b", "/c"] {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: path)
            try channel.writeInbound(HTTPRequestPart.head(head))
        }
        try respond()
        channel.pipeline.fireChannelInactive()
        try respond()
        try #require(lines.all.count == 1, "\(lines.all)")
        #expect(lines.all[0].contains(" path=/a ") && lines.all[0].hasSuffix(" status=200"))
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
