import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// Tests the header fields of requests, and the addresses that connections use.
@Suite(.timeLimit(.minutes(10))) struct HTTPRequestTests {
    /// Sends a request to a server, and returns what the server has received.
    private func received(
        _ options: HTTPTransport.Options = HTTPTransport.Options(),
        _ makeRequest: (ResourceAddress) -> TransportRequest
    ) async throws -> MisbehavingServer.Request? {
        try await MisbehavingServer.withServer(["/a": .init([UInt8](repeating: 7, count: 100))]) { server in
            let transport = HTTPTransport(options)
            _ = try? await transport.send(makeRequest(ResourceAddress(server.address("/a"))))
            try await transport.shutdown()
            return server.requests.first
        }
    }

    // MARK: Header fields

    @Test func requestHasTheFieldsOfTheClient() async throws {
        let request = try await received(HTTPTransport.Options(userAgent: "Tester/1")) {
            TransportRequest($0, kind: .segment)
        }
        #expect(request?.header("User-Agent") == "Tester/1" && request?.header("Accept") == "*/*")
        for name in ["Range", "If-Range", "Cookie", "Authorization", "X-Millstream-Exchange"] {
            #expect(request?.header(name) == nil, "\(name)")
        }
        let own = try await received { address in
            TransportRequest(address, kind: .segment, headers: [HeaderField("accept", "text/plain")])
        }
        #expect(own?.header("Accept") == "text/plain" && own?.header("User-Agent") == "Millstream/0.1")
    }

    @Test(
        arguments: [
            (.playlist, true), (.subtitle, true), (.other, true), (.segment, false), (.initialization, false),
            (.key, false),
        ] as [(TransportRequest.Kind, Bool)]
    )
    func onlyTextIsRequestedWithCompression(kind: TransportRequest.Kind, isText: Bool) async throws {
        let request = try await received { TransportRequest($0, kind: kind) }
        #expect(request?.header("Accept-Encoding") == (isText ? "gzip, deflate" : "identity"))
    }

    @Test(
        arguments: [
            (ByteRange(start: 0, length: 1), nil, "bytes=0-0"), (ByteRange(start: 5, length: 10), nil, "bytes=5-14"),
            (ByteRange(start: 5, length: 10), 3, "bytes=8-14"), (ByteRange(start: 5, length: 10), 0, "bytes=5-14"),
            (nil, 1, "bytes=1-"), (nil, 7, "bytes=7-"), (nil, 0, nil),
        ] as [(ByteRange?, Int64?, String?)]
    )
    func partIsRequestedWithoutCompression(range: ByteRange?, offset: Int64?, field: String?) async throws {
        let request = try await received { address in
            var request = TransportRequest(address, kind: .playlist, byteRange: range)
            request.resumption = offset.map { .init(offset: $0, validator: "\"1\"") }
            return request
        }
        #expect(request?.header("Range") == field && request?.header("Accept-Encoding") == "identity")
        #expect(request?.header("If-Range") == offset.map { _ in "\"1\"" })
    }

    @Test func partThatAFieldAsksForIsRequestedWithoutCompression() async throws {
        let request = try await received { address in
            TransportRequest(address, kind: .playlist, headers: [HeaderField("range", "bytes=0-1")])
        }
        #expect(request?.header("Range") == "bytes=0-1" && request?.header("Accept-Encoding") == "identity")
    }

    // MARK: Addresses

    /// The number of host names that were looked up.
    private final class Lookups: Sendable {
        private let value = Mutex(0)

        var count: Int { value.withLock { $0 } }

        func add() { value.withLock { $0 += 1 } }
    }

    @Test func connectionUsesTheAddressThatWasResolvedAndChecked() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            let checked = Mutex<[String]>([])
            let names = Lookups()
            var options = HTTPTransport.Options()
            options.lookups = HostLookupQueue { _ in
                names.add()
                return ["127.0.0.1"].compactMap { HostAddress(numeric: $0) }
            }
            options.allowsLoading = { address, hosts in
                checked.withLock { $0 += hosts.map { "\(address.host ?? "") \($0)" } }
                return true
            }
            let transport = HTTPTransport(options)
            let request = TransportRequest(ResourceAddress("http://media.invalid:\(server.port)/a"), kind: .segment)
            for _ in 0..<2 {
                let response = try await transport.send(request)
                #expect(response.record.measurement.serverAddress == "127.0.0.1:\(server.port)")
            }
            try await transport.shutdown()
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.header("Host") == "media.invalid:\(server.port)" })
            #expect(checked.withLock { $0 } == ["media.invalid 127.0.0.1", "media.invalid 127.0.0.1"])
            #expect(names.count == 1)
        }
    }

    #if os(Linux)
    /// No program listens at the other loopback addresses.
    @Test(arguments: [(1, true), (3, true), (4, false)])
    func fourAddressesOfAHostAreTried(unreachable: Int, isReached: Bool) async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            let addresses = (2...5).prefix(unreachable).map { "127.0.0.\($0)" } + ["127.0.0.1"]
            let names = Lookups()
            var options = HTTPTransport.Options()
            options.lookups = HostLookupQueue { _ in
                names.add()
                return addresses.compactMap { HostAddress(numeric: $0) }
            }
            let transport = HTTPTransport(options)
            let request = TransportRequest(ResourceAddress("http://media.invalid:\(server.port)/a"), kind: .segment)
            for _ in 0..<2 {
                if isReached {
                    #expect(try await transport.send(request).status == 200)
                } else {
                    let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
                    #expect(error?.code == .cannotConnect)
                }
            }
            try await transport.shutdown()
            #expect(server.requests.count == (isReached ? 2 : 0))
            // A host at which no server responds is looked up again.
            #expect(names.count == (isReached ? 1 : 2))
        }
    }
    #endif

    @Test func requestThatIsNotAllowedIsNotSent() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            var options = HTTPTransport.Options()
            options.allowsLoading = { _, _ in false }
            let transport = HTTPTransport(options)
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            try await transport.shutdown()
            #expect(error?.code == .addressRefused && server.connectionCount == 0)
        }
    }
}
