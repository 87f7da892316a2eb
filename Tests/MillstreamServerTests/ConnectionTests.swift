import MediaTransport
import MillstreamTesting
import Testing

@testable import MillstreamServer

/// The limits for connections, on real sockets with short limits.
///
/// A server that did not keep them would leave a connection open until the client's own limit of 30 seconds ends the test with an
/// error.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ConnectionTests {
    private let short = ConnectionLimits(
        headTimeout: .seconds(1),
        bodyTimeout: .seconds(1),
        keepAliveTimeout: .seconds(1),
        writeTimeout: .seconds(1)
    )

    @Test func aHeadThatNeverEndsIsCutOff() async throws {
        try await ServerStage.run(connections: short) { stage in
            let connection = try RawConnection(port: stage.port)
            connection.send("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            let answer = RawAnswer(try await connection.readToEnd())
            #expect(answer.status == 408 && answer.errorCode == "request-timeout")
        }
    }

    @Test func aBodyThatNeverEndsIsCutOff() async throws {
        try await ServerStage.run(connections: short) { stage in
            for field in ["Content-Length: 1000", "Transfer-Encoding: chunked"] {
                let connection = try RawConnection(port: stage.port)
                connection.send(
                    "PUT /api/conditions HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\nContent-Type: application/json\r\n\(field)\r\n\r\n"
                )
                let answer = RawAnswer(try await connection.readToEnd())
                #expect(answer.status == 408, "\(field): \(answer.head)")
            }
        }
    }

    /// A refused request is answered before its body has come; the rest of the body does not keep the connection.
    @Test func theBodyOfARefusedRequestIsCutOffToo() async throws {
        try await ServerStage.run(connections: short) { stage in
            let connection = try RawConnection(port: stage.port)
            connection.send("POST /api/downloads HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000\r\n\r\nx")
            #expect(RawAnswer(try await connection.readToEnd()).status == 403)
        }
    }

    @Test func idleConnectionsAreClosed() async throws {
        try await ServerStage.run(connections: short) { stage in
            let silent = try RawConnection(port: stage.port)
            #expect(try await silent.readToEnd() == "")
            let used = try RawConnection(port: stage.port)
            used.send("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            let answer = RawAnswer(try await used.readToEnd())
            #expect(answer.status == 200 && answer.body == #"{"status":"ok"}"#)
        }
    }

    /// A client that asks for much and reads nothing.
    @Test func aReaderThatReadsNothingIsCutOff() async throws {
        try await ServerStage.run(connections: short) { stage in
            stage.origin.set("/large.ts", .init([UInt8](repeating: 7, count: 32 << 20), contentType: "video/mp2t"))
            stage.origin.set(
                "/large.m3u8",
                .text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nlarge.ts\n#EXT-X-ENDLIST\n")
            )
            for path in ["/large.ts", "/large.m3u8"] { stage.origin.behave(path, .proper) }
            let segment = try await stage.segment(of: ServerStage.publicHost + "/large.m3u8", query: "&segments=proxy")
            let connection = try RawConnection(port: stage.port, receiveBuffer: 4_096)
            connection.send("GET \(segment) HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\n\r\n")
            // The server's only connection ends while this one is never read.
            while stage.origin.requests.filter({ $0.path.hasSuffix("/large.ts") }).isEmpty { await Task.yield() }
            var count = 1
            while count > 0 {
                let metrics = try await stage.ask("/metrics").body
                count =
                    metrics.firstMatch(of: /millstream_connections ([0-9]+)/).flatMap { Int($0.1) }.map { $0 - 1 } ?? 1
            }
            #expect(count == 0)
            withExtendedLifetime(connection) {}
        }
    }

    @Test func connectionsOverTheLimitAreRefusedAndOthersGoOn() async throws {
        let limits = ConnectionLimits(maximumConnections: 2, maximumConnectionsPerClient: 9)
        try await expectLimit(limits, "the server has too many connections")
    }

    @Test func connectionsOfOneClientAreLimited() async throws {
        let limits = ConnectionLimits(maximumConnections: 9, maximumConnectionsPerClient: 2)
        try await expectLimit(limits, "this client has too many connections")
    }

    private func expectLimit(_ limits: ConnectionLimits, _ message: String) async throws {
        try await ServerStage.run(connections: limits) { stage in
            // An answer shows that the connection was admitted.
            let first = try await openEventStream(stage)
            var second: RawConnection? = try await openEventStream(stage)
            for _ in 0..<3 {
                let refused = try await stage.ask("/health")
                #expect(refused.status == 503 && refused.body.contains(message))
                #expect(refused.errorCode == "too-many-connections" && refused.field("Retry-After") != nil)
            }
            #expect(second != nil)
            second = nil
            // The place is free once the server notices.
            var status = 503
            while status == 503 { status = try await stage.ask("/health").status }
            #expect(status == 200)
            withExtendedLifetime(first) {}
        }
    }

    private func openEventStream(_ stage: ServerStage) async throws -> RawConnection {
        let connection = try RawConnection(port: stage.port)
        connection.send("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\n\r\n")
        #expect(try await connection.read(until: "event: hello").contains("200 OK"))
        return connection
    }

    /// Behind a proxy, a client is counted by the address that is forwarded for it, and cannot choose it.
    @Test func forwardedClientsAreCountedByTheirAddress() async throws {
        let proxy = try #require(TrustedProxy("127.0.0.0/8"))
        let limits = ConnectionLimits(maximumConnectionsPerClient: 1, trustedProxies: [proxy])
        try await ServerStage.run(connections: limits) { stage in
            let host = "127.0.0.1:\(stage.port)"
            let connection = try RawConnection(port: stage.port)
            connection.send("GET /api/events HTTP/1.1\r\nHost: \(host)\r\nX-Forwarded-For: 6.6.6.6, 192.0.2.1\r\n\r\n")
            #expect(try await connection.read(until: "event: hello").contains("200 OK"))
            for (field, status) in [
                ("X-Forwarded-For: 192.0.2.1", 503), ("X-Forwarded-For: 192.0.2.2, 192.0.2.1", 503),
                ("X-Forwarded-For: 192.0.2.1, 127.0.0.9", 503), ("Forwarded: for=192.0.2.1", 503),
                ("X-Forwarded-For: 192.0.2.2", 200), ("Forwarded: for=\"192.0.2.3:80\"", 200), ("X-None: 1", 200),
            ] {
                #expect(try await stage.ask("/health", fields: [field]).status == status, "\(field)")
            }
        }
        // Without a trusted proxy the field says nothing.
        try await ServerStage.run(connections: ConnectionLimits(maximumConnectionsPerClient: 1)) { stage in
            let first = try await openEventStream(stage)
            #expect(try await stage.ask("/health", fields: ["X-Forwarded-For: 192.0.2.7"]).status == 503)
            withExtendedLifetime(first) {}
        }
    }
}
