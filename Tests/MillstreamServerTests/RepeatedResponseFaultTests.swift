import HTTPTypes
import Hummingbird
import Logging
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import NetworkConditioning
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests which responses are stored to be sent again, and when a connection ends that sends them.
@Suite struct RepeatedResponseFaultTests {
    private static let head = HTTPRequest(
        method: .get,
        scheme: "http",
        authority: "media.example",
        path: "/play.m3u8?url=a",
        headerFields: [.userAgent: "player"]
    )

    /// The value of a playlist without sources, which is always fresh.
    private static let value = ResponseOffer.Value(
        playlist: EditedPlaylistCache.Entry(Array("edited".utf8), versions: [:], second: nil),
        key: EditedPlaylistCache.Key(target: "/play.m3u8?url=a", authority: "media.example", isForeign: false),
        expiry: nil,
        initiator: .player
    )

    private let faults = FaultSettings([])
    private let repeated: RepeatedResponses

    init() {
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }
        let loading = ResourceLoader(ScriptedTransport(), policy: RecoveryPolicy(retries: 0))
        repeated = RepeatedResponses(
            sources: SourceAccess(trusted: (loading, policy, HostCache()), foreign: (loading, policy, HostCache())),
            capacity: ServerCapacity(ServerLimits()),
            metrics: ServerMetrics(),
            faults: faults,
            links: LinkRegistry(shared: .off)
        )
    }

    private func context(from peer: String) throws -> ServerRequestContext {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: peer, port: 4_711)).wait()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ServerRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    }

    private func storedResponse(isForwarded: Bool) throws -> RepeatedResponse? {
        let request = try #require(RepeatedRequest(Self.head, isForwarded: isForwarded))
        return repeated.response(to: request)?.response
    }

    private func record(from peer: String, _ next: @escaping @Sendable () throws -> Void = {}) async throws {
        let recording = ResponseRecording(
            responses: repeated,
            trustedProxies: [try #require(TrustedProxy("10.0.0.0/8"))]
        )
        let request = Request(head: Self.head, body: RequestBody(buffer: ByteBuffer()))
        let response = try await recording.handle(request, context: context(from: peer)) { _, context in
            context.responseOffer?.value = Self.value
            try next()
            let body = ResponseBody(byteBuffer: ByteBuffer(string: "edited"))
            return Response(status: .ok, headers: [.eTag: Self.value.playlist.tag], body: body)
        }
        #expect(response.status == .ok)
    }

    @Test(arguments: [("192.0.2.1", false), ("10.0.0.1", true)])
    func responseIsStoredForThePeerOfTheRequest(peer: String, isForwarded: Bool) async throws {
        try await record(from: peer)
        #expect(try storedResponse(isForwarded: !isForwarded) == nil)
        let stored = try #require(try storedResponse(isForwarded: isForwarded))
        let text = String(buffer: stored.response(date: "today").head)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\nServer: Millstream\r\n"), "\(text)")
        #expect(text.contains("\r\nDate: today\r\n") && stored.bodySize == 6)
    }

    /// The fault could have changed the response, although the fault no longer exists.
    @Test func responseDuringAFaultIsNotStored() async throws {
        let faults = faults
        try await record(from: "192.0.2.1") {
            try faults.replace(with: ["status=500"])
            try faults.replace(with: [])
        }
        #expect(try storedResponse(isForwarded: false) == nil)
        try await record(from: "192.0.2.1")
        #expect(try storedResponse(isForwarded: false) != nil)
    }

    // MARK: Connections

    /// A handler next to the network that does not send responses until a test does.
    private final class Holder: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart

        private(set) var promises: [EventLoopPromise<Void>] = []

        func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
            if event is EncodedResponse, let promise { promises.append(promise) }
        }
    }

    /// A handler that counts the events of a shutdown.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart

        private(set) var quiesceCount = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent { quiesceCount += 1 }
        }
    }

    @Test func shutdownWaitsForResponsesThatAreNotSent() throws {
        let known = try #require(RepeatedRequest(Self.head, isForwarded: false))
        repeated.store(Self.value, head: HTTPResponse(status: .ok), for: known)
        let (holder, recorder) = (Holder(), Recorder())
        let channel = EmbeddedChannel(handlers: [
            holder, RepeatedResponseHandler(repeated, trustedProxies: []), recorder,
        ])
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4_711)).wait()
        func ask() throws {
            try channel.writeInbound(HTTPRequestPart.head(Self.head))
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }
        for _ in 0..<2 { try ask() }
        try #require(holder.promises.count == 2)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(recorder.quiesceCount == 0)
        holder.promises[0].succeed(())
        #expect(recorder.quiesceCount == 0)
        holder.promises[1].succeed(())
        #expect(recorder.quiesceCount == 1)
        // The event is passed on once.
        try ask()
        try #require(holder.promises.count == 3)
        holder.promises[2].succeed(())
        #expect(recorder.quiesceCount == 1)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(recorder.quiesceCount == 2)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}

/// Tests what a connection passes on after its sources were requested again.
@Suite(.timeLimit(.minutes(2))) struct ConfirmationFaultTests {
    private static let head = HTTPRequest(
        method: .get,
        scheme: "http",
        authority: "media.example",
        path: "/play.m3u8?url=a",
        headerFields: [.userAgent: "player"]
    )

    /// A handler that counts what reaches the handlers of requests.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart

        struct Counts: Equatable {
            var parts = 0
            var errors = 0
            var readCompletions = 0
        }

        private(set) var counts = Counts()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { counts.parts += 1 }
        func channelReadComplete(context: ChannelHandlerContext) { counts.readCompletions += 1 }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { counts.errors += 1 }
    }

    /// A handler that counts the reads that reach the connection.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart

        private(set) var count = 0

        func read(context: ChannelHandlerContext) { count += 1 }
    }

    private struct Failure: Error {}

    /// Returns the responses of a server whose stored version of a source differs from the version that the origin
    /// sends.
    private func outdatedResponses() throws -> RepeatedResponses {
        let source = ResourceAddress("http://10.0.0.1/a.m3u8")
        let transport = ScriptedTransport(texts: [source.text: "#EXTM3U\n"])
        let policy = SourcePolicy(allowedHosts: ["10.0.0.1"], catalog: []) { _ in false }
        let loading = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        let repeated = RepeatedResponses(
            sources: SourceAccess(trusted: (loading, policy, HostCache()), foreign: (loading, policy, HostCache())),
            capacity: ServerCapacity(ServerLimits()),
            metrics: ServerMetrics(),
            faults: FaultSettings([]),
            links: LinkRegistry(shared: .off)
        )
        let value = ResponseOffer.Value(
            playlist: EditedPlaylistCache.Entry(Array("edited".utf8), versions: [source: .max], second: nil),
            key: EditedPlaylistCache.Key(target: "/play.m3u8?url=a", authority: "media.example", isForeign: false),
            expiry: nil,
            initiator: .player
        )
        let request = try #require(RepeatedRequest(Self.head, isForwarded: false))
        repeated.store(value, head: HTTPResponse(status: .ok), for: request)
        return repeated
    }

    /// A read that waited for the first confirmation is not passed on again after the second one.
    @Test func readsAndErrorsArePassedOnOnce() async throws {
        let repeated = try outdatedResponses()
        let channel = NIOAsyncTestingChannel()
        try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4_711)).get()
        let (reads, recorder) = try await channel.testingEventLoop.executeInContext {
            let reads = NIOLoopBound(ReadCounter(), eventLoop: channel.testingEventLoop)
            let recorder = NIOLoopBound(Recorder(), eventLoop: channel.testingEventLoop)
            try channel.pipeline.syncOperations.addHandler(reads.value)
            try channel.pipeline.syncOperations.addHandler(RepeatedResponseHandler(repeated, trustedProxies: []))
            try channel.pipeline.syncOperations.addHandler(recorder.value)
            return (reads, recorder)
        }
        for number in 1...2 {
            try await channel.testingEventLoop.executeInContext {
                let before = (recorder.value.counts, reads.value.count)
                channel.pipeline.fireChannelRead(HTTPRequestPart.head(Self.head))
                channel.pipeline.fireChannelRead(HTTPRequestPart.end(nil))
                if number == 1 {
                    channel.pipeline.read()
                    channel.pipeline.fireErrorCaught(Failure())
                }
                #expect(recorder.value.counts == before.0 && reads.value.count == before.1)
            }
            for _ in 0..<3_000 {
                let parts = try await channel.testingEventLoop.executeInContext { recorder.value.counts.parts }
                if parts >= 2 * number { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            try await channel.testingEventLoop.executeInContext {
                let expected = Recorder.Counts(parts: 2 * number, errors: 1, readCompletions: number)
                #expect(recorder.value.counts == expected && reads.value.count == 1)
                // The response of the router, after which the next request can wait again.
                channel.pipeline.write(HTTPResponsePart.end(nil), promise: nil)
            }
        }
    }

    @Test func presenceOfAClientEndsWithItsHandler() async throws {
        func removedPresence() throws -> ClientPresence {
            let handler = ClientDisconnectHandler()
            let channel = EmbeddedChannel(handler: handler)
            #expect(ClientDisconnectHandler.presence(on: channel) === handler.presence)
            try channel.pipeline.syncOperations.removeHandler(handler).wait()
            #expect(ClientDisconnectHandler.presence(on: channel) == nil)
            return handler.presence
        }
        await ClientPresence.$current.withValue(try removedPresence()) {
            await #expect(throws: CancellationError.self) {
                try await ClientPresence.whileClientIsConnected { try await Task.sleep(for: .seconds(3_600)) }
            }
        }
    }
}
