import Foundation
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import NetworkConditioning
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// A source whose playlist is fresh for a time, and which can stop responding.
private final class Source: Transport {
    struct State {
        var playlist = "#EXTM3U\n"
        var lifetime = 60
        var responds = true
        var isAvailable = true
        var requestCount = 0
        var cancellationCount = 0
    }

    let state = Mutex(State())

    var counts: (requests: Int, cancellations: Int) { state.withLock { ($0.requestCount, $0.cancellationCount) } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let now = state.withLock { state in
            state.requestCount += 1
            return state
        }
        guard now.responds else {
            do {
                try await SystemTimeSource().sleep(for: .seconds(600))
            } catch {
                state.withLock { $0.cancellationCount += 1 }
            }
            throw CancellationError()
        }
        guard now.isAvailable else { throw TransportError(.connectionLost, "the source has no network") }
        let bytes = Array(now.playlist.utf8)
        return TransportResponse(
            status: 200,
            headers: [HeaderField("Cache-Control", "max-age=\(now.lifetime)")],
            address: request.address,
            expectedLength: Int64(bytes.count),
            body: TransportBody(bytes)
        )
    }
}

/// A channel with a handler, and the response to a request in its memory.
private final class Stage: Sendable {
    static let head = HTTPRequest(
        method: .get,
        scheme: "http",
        authority: "media.example",
        path: "/play.m3u8?url=a",
        headerFields: [.userAgent: "player"]
    )
    static let source = ResourceAddress("http://10.0.0.1/a.m3u8")

    let channel = NIOAsyncTestingChannel()
    let source = Source()
    let repeated: RepeatedResponses
    let sources: SourceAccess
    let faults = FaultSettings([])
    let links = LinkRegistry(shared: .off)
    let metrics = ServerMetrics()
    let capacity = ServerCapacity(ServerLimits())
    let clock = Clock()

    /// The clock of the server.
    final class Clock: Sendable {
        private let seconds = Mutex(UnixSeconds(1_000_000))

        var now: UnixSeconds {
            get { seconds.withLock { $0 } }
            set { seconds.withLock { $0 = newValue } }
        }
    }

    init(trustedProxies: [TrustedProxy] = []) async throws {
        let policy = SourcePolicy(allowedHosts: ["10.0.0.1"], catalog: []) { _ in false }
        let loading = ResourceLoader(source, policy: RecoveryPolicy(retries: 0))
        var sources = SourceAccess(trusted: (loading, policy, HostCache()), foreign: (loading, policy, HostCache()))
        sources.trustedMemory = ResourceMemory(ResourceMemory.Options { [clock] in clock.now })
        self.sources = sources
        repeated = RepeatedResponses(
            sources: sources,
            capacity: capacity,
            metrics: metrics,
            faults: faults,
            links: links,
            now: { [clock] in clock.now }
        )
        try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4_711)).get()
        try await channel.testingEventLoop.executeInContext { [channel, repeated] in
            try channel.pipeline.syncOperations.addHandlers([
                ResponseDecoder(), RepeatedResponseHandler(repeated, trustedProxies: trustedProxies),
            ])
        }
    }

    /// Loads the source, and stores a response to the request.
    func store(
        second: UnixSeconds? = nil,
        expiry: AddressExpiry? = nil,
        target: String = "/play.m3u8?url=a",
        isForwarded: Bool = false
    ) async throws {
        let loading = sources.trusted.loading
        let resource = try await sources.trustedMemory.resource(at: Self.source) { (loading, ByteCount(1_000)) }
        let offer = ResponseOffer.Value(
            playlist: EditedPlaylistCache.Entry(
                Array("edited".utf8),
                versions: [Self.source: resource.version],
                second: second
            ),
            key: EditedPlaylistCache.Key(target: target, authority: "media.example", isForeign: false),
            expiry: expiry,
            initiator: .player
        )
        let request = try #require(RepeatedRequest(Self.head, isForwarded: isForwarded))
        repeated.store(offer, head: HTTPResponse(status: .ok, headerFields: [.contentLength: "6"]), for: request)
    }

    /// Sends the request.
    func ask(_ head: HTTPRequest = Stage.head) async throws {
        try await channel.writeInbound(HTTPRequestPart.head(head))
        try await channel.writeInbound(HTTPRequestPart.end(nil))
    }

    /// The responses that were written: the status, whether they have a date, and the body.
    func written() async throws -> [String] {
        var (responses, current): ([String], String) = ([], "")
        while let part = try await channel.readOutbound(as: HTTPResponsePart.self) {
            switch part {
            case .head(let head): current = "\(head.status.code) \(head.headerFields[.date] == nil ? "" : "dated ")"
            case .body(let bytes): current += String(buffer: bytes)
            case .end: responses.append(current)
            }
        }
        return responses
    }

    /// The number of parts that reached the router.
    func delivered() async throws -> Int {
        var count = 0
        while try await channel.readInbound(as: HTTPRequestPart.self) != nil { count += 1 }
        return count
    }

    /// The parts that reached the router, and the responses that were written.
    struct Parts: Equatable {
        var delivered: Int
        var written: [String]
    }

    /// Returns what happened since the last call.
    func parts() async throws -> Parts { Parts(delivered: try await delivered(), written: try await written()) }

    /// Waits until a condition holds.
    func wait(until condition: () async throws -> Bool) async throws {
        for _ in 0..<3_000 {
            if try await condition() { return }
            try await SystemTimeSource().sleep(for: .milliseconds(10))
        }
        Issue.record("the condition did not hold within 30 s")
    }
}

/// Tests the handler that answers without the router, on a channel without a network.
@Suite struct RepeatedResponseHandlerTests {
    @Test func knownRequestsAreAnsweredWhileTheSourceIsFresh() async throws {
        let stage = try await Stage()
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 2, written: []))
        try await stage.channel.writeOutbound(HTTPResponsePart.end(nil))
        _ = try await stage.written()
        try await stage.store()
        for _ in 0..<3 {
            try await stage.ask()
            #expect(try await stage.written() == ["200 dated edited"])
        }
        #expect(try await stage.delivered() == 0 && stage.source.counts.requests == 1)
        #expect(stage.metrics.text(downloads: 0, listeners: 0, connections: 0).contains("sources=\"fresh\"} 3"))
        // Another player may get another response.
        var other = Stage.head
        other.headerFields[.origin] = "https://other.example"
        try await stage.ask(other)
        #expect(try await stage.delivered() == 2)
    }

    @Test func responsesKeepTheOrderOfTheRequests() async throws {
        let stage = try await Stage()
        try await stage.store()
        try await stage.ask(HTTPRequest(method: .get, scheme: "http", authority: "media.example", path: "/health"))
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 4, written: []))
        // With the last response, the handler answers again.
        for _ in 0..<2 { try await stage.channel.writeOutbound(HTTPResponsePart.end(nil)) }
        _ = try await stage.written()
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 0, written: ["200 dated edited"]))
    }

    @Test func clientThatReadsNothingGetsNoFurtherResponses() async throws {
        let stage = try await Stage()
        try await stage.store()
        stage.channel.isWritable = false
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 2, written: []))
    }

    @Test func requestWithABodyIsDelivered() async throws {
        let stage = try await Stage()
        try await stage.store()
        try await stage.channel.writeInbound(HTTPRequestPart.head(Stage.head))
        try await stage.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "a")))
        try await stage.channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(try await stage.parts() == .init(delivered: 3, written: []))
    }

    @Test func simulatedFaultsAndNetworksApply() async throws {
        let stage = try await Stage()
        try await stage.store()
        try stage.faults.replace(with: ["path=/play.m3u8&status=503"])
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 2, written: []))
        try stage.faults.replace(with: [])
        try await stage.channel.writeOutbound(HTTPResponsePart.end(nil))
        _ = try await stage.written()
        try await stage.ask()
        #expect(try await stage.written() == ["200 dated edited"])
        let slow = try #require(LinkProfile(preset: "Edge"))
        stage.links.shared.change(to: slow)
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 2, written: []))
    }

    @Test func addressWithConditionsIsNotStored() async throws {
        let stage = try await Stage()
        try await stage.store(target: "/play.m3u8?url=a&conditions=3G")
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 2, written: []))
    }

    @Test func responsesEndWithTheirTime() async throws {
        let stage = try await Stage()
        try await stage.store(second: stage.clock.now)
        try await stage.ask()
        #expect(try await stage.written() == ["200 dated edited"])
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 1)
        try await stage.ask()
        #expect(try await stage.delivered() == 2)

        let signed = try await Stage()
        try await signed.store(expiry: AddressExpiry(UnixSeconds(1_000_010)))
        signed.clock.now = UnixSeconds(1_000_009)
        try await signed.ask()
        #expect(try await signed.written() == ["200 dated edited"])
        signed.clock.now = UnixSeconds(1_000_010)
        try await signed.ask()
        #expect(try await signed.parts() == .init(delivered: 2, written: []))
    }

    @Test func staleSourceIsRequestedAgain() async throws {
        let stage = try await Stage()
        try await stage.store()
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 60)
        try await stage.ask()
        var responses: [String] = []
        try await stage.wait {
            responses += try await stage.written(); return !responses.isEmpty
        }
        #expect(responses == ["200 dated edited"] && stage.source.counts.requests == 2)
        #expect(try await stage.delivered() == 0)
        #expect(stage.metrics.text(downloads: 0, listeners: 0, connections: 0).contains("sources=\"validated\"} 1"))
    }

    @Test(arguments: [true, false])
    func requestIsDeliveredAfterItsSourceHasChangedOrFailed(isAvailable: Bool) async throws {
        let stage = try await Stage()
        try await stage.store()
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 60)
        stage.source.state.withLock { state in
            state.playlist = "#EXTM3U\n#EXT-X-VERSION:3\n"
            state.isAvailable = isAvailable
        }
        // Parts that arrive during the confirmation follow in their order.
        try await stage.ask()
        try await stage.ask(HTTPRequest(method: .get, scheme: "http", authority: "media.example", path: "/health"))
        var count = 0
        try await stage.wait {
            count += try await stage.delivered(); return count >= 4
        }
        #expect(try await stage.written() == [])
        #expect(count == 4 && stage.source.counts.requests == 2)
    }

    @Test func clientsShareAConfirmationThatEndsWithTheLastOfThem() async throws {
        let stage = try await Stage()
        try await stage.store()
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 60)
        stage.source.state.withLock { $0.responds = false }
        let request = try #require(RepeatedRequest(Stage.head, isForwarded: false))
        let response = try #require(stage.repeated.response(to: request)).response
        let other = stage.repeated.confirm(response) { _ in Issue.record("the client has left") }
        try await stage.ask()
        try await stage.wait { stage.source.counts.requests == 2 }
        stage.repeated.leave(other)
        stage.repeated.leave(other)
        try await SystemTimeSource().sleep(for: .milliseconds(50))
        #expect(stage.source.counts == (2, 0))
        try await stage.channel.close()
        try await stage.wait { stage.source.counts.cancellations == 1 }
        #expect(stage.source.counts == (2, 1))
    }

    /// The source is not requested again for a client that uses its share of the capacity.
    @Test func confirmationsAreCountedForTheirClient() async throws {
        let stage = try await Stage()
        try await stage.store()
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 60)
        let client = RequestingClient(network: ClientNetwork(HostAddress([192, 0, 2, 1])), isForeign: false)
        let held = try (0..<64).map { _ in
            try RequestingClient.$current.withValue(client) { try stage.capacity.admit() }
        }
        try await stage.ask()
        var count = 0
        try await stage.wait {
            count += try await stage.delivered(); return count >= 2
        }
        #expect(try await stage.written() == [])
        #expect(count == 2 && stage.source.counts.requests == 1)
        withExtendedLifetime(held) {}
    }

    /// The requests of a proxy that wait are counted by client, for which they must reach the router.
    @Test func forwardedRequestsDoNotWaitForAConfirmation() async throws {
        let stage = try await Stage(trustedProxies: [try #require(TrustedProxy("192.0.2.0/24"))])
        try await stage.store(isForwarded: true)
        try await stage.ask()
        #expect(try await stage.written() == ["200 dated edited"])
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 60)
        try await stage.ask()
        #expect(try await stage.parts() == .init(delivered: 2, written: []))
        #expect(stage.source.counts.requests == 1)
    }

    /// Bytes that the connection receives, and its errors, wait for the response as well.
    @Test func readsAndErrorsWaitForAConfirmation() async throws {
        struct Failure: Error {}
        let stage = try await Stage()
        try await stage.store()
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 60)
        let channel = stage.channel
        let (reads, errors) = try await channel.testingEventLoop.executeInContext {
            let reads = NIOLoopBound(ReadCounter(), eventLoop: channel.testingEventLoop)
            let errors = NIOLoopBound(ErrorCounter(), eventLoop: channel.testingEventLoop)
            try channel.pipeline.syncOperations.addHandler(reads.value, position: .first)
            try channel.pipeline.syncOperations.addHandler(errors.value)
            channel.pipeline.fireChannelRead(HTTPRequestPart.head(Stage.head))
            channel.pipeline.fireChannelRead(HTTPRequestPart.end(nil))
            channel.pipeline.read()
            channel.pipeline.fireErrorCaught(Failure())
            #expect(reads.value.count == 0 && errors.value.count == 0)
            return (reads, errors)
        }
        var responses: [String] = []
        try await stage.wait {
            responses += try await stage.written(); return !responses.isEmpty
        }
        try await channel.testingEventLoop.executeInContext {
            #expect(reads.value.count == 1 && errors.value.count == 1)
            // Later ones are passed on at once.
            channel.pipeline.read()
            channel.pipeline.fireErrorCaught(Failure())
            #expect(reads.value.count == 2 && errors.value.count == 2)
        }
    }

    @Test func shutdownWaitsForAConfirmation() async throws {
        let stage = try await Stage()
        try await stage.store()
        stage.clock.now = UnixSeconds(stage.clock.now.rawValue + 60)
        let channel = stage.channel
        let bound = try await channel.testingEventLoop.executeInContext {
            let bound = NIOLoopBound(EventRecorder(), eventLoop: channel.testingEventLoop)
            try channel.pipeline.syncOperations.addHandler(bound.value)
            channel.pipeline.fireChannelRead(HTTPRequestPart.head(Stage.head))
            channel.pipeline.fireChannelRead(HTTPRequestPart.end(nil))
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            #expect(bound.value.quiesceCount == 0)
            return bound
        }
        var responses: [String] = []
        try await stage.wait {
            responses += try await stage.written(); return !responses.isEmpty
        }
        try await channel.testingEventLoop.executeInContext { #expect(bound.value.quiesceCount == 1) }
    }
}

/// A handler that writes encoded responses as the parts of which they consist.
private final class ResponseDecoder: ChannelOutboundHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let response = event as? EncodedResponse else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        let lines = String(buffer: response.head).components(separatedBy: "\r\n")
        #expect(lines.first == "HTTP/1.1 200 OK" && lines.suffix(2) == ["", ""])
        var head = HTTPResponse(status: .ok)
        for line in lines.dropFirst().dropLast(2) {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, let name = HTTPField.Name(parts[0]) else {
                Issue.record("\(line) is no header field")
                continue
            }
            head.headerFields.append(HTTPField(name: name, value: parts[1]))
        }
        #expect(head.headerFields[.contentLength] == response.body.map { "\($0.readableBytes)" })
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body = response.body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
    }
}

/// A handler that counts the events of a shutdown.
private final class EventRecorder: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart

    private(set) var quiesceCount = 0

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { quiesceCount += 1 }
    }
}

/// A handler that counts the reads that reach the connection.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = HTTPResponsePart
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// A handler that counts the errors that reach the handlers of requests.
private final class ErrorCounter: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    private(set) var count = 0

    func errorCaught(context: ChannelHandlerContext, error: any Error) { count += 1 }
}
