import AsyncHTTPClient
import MediaTiming
import MillstreamTesting
import NIOCore
import NIOHTTP1
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests the limits of requests over HTTP: redirects, proxies, measurements and configuration.
@Suite(.timeLimit(.minutes(10))) struct HTTPEdgeTests {
    private static let loopback = [HostAddress(numeric: "127.0.0.1")].compactMap(\.self)

    // MARK: Redirects

    /// Returns the error of a request to a server, and the number of requests that it received.
    private func failure(
        _ behavior: MisbehavingServer.Behavior,
        _ options: HTTPTransport.Options = HTTPTransport.Options()
    ) async throws -> (error: TransportError?, requestCount: Int) {
        try await MisbehavingServer.withServer { server in
            server.behave("/a", behavior)
            let transport = HTTPTransport(options)
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            try await transport.shutdown()
            return (error, server.requests.count)
        }
    }

    /// A cookie of the redirect may change the next response.
    @Test(arguments: [(false, 1, "the redirects form a loop"), (true, 11, "more than 10 redirects")])
    func loopIsRefusedAtOnceWithoutCookies(hasCookies: Bool, requestCount: Int, message: String) async throws {
        let options = HTTPTransport.Options(cookies: hasCookies ? CookieJar() : nil)
        let result = try await failure(.redirectLoop, options)
        #expect(result.error?.code == .badRedirect && result.error?.message == message)
        #expect(result.requestCount == requestCount)
    }

    @Test(arguments: [0, -1]) func noRedirectIsFollowed(limit: Int) async throws {
        let result = try await failure(.redirect(to: "/b"), HTTPTransport.Options(redirectLimit: limit))
        #expect(result.error?.message == "more than \(limit) redirects" && result.requestCount == 1)
    }

    @Test func redirectToNoURLIsAnError() async throws {
        let result = try await failure(.redirect(to: ""))
        #expect(result.error?.message == "the redirect has no Location header field")
        #expect(result.error?.status == 302 && result.requestCount == 1)
    }

    // MARK: Measurements

    /// The lookup of each host takes three seconds, and everything else takes no time.
    @Test func phasesOfARedirectedTransferAreMeasured() async throws {
        try await MisbehavingServer.withServer(["/b": .init([1, 2, 3])]) { server in
            let clock = CacheClock()
            clock.advance(by: .seconds(100))
            var options = HTTPTransport.Options()
            options.lookups = HostLookupQueue { _ in
                clock.advance(by: .seconds(3))
                return Self.loopback
            }
            let target = "http://second.invalid:\(server.port)/b"
            server.behave("/a", .status(302, headers: ["Location": target], body: [8, 9]))
            let transport = HTTPTransport(options, time: clock)
            let address = ResourceAddress("http://first.invalid:\(server.port)/a")
            let response = try await transport.send(TransportRequest(address, kind: .segment))
            let bytes = try await response.wholeBody()
            try await transport.shutdown()
            let measurement = response.record.measurement
            #expect(bytes == [1, 2, 3] && response.address.text == target)
            #expect(measurement.requestStart == .seconds(106) && measurement.domainLookupDuration == .seconds(6))
            #expect(measurement.connectDuration == .zero && measurement.timeToFirstByte == .zero)
            #expect(measurement.timeToLastByte == .zero && measurement.bytes == ByteCount(3))
            #expect(measurement.redirectCount == 1 && !measurement.carriedCredentials)
        }
    }

    /// The end of a redirect is not that of the resource.
    @Test func transferThatIsNotCompleteHasNoEnd() async throws {
        try await MisbehavingServer.withServer(["/b": .init([1, 2, 3])]) { server in
            server.behave("/a", .redirect(to: "/b"))
            server.behave("/b", .stall(after: 2))
            let transport = HTTPTransport()
            let address = ResourceAddress(server.address("/a"))
            let measurement = try await transport.send(TransportRequest(address, kind: .segment)).record.measurement
            try await transport.shutdown()
            #expect(measurement.timeToFirstByte != nil && measurement.timeToLastByte == nil)
        }
    }

    @Test func requestWithAPasswordCarriesCredentials() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            let transport = HTTPTransport()
            let plain = ResourceAddress(server.address("/a"))
            let secret = ResourceAddress("http://me:pw@127.0.0.1:\(server.port)/a")
            for (address, carries) in [(plain, false), (secret, true)] {
                let request = TransportRequest(address, kind: .segment)
                let response = try await transport.send(request)
                #expect(response.record.measurement.carriedCredentials == carries)
                #expect(transport.carriesCredentials(request) == carries)
            }
            try await transport.shutdown()
        }
    }

    // MARK: Connections

    @Test func hostIsNotLookedUpWithAProxy() async throws {
        let port = try await MisbehavingServer.withServer([:]) { $0.port }
        let names = Mutex<[String]>([])
        let addressCounts = Mutex<[Int]>([])
        var options = HTTPTransport.Options(proxy: (host: "127.0.0.1", port: port))
        options.lookups = HostLookupQueue { name in
            names.withLock { $0.append(name) }
            return Self.loopback
        }
        options.allowsLoading = { _, hosts in
            addressCounts.withLock { $0.append(hosts.count) }
            return true
        }
        let transport = HTTPTransport(options)
        let request = TransportRequest(ResourceAddress("http://media.invalid/a"), kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        try await transport.shutdown()
        #expect(error?.code == .cannotConnect && error?.cause != nil)
        #expect(error?.message == "the proxy 127.0.0.1:\(port) could not be reached")
        #expect(names.withLock { $0 } == [] && addressCounts.withLock { $0 } == [0])
    }

    @Test func smallReadSizeIsRaised() async throws {
        let content = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        try await MisbehavingServer.withServer(["/a": .init(content)]) { server in
            var options = HTTPTransport.Options()
            options.readSize = 1
            let transport = HTTPTransport(options)
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            let bytes = try await transport.send(request).wholeBody()
            try await transport.shutdown()
            #expect(bytes == content)
        }
    }

    @Test func clientsAreConfiguredByTheOptions() {
        let plain = HTTPClientPool.configuration(HTTPTransport.Options())
        #expect(plain.timeout.connect == .seconds(10) && plain.timeout.read == nil)
        #expect(plain.connectionPool.idleTimeout == .seconds(30))
        #expect(plain.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit == 16)
        #expect(!plain.connectionPool.retryConnectionEstablishment)
        #expect(plain.tlsConfiguration == nil && plain.proxy == nil)
        let other = HTTPClientPool.configuration(
            HTTPTransport.Options(
                connectTimeout: .seconds(3),
                acceptsAnyCertificate: true,
                proxy: (host: "p", port: 3_128)
            )
        )
        #expect(other.timeout.connect == .seconds(3) && other.tlsConfiguration != nil)
        #expect(other.proxy?.host == "p" && other.proxy?.port == 3_128)
    }

    // MARK: Responses

    /// Returns a response of a client with a body of several buffers.
    private func clientResponse(_ fields: [(String, String)], _ parts: [String]) -> HTTPClientResponse {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        for part in parts { continuation.yield(ByteBuffer(string: part)) }
        continuation.finish()
        return HTTPClientResponse(
            version: .http1_1,
            status: .ok,
            headers: HTTPHeaders(fields),
            body: .stream(stream),
            history: []
        )
    }

    private func validated(_ response: HTTPClientResponse, _ request: TransportRequest) throws -> TransportResponse {
        let lease = HTTPClientPool.Lease(HTTPClient.shared) {}
        return try HTTPResponseValidator(response, request, request.address, TransferRecord(), lease)
            .validatedResponse()
    }

    /// An empty buffer is delivered only for bytes before the range.
    @Test func rangeIsExtractedFromSeveralBuffers() async throws {
        let range = ByteRange(start: 4, length: 6)
        let request = TransportRequest(ResourceAddress("http://h/a"), kind: .segment, byteRange: range)
        let response = try validated(clientResponse([], ["", "01", "", "2345", "6789", "rest"]), request)
        var texts: [String] = []
        for try await buffer in response.body { texts.append(String(buffer: buffer)) }
        #expect(texts == ["", "45", "6789"] && response.record.measurement.skippedBytes == ByteCount(4))
    }

    @Test func unknownEncodingIsQuotedUpTo40Characters() throws {
        let encoding = String(repeating: "a", count: 40)
        let response = clientResponse([("Content-Encoding", encoding + "bcd")], [])
        let error = #expect(throws: TransportError.self) {
            try validated(response, TransportRequest(ResourceAddress("http://h/a"), kind: .playlist))
        }
        #expect(error?.message == "the body has an unsupported content encoding (\(encoding))")
    }

    // MARK: Explanations

    /// A clock whose sleeps end at once.
    private final class RecordingTime: TimeSource {
        private let state = Mutex<[Duration]>([])

        var now: Duration { .zero }
        var sleeps: [Duration] { state.withLock { $0 } }

        func sleep(for duration: Duration) async throws { state.withLock { $0.append(duration) } }
    }

    @Test func explanationIsAwaitedForTwoSeconds() async {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        let response = HTTPClientResponse(
            version: .http1_1,
            status: .badRequest,
            headers: HTTPHeaders([("Content-Type", "application/json")]),
            body: .stream(stream),
            history: []
        )
        let time = RecordingTime()
        let message = await ErrorExplanation.message(of: response, time)
        continuation.finish()
        #expect(message == nil && time.sleeps == [.seconds(2)])
    }

    @Test(arguments: [
        ("application/json", true), (" Application/JSON ;x=y", true), ("application/jsonx", false),
        ("text/json", false), ("", false), (";", false), ("text/plain;application/json", false),
    ])
    func onlyJSONIsAnExplanation(contentType: String, isJSON: Bool) {
        #expect(ErrorExplanation.isJSON(contentType) == isJSON)
    }

    // MARK: Scopes

    @Test func hostMayContainAnExclamationMark() {
        #expect(HeaderFieldScope("a!b")?.description == "a!b" && HeaderFieldScope("a\u{7F}b") == nil)
        #expect(HeaderFieldScope("[]") == nil && HeaderFieldScope(":") == nil)
    }
}
