import HTTPTypes
import MediaTiming
import MediaTransport
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import MillstreamServer

/// A channel without a network, with a clock that a test advances.
private final class MonitoredChannel {
    let channel: EmbeddedChannel
    let time: ManualTime
    let wire = WireRecorder()

    /// Creates a channel with the given handlers.
    init(_ time: ManualTime, _ handlers: [any ChannelHandler]) throws {
        self.time = time
        channel = EmbeddedChannel(handlers: [wire] + handlers)
    }

    func connect(from address: String = "192.0.2.1") throws {
        try channel.connect(to: SocketAddress(ipAddress: address, port: 4_711)).wait()
    }

    /// Advances the clock in steps of at most `step`.
    func advance(by duration: Duration, step: Duration = .milliseconds(10)) {
        var rest = duration
        while rest > .zero {
            let part = min(rest, step)
            time.advance(by: part)
            channel.embeddedEventLoop.advanceTime(by: TimeAmount(limiting: part))
            rest -= part
        }
    }

    var isOpen: Bool { channel.isActive }

    /// Returns the parts of responses that were written.
    func parts() throws -> [HTTPResponsePart] {
        var parts: [HTTPResponsePart] = []
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) { parts.append(part) }
        return parts
    }
}

/// The end of a pipeline that is next to the network, which records the operations that reach it.
private final class WireRecorder: ChannelOutboundHandler {
    typealias OutboundIn = Any

    private(set) var reads = 0
    private(set) var outputCloses = 0

    func read(context: ChannelHandlerContext) {
        reads += 1
        context.read()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // An embedded channel would close both directions.
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        outputCloses += 1
        promise?.succeed(())
    }
}

/// Tests the handler that counts connections and bytes.
@Suite struct ByteMonitorTests {
    private func channel(_ registry: ConnectionRegistry) throws -> MonitoredChannel {
        let time = ManualTime()
        return try MonitoredChannel(time, [ByteMonitor(registry, RequestMonitor(registry.limits, time: time))])
    }

    @Test func connectionIsCountedUntilItCloses() throws {
        let registry = ConnectionRegistry(ConnectionLimits())
        let connection = try channel(registry)
        try connection.connect()
        #expect(registry.connectionCount == 1 && connection.isOpen)
        try connection.channel.writeInbound(ByteBuffer(string: "GET"))
        #expect(try connection.channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "GET"))
        try connection.channel.writeOutbound(ByteBuffer(string: "HTTP"))
        #expect(try connection.channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "HTTP"))
        _ = try connection.channel.finish()
        #expect(registry.connectionCount == 0)
    }

    @Test(arguments: [ByteBuffer(string: "body"), nil])
    func encodedResponseIsWrittenOnce(body: ByteBuffer?) throws {
        let connection = try channel(ConnectionRegistry(ConnectionLimits()))
        try connection.connect()
        let status = body == nil ? HTTPResponse.Status.notModified : .ok
        let response = EncodedResponse(
            HTTPResponse(status: status, headerFields: [.contentLength: "9", .eTag: "\"a\""]),
            body: body
        )
        let written = connection.channel.eventLoop.makePromise(of: Void.self)
        connection.channel.triggerUserOutboundEvent(response, promise: written)
        try written.futureResult.wait()
        var text = ""
        while let bytes = try connection.channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        let expected =
            body == nil
            ? "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"
            : "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 4\r\n\r\nbody"
        #expect(text == expected)
        _ = try connection.channel.finish()
    }

    private func errorResponse(_ message: String) -> String {
        let body =
            #"{"error":{"code":"too-many-connections","message":"\#(message)","hint":"close some and try again"}}"#
        return "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\n"
            + "Content-Length: \(body.utf8.count)\r\nCache-Control: no-store\r\nRetry-After: 5\r\n"
            + "Connection: close\r\n\r\n\(body)"
    }

    @Test(arguments: [
        (ConnectionLimits(maximumConnections: 1), "the server has too many connections"),
        (ConnectionLimits(maximumConnectionsPerClient: 1), "this client has too many connections"),
    ])
    func connectionOverALimitReceivesAnErrorAndIsClosedAfterOneSecond(limits: ConnectionLimits, message: String) throws
    {
        let registry = ConnectionRegistry(limits)
        let first = try channel(registry)
        try first.connect()
        let second = try channel(registry)
        let reads = second.wire.reads
        try second.connect()
        #expect(
            try second.channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) } == errorResponse(message)
        )
        #expect(second.wire.outputCloses == 1 && second.wire.reads == reads + 1)
        try second.channel.writeInbound(ByteBuffer(string: "GET"))
        #expect(try second.channel.readInbound(as: ByteBuffer.self) == nil)
        #expect(registry.connectionCount == 1)
        second.advance(by: .milliseconds(990))
        #expect(second.isOpen)
        second.advance(by: .milliseconds(10))
        #expect(!second.isOpen && first.isOpen)
        _ = try first.channel.finish()
        #expect(registry.connectionCount == 0)
    }

    @Test func refusedConnectionIsClosedImmediatelyIfManyRefusalsArePending() throws {
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnections: 0))
        let refused = try (0..<64).map { _ in try channel(registry) }
        for connection in refused {
            try connection.connect()
            #expect(connection.isOpen)
        }
        let last = try channel(registry)
        try last.connect()
        #expect(!last.isOpen)
        // A released slot can be used again.
        refused[0].advance(by: .seconds(1))
        let next = try channel(registry)
        try next.connect()
        #expect(next.isOpen)
    }
}

/// Tests the handler that closes a connection when a time limit expires.
@Suite struct RequestMonitorTests {
    private static let limits = ConnectionLimits(
        headTimeout: .seconds(4),
        bodyTimeout: .seconds(6),
        keepAliveTimeout: .seconds(10),
        writeTimeout: .seconds(4)
    )
    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/")
    )
    private static let responseHead = HTTPResponsePart.head(HTTPResponse(status: .ok))

    private static func timeoutResponse() -> [HTTPResponsePart] {
        let body = #"{"error":{"code":"request-timeout","message":"the request took too long to arrive"}}"#
        let head = HTTPResponse(
            status: .requestTimeout,
            headerFields: [
                .contentType: "application/json; charset=utf-8", .contentLength: "\(body.utf8.count)",
                .connection: "close", .cacheControl: "no-store",
            ]
        )
        return [.head(head), .body(ByteBuffer(string: body)), .end(nil)]
    }

    private let time = ManualTime()
    private let monitor: RequestMonitor
    private let connection: MonitoredChannel

    init() throws {
        monitor = RequestMonitor(Self.limits, time: time)
        connection = try MonitoredChannel(time, [monitor])
        try connection.connect()
    }

    private func receive(_ parts: HTTPRequestPart...) throws {
        for part in parts {
            monitor.receiveBytes()
            try connection.channel.writeInbound(part)
            #expect(try connection.channel.readInbound(as: HTTPRequestPart.self) == part)
        }
    }

    private func send(_ parts: HTTPResponsePart...) throws {
        for part in parts { try connection.channel.writeOutbound(part) }
        #expect(try connection.parts() == parts)
    }

    /// Expects that the connection remains open for the given time, and is then closed with the given response parts.
    private func expectEnd(
        after duration: Duration,
        with response: [HTTPResponsePart],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        connection.advance(by: duration - .milliseconds(10))
        #expect(connection.isOpen, sourceLocation: location)
        connection.advance(by: .milliseconds(10))
        #expect(!connection.isOpen, sourceLocation: location)
        #expect(try connection.parts() == response, sourceLocation: location)
    }

    @Test func idleConnectionIsClosedWithoutAResponse() throws {
        try expectEnd(after: .seconds(10), with: [])
    }

    @Test func headTimeoutStartsAtTheFirstByte() throws {
        connection.advance(by: .milliseconds(1_230))
        monitor.receiveBytes()
        connection.advance(by: .seconds(2))
        monitor.receiveBytes()
        try expectEnd(after: .seconds(2), with: Self.timeoutResponse())
    }

    @Test func bodyTimeoutStartsAtTheHead() throws {
        connection.advance(by: .seconds(1))
        try receive(Self.head)
        connection.advance(by: .seconds(3))
        try receive(.body(ByteBuffer(string: "x")))
        try expectEnd(after: .seconds(3), with: Self.timeoutResponse())
    }

    @Test func responseHasNoTimeLimit() throws {
        try receive(Self.head, .end(nil))
        connection.advance(by: .seconds(60))
        #expect(connection.isOpen)
        try send(Self.responseHead, .body(ByteBuffer(string: "x")), .end(nil))
        try expectEnd(after: .seconds(10), with: [])
    }

    @Test func connectionIsReusedForSeveralRequests() throws {
        for _ in 0..<3 {
            connection.advance(by: .seconds(9))
            try receive(Self.head, .end(nil))
            try send(Self.responseHead, .end(nil))
        }
        try expectEnd(after: .seconds(10), with: [])
    }

    @Test func encodedResponseEndsARequest() throws {
        try receive(Self.head, .end(nil))
        connection.advance(by: .seconds(60))
        connection.channel.triggerUserOutboundEvent(EncodedResponse(HTTPResponse(status: .ok), body: nil), promise: nil)
        try expectEnd(after: .seconds(10), with: [])
    }

    /// A response that has begun cannot be replaced.
    @Test func timeoutAfterAnotherRequestIsAnswered() throws {
        try receive(Self.head, .end(nil))
        try send(Self.responseHead, .end(nil))
        monitor.receiveBytes()
        try expectEnd(after: .seconds(4), with: Self.timeoutResponse())
    }

    @Test func connectionIsClosedWithoutAnErrorIfTheResponseHasBegun() throws {
        try receive(Self.head)
        try send(Self.responseHead)
        try expectEnd(after: .seconds(6), with: [])
    }

    @Test func bodyTimeoutAppliesAfterAnEarlyResponse() throws {
        try receive(Self.head)
        try send(Self.responseHead, .end(nil))
        try expectEnd(after: .seconds(6), with: [])
    }

    /// An error for the second request would be taken for the response to the first.
    @Test func timeoutOfAPipelinedBodyIsNotAnswered() throws {
        try receive(Self.head, .end(nil))
        try receive(Self.head)
        try expectEnd(after: .seconds(6), with: [])
    }

    @Test func timeoutOfAPipelinedHeadIsNotAnswered() throws {
        try receive(Self.head, .end(nil))
        monitor.receiveBytes()
        try expectEnd(after: .seconds(4), with: [])
    }

    @Test func closedConnectionHasNoTimeLimit() throws {
        _ = try connection.channel.finish()
        connection.advance(by: .seconds(20))
        #expect(try connection.parts().isEmpty)
    }
}

/// Tests the time limit for clients that do not read.
@Suite struct SlowReaderTests {
    private let time = ManualTime()
    private let connection: MonitoredChannel
    private let monitor: RequestMonitor

    init() throws { try self.init(writeTimeout: .seconds(4)) }

    private init(writeTimeout: Duration) throws {
        let limits = ConnectionLimits(keepAliveTimeout: .seconds(3_600), writeTimeout: writeTimeout)
        monitor = RequestMonitor(limits, time: time)
        let bytes = ByteMonitor(ConnectionRegistry(limits), monitor)
        connection = try MonitoredChannel(time, [bytes, monitor])
        try connection.connect()
    }

    /// Writes bytes that are buffered until ``flush()`` is called.
    private func write(_ count: Int) throws {
        let context = try connection.channel.pipeline.syncOperations.context(handler: monitor)
        context.write(NIOAny(IOData.byteBuffer(ByteBuffer(repeating: 1, count: count))), promise: nil)
    }

    private func flush() { connection.channel.flush() }

    private func expectEnd(after duration: Duration, _ location: SourceLocation = #_sourceLocation) {
        connection.advance(by: duration - .milliseconds(10))
        #expect(connection.isOpen, sourceLocation: location)
        connection.advance(by: .milliseconds(10))
        #expect(!connection.isOpen, sourceLocation: location)
    }

    /// The first check is after a quarter of the limit; the limit is measured from then on.
    @Test func clientThatReadsNothingIsDisconnected() throws {
        try write(10_000)
        expectEnd(after: .seconds(5))
    }

    @Test func timeLimitRestartsIfTheClientReadsEnough() throws {
        try write(2_048)
        connection.advance(by: .seconds(2))
        flush()
        try write(100)
        connection.advance(by: .seconds(5))
        #expect(connection.isOpen)
        expectEnd(after: .seconds(2))
    }

    @Test func clientThatReadsOneByteTooFewIsDisconnected() throws {
        try write(2_047)
        connection.advance(by: .seconds(2))
        flush()
        try write(100)
        expectEnd(after: .seconds(3))
    }

    @Test func clientThatReadsEverythingHasNoTimeLimit() throws {
        try write(2_000)
        connection.advance(by: .seconds(2))
        flush()
        connection.advance(by: .seconds(30))
        #expect(connection.isOpen)
        // The limit restarts.
        try write(2_000)
        expectEnd(after: .seconds(5))
    }

    @Test func shortLimitsAreCheckedEachMillisecond() throws {
        let short = try SlowReaderTests(writeTimeout: .milliseconds(2))
        try short.write(100)
        short.connection.advance(by: .milliseconds(2), step: .milliseconds(1))
        #expect(short.connection.isOpen)
        short.connection.advance(by: .milliseconds(1), step: .milliseconds(1))
        #expect(!short.connection.isOpen)
    }
}

@Suite struct TimeAmountTests {
    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.seconds(-1), 0), (.milliseconds(1_500), 1_500_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999), 1),
            (.seconds(31_536_000), 31_536_000_000_000_000), (.seconds(31_536_001), 31_536_000_000_000_000),
            (.seconds(Int64.max), 31_536_000_000_000_000),
        ] as [(Duration, Int64)]
    )
    func durationIsRoundedDownToNanoseconds(duration: Duration, nanoseconds: Int64) {
        #expect(TimeAmount(limiting: duration).nanoseconds == nanoseconds)
    }
}

/// Tests the handler that detects when a client disconnects.
@Suite(.timeLimit(.minutes(10))) struct ClientDisconnectHandlerTests {
    private final class EventRecorder: ChannelInboundHandler {
        typealias InboundIn = Any
        private(set) var events: [String] = []

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { events.append("\(event)") }
        func channelInactive(context: ChannelHandlerContext) { events.append("inactive") }
    }

    /// Returns the presence of a client after an event on its connection, which other handlers receive too.
    private func presence(after event: ChannelEvent?) -> ClientPresence {
        let (departure, recorder) = (ClientDisconnectHandler(), EventRecorder())
        let channel = EmbeddedChannel(handlers: [departure, recorder])
        if let event {
            channel.pipeline.fireUserInboundEventTriggered(event)
        } else {
            channel.pipeline.fireChannelInactive()
        }
        #expect(recorder.events == [event.map { "\($0)" } ?? "inactive"])
        return departure.presence
    }

    @Test(arguments: [.inputClosed, nil] as [ChannelEvent?])
    func endOfInputOrConnectionCancelsTheWork(event: ChannelEvent?) async {
        await ClientPresence.$current.withValue(presence(after: event)) {
            await #expect(throws: CancellationError.self) {
                try await ClientPresence.whileClientIsConnected {
                    let (never, continuation) = AsyncStream<Void>.makeStream()
                    for await _ in never {}
                    withExtendedLifetime(continuation) {}
                }
            }
        }
    }

    @Test func otherEventsDoNotCancelTheWork() async throws {
        try await ClientPresence.$current.withValue(presence(after: .outputClosed)) {
            try await ClientPresence.whileClientIsConnected {
                for _ in 0..<100 { await Task.yield() }
                try Task.checkCancellation()
            }
        }
    }
}
