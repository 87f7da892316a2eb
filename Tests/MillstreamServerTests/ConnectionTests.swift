import Foundation
import MediaTransport
import MillstreamTesting
import Testing

@testable import MillstreamServer

/// Tests the connection limits on real sockets, with short time limits.
///
/// If the server did not apply a limit, the connection would remain open until the 30-second limit of the client fails
/// the test.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ConnectionTests {
    private let short = ConnectionLimits(
        headTimeout: .seconds(1),
        bodyTimeout: .seconds(1),
        keepAliveTimeout: .seconds(1),
        writeTimeout: .seconds(1)
    )

    @Test func incompleteHeadTimesOut() async throws {
        try await ServerStage.run(connections: short) { stage in
            let connection = try RawConnection(port: stage.port)
            connection.send("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            let response = RawResponse(try await connection.readToEnd())
            #expect(response.status == 408 && response.errorCode == "request-timeout")
        }
    }

    @Test func incompleteBodyTimesOut() async throws {
        try await ServerStage.run(connections: short) { stage in
            for field in ["Content-Length: 1000", "Transfer-Encoding: chunked"] {
                let connection = try RawConnection(port: stage.port)
                connection.send(
                    "PUT /api/conditions HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\nContent-Type: application/json\r\n\(field)\r\n\r\n"
                )
                let response = RawResponse(try await connection.readToEnd())
                #expect(response.status == 408, "\(field): \(response.head)")
            }
        }
    }

    /// A rejected request is answered before its body is complete; the remaining body does not keep the connection
    /// open.
    @Test func incompleteBodyOfARejectedRequestIsCutOff() async throws {
        try await ServerStage.run(connections: short) { stage in
            let connection = try RawConnection(port: stage.port)
            connection.send("POST /api/downloads HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000\r\n\r\nx")
            #expect(RawResponse(try await connection.readToEnd()).status == 403)
        }
    }

    /// Bytes after a head whose body has no certain end are never taken for another request (RFC 9112 §6.3).
    @Test(arguments: [
        ["Transfer-Encoding: xchunked"], ["Transfer-Encoding: identity"], ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: chunked, identity"], ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunkedx"], ["Transfer-Encoding: chunked;a=b"], ["Transfer-Encoding:"],
        ["Transfer-Encoding: xchunked", "Content-Length: 5"],
    ])
    func requestWithAnotherTransferCodingIsRefused(fields: [String]) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let host = "Host: 127.0.0.1:\(stage.port)"
            let connection = try RawConnection(port: stage.port)
            let head = (["POST /health HTTP/1.1", host] + fields).joined(separator: "\r\n")
            connection.send(head + "\r\n\r\nGET /health HTTP/1.1\r\n\(host)\r\n\r\n")
            let text = try await connection.readToEnd()
            let response = RawResponse(text)
            #expect(response.status == 400, "\(fields): \(text)")
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2, "\(fields): \(text)")
        }
    }

    @Test func requestsBeforeAnUnknownTransferCodingAreAnswered() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let host = "Host: 127.0.0.1:\(stage.port)"
            let connection = try RawConnection(port: stage.port)
            let plain = "GET /health HTTP/1.1\r\n\(host)\r\n\r\n"
            connection.send(
                plain + "POST /health HTTP/1.1\r\n\(host)\r\nTransfer-Encoding: xchunked\r\n\r\n" + plain + plain
            )
            let text = try await connection.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("HTTP/1.1 400 "))
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 3, "\(text)")
            #expect(text.contains("chunked as its only transfer coding"))
        }
    }

    @Test func idleConnectionsAreClosed() async throws {
        try await ServerStage.run(connections: short) { stage in
            let silent = try RawConnection(port: stage.port)
            #expect(try await silent.readToEnd() == "")
            let used = try RawConnection(port: stage.port)
            used.send("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            let response = RawResponse(try await used.readToEnd())
            #expect(response.status == 200 && response.body == #"{"status":"ok"}"#)
        }
    }

    /// The client requests a large resource and reads nothing.
    @Test func clientThatReadsNothingIsDisconnected() async throws {
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
            // Wait until the server closes the connection, which is never read.
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

    @Test func totalNumberOfConnectionsIsLimited() async throws {
        let limits = ConnectionLimits(maximumConnections: 2, maximumConnectionsPerClient: 9)
        try await expectLimit(limits, "the server has too many connections")
    }

    @Test func numberOfConnectionsPerClientIsLimited() async throws {
        let limits = ConnectionLimits(maximumConnections: 9, maximumConnectionsPerClient: 2)
        try await expectLimit(limits, "this client has too many connections")
    }

    private func expectLimit(_ limits: ConnectionLimits, _ message: String) async throws {
        try await ServerStage.run(connections: limits) { stage in
            // A response proves that the connection was admitted.
            let first = try await openEventStream(stage)
            var second: RawConnection? = try await openEventStream(stage)
            for _ in 0..<3 {
                let refused = try await stage.ask("/health")
                #expect(refused.status == 503 && refused.body.contains(message))
                #expect(refused.errorCode == "too-many-connections" && refused.field("Retry-After") != nil)
            }
            #expect(second != nil)
            second = nil
            // The slot is released when the server detects that the connection was closed.
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

    /// Behind a trusted proxy, a client is counted by its forwarded address, which it cannot choose.
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
        // Without a trusted proxy, the field is ignored.
        try await ServerStage.run(connections: ConnectionLimits(maximumConnectionsPerClient: 1)) { stage in
            let first = try await openEventStream(stage)
            #expect(try await stage.ask("/health", fields: ["X-Forwarded-For: 192.0.2.7"]).status == 503)
            withExtendedLifetime(first) {}
        }
    }
}
