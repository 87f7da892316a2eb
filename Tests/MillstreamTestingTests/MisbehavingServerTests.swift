import Foundation
import MillstreamTesting
import Testing

/// The suites of the server, and their common functions.
@Suite(.timeLimit(.minutes(10))) struct MisbehavingServerTests {
    static let letters = Array("abcdefghij".utf8)
    static let long = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    typealias Server = MisbehavingServer
    typealias Behavior = MisbehavingServer.Behavior

    /// Returns the bytes of a GET request, by default with `Connection: close`.
    static func get(_ target: String = "/a", _ fields: String..., isLast: Bool = true) -> [UInt8] {
        let all = ["Host: h"] + fields + (isLast ? ["Connection: close"] : [])
        return Array("GET \(target) HTTP/1.1\r\n\(all.map { $0 + "\r\n" }.joined())\r\n".utf8)
    }

    /// Serves ten letters at `/a` with the given behavior, and sends one request.
    static func ask(
        _ behavior: Behavior,
        _ fields: String...,
        bytes: [UInt8] = letters,
        isLast: Bool = true,
        clientOptions: RawClient.ClientOptions = .init()
    ) async throws -> Exchange {
        try await Server.withServer(["/a": .init(bytes, contentType: "video/mp2t")]) { server in
            server.behave("/a", behavior)
            let lines = fields.map { $0 + "\r\n" }.joined() + (isLast ? "Connection: close\r\n" : "")
            let request = Array("GET /a HTTP/1.1\r\nHost: h\r\n\(lines)\r\n".utf8)
            return try await RawClient.send(request, to: server, clientOptions)
        }
    }

    // MARK: Sequences of behaviors

    @Test func behaviorsApplyToConsecutiveRequestsAndTheLastOneRepeats() async throws {
        try await Server.withServer(["/a": .init(Self.letters)]) { server in
            server.behave("/a", .status(503), .proper, .status(404))
            var found: [Int?] = []
            for _ in 0..<4 { found.append(try await RawClient.send(Self.get(), to: server).status) }
            server.behave("/a")
            found.append(try await RawClient.send(Self.get("/a?x"), to: server).status)
            #expect(found == [503, 200, 404, 404, 200])
        }
    }

    @Test func wildcardAppliesToAllOtherPaths() async throws {
        try await Server.withServer(["/a": .init([1]), "/b": .init([2]), "/c": .init([3])]) { server in
            server.behave("*", .status(500), .status(501), .proper)
            server.behave("/b", .status(404))
            var found: [Int?] = []
            for path in ["/a", "/b", "/c", "/a"] {
                found.append(try await RawClient.send(Self.get(path), to: server).status)
            }
            #expect(found == [500, 404, 501, 200])
        }
    }

    @Test func pathWithoutAResourceCanHaveABehavior() async throws {
        try await Server.withServer { server in
            server.behave("nothing", .status(401, headers: ["WWW-Authenticate": "Basic"]))
            let exchange = try await RawClient.send(Self.get("/nothing"), to: server)
            #expect(exchange.status == 401 && exchange.header("WWW-Authenticate") == "Basic")
        }
    }

    @Test func behaviorsCanBeCombined() async throws {
        let start = ContinuousClock.now
        let exchange = try await Self.ask([
            .delay(.milliseconds(40)), .status(503, headers: ["Retry-After": "1"], body: Self.letters),
            .chunked(size: 4), .truncate(after: 6),
        ])
        #expect(exchange.status == 503 && exchange.header("Retry-After") == "1")
        #expect(exchange.bodyText == "4\r\nabcd\r\n2\r\nef\r\n" && exchange.ending == .closed)
        #expect(ContinuousClock.now - start >= .milliseconds(40))
    }

    // MARK: Connections

    @Test func requestsAreRecordedUnchanged() async throws {
        try await Server.withServer(["/a%20b": .init(Self.letters)]) { server in
            let target = "/a%20b?x=../%zz&é y"
            let request = "GET \(target) HTTP/1.1\r\nB: 1\r\nb:  two \r\nA:\r\nContent-Length: 3\r\n\r\nxyz"
            let both = Array(request.utf8) + Self.get("http://h/a%20b")
            let exchange = try await RawClient.send(both, to: server)
            #expect(exchange.status == 200)
            let found = try #require(server.requests.first)
            #expect(found.method == "GET" && found.targetBytes == Array(target.utf8) && found.version == "HTTP/1.1")
            #expect(found.path == "/a%20b" && found.query == "x=../%zz&é y" && found.body == Array("xyz".utf8))
            #expect(
                found.fields == [.init("B", "1"), .init("b", "two"), .init("A", ""), .init("Content-Length", "3")]
            )
            #expect(found.connection == 1 && found.header("B") == "1" && found.time > .zero)
            let second = try #require(server.requests.last)
            #expect(second.target == "http://h/a%20b" && second.path == "/a%20b" && second.query == nil)
            #expect(second.time >= found.time && server.connectionCount == 1)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await Server.withServer(["/a": .init([0x41]), "/b": .init([0x42])]) { server in
            server.behave("/a", .delay(.milliseconds(30)))
            let requests = Self.get("/a", isLast: false) + Self.get("/b", isLast: false) + Self.get("/b")
            let exchange = try await RawClient.send(requests, to: server)
            let bodies = exchange.text.components(separatedBy: "\r\n\r\n").dropFirst().map(\.first)
            #expect(bodies == ["A", "B", "B"] && exchange.ending == .closed)
            #expect(server.requests.map(\.connection) == [1, 1, 1])
        }
    }

    @Test func clientThatClosesItsOutputReceivesTheResponse() async throws {
        try await Server.withServer(["/a": .init(Self.letters)]) { server in
            server.behave("/a", .delay(.milliseconds(300)))
            let exchange = try await RawClient.send(Self.get(isLast: false), to: server, .init(closesOutput: true))
            #expect(exchange.bodyText == "abcdefghij" && exchange.ending == .closed)
        }
    }

    @Test(
        arguments: [
            ("\u{16}\u{3}\u{1}hello", nil), ("\r\n\r\n\r\n", nil), ("GET\r\n\r\n", 400), ("GET /a HTTP/9\r\n\r\n", 400),
            ("GET /a HTTP/1.1\r\nno colon\r\n\r\n", 400), ("GET /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            ("GET /a HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
            ("GET /a HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n", 413),
            ("GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
            ("GET /a HTTP/1.1\r\nA: " + String(repeating: "a", count: 70_000), 431),
            ("GET /a HTTP/1.0\n\n", 200), ("DELETE /a HTTP/1.1\r\nConnection: close\r\n\r\n", 405),
        ] as [(String, Int?)]
    )
    func invalidRequestsAreHandled(text: String, status: Int?) async throws {
        try await Server.withServer(["/a": .init(Self.letters)]) { server in
            let clientOptions = RawClient.ClientOptions(timeout: .seconds(2), closesOutput: true)
            let exchange = try await RawClient.send(Array(text.utf8), to: server, clientOptions)
            #expect(exchange.status == status && exchange.ending != .leftOpen)
            #expect(try await RawClient.send(Self.get(), to: server).bodyText == "abcdefghij")
        }
    }

    @Test func clientsThatDisconnectEarlyAreHandled() async throws {
        try await Server.withServer(["/a": .init(Self.long)]) { server in
            for behavior: Behavior in [.endlessBody, .endlessHead, .throttle(bytesPerSecond: 100_000), .proper] {
                server.behave("/a", behavior)
                _ = try await RawClient.send(Self.get(isLast: false), to: server, .init(byteLimit: 10))
            }
            let flood = Self.get(isLast: false) + [UInt8](repeating: 0x41, count: 3 << 20)
            server.behave("/a", .stallBeforeHead)
            let exchange = try await RawClient.send(flood, to: server)
            #expect(exchange.bytes.isEmpty && exchange.ending != .leftOpen)
            server.behave("/a")
            #expect(try await RawClient.send(Self.get(), to: server).body.elementsEqual(Self.long))
        }
    }

    // MARK: Shutdown

    /// An error that a test throws.
    private struct Stop: Error {}

    private static func waitForRequests(_ count: Int, _ server: Server) async {
        while server.requests.count < count { await Task.yield() }
    }

    @Test func allConnectionsAreClosedWithTheServer() async throws {
        let behaviors: [Behavior] = [
            .stallBeforeHead, .stall(after: 3), .delay(.seconds(60)), .trickle(every: .seconds(60)), .endlessBody,
            .wrongLength(5), .closeIdle(after: .seconds(60)),
        ]
        let exchanges = try await withThrowingTaskGroup(of: Exchange.self) { group in
            await #expect(throws: Stop.self) {
                try await Server.withServer(["/a": .init(Self.letters)]) { server in
                    for (index, behavior) in behaviors.enumerated() {
                        server.behave("/a", behavior)
                        group.addTask { try await RawClient.send(Self.get(isLast: false), to: server) }
                        await Self.waitForRequests(index + 1, server)
                    }
                    throw Stop()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(exchanges.count == behaviors.count && exchanges.allSatisfy { $0.ending != .leftOpen })
    }

    @Test func cancellationClosesConnectionsOfClientsThatIgnoreIt() async throws {
        let exchange = try await withThrowingTaskGroup(of: Exchange.self) { group in
            group.addTask {
                try await Server.withServer(["/a": .init(Self.letters)]) { server in
                    server.behave("/a", .stall(after: 3))
                    async let exchange = RawClient.send(Self.get(), to: server)
                    await Self.waitForRequests(1, server)
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await exchange
                }
            }
            return try await group.next()
        }
        #expect(exchange?.ending != .leftOpen)
    }

    @Test func serverReturnsTheResultOfItsBodyAndStopsListening() async throws {
        let ended = try await Server.withServer(["/a": .init(Self.letters)]) { server in
            _ = try await RawClient.send(Self.get(), to: server)
            return server
        }
        #expect(ended.requests.count == 1)
        await #expect(throws: (any Error).self) { _ = try await RawClient.send(Self.get(), to: ended) }
    }
}
