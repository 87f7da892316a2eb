import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests the wait for one of the limited number of connections to a server.
@Suite(.timeLimit(.minutes(10))) struct ConnectionWaitTests {
    /// The server accepts all connections, and answers none of the requests on them.
    @Test func waitForAConnectionIsLimited() async throws {
        try await MisbehavingServer.withServer { server in
            server.behave("*", .stallBeforeHead)
            let transport = HTTPTransport(
                HTTPTransport.Options(connectTimeout: .seconds(2), idleTimeout: .seconds(3_600))
            )
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            let error: (any Error)? = await withTaskGroup(of: (any Error)?.self) { group in
                for _ in 0..<17 {
                    group.addTask {
                        do {
                            _ = try await transport.send(request)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                let first = await group.next() ?? nil
                group.cancelAll()
                return first
            }
            try await transport.shutdown()
            #expect((error as? TransportError)?.code == .cannotConnect)
            #expect(server.requests.count <= 16)
        }
    }

    /// The retries of the policy decide whether a refused connection is tried again.
    @Test func refusedConnectionFailsAtOnce() async throws {
        let port = try await MisbehavingServer.withServer([:]) { $0.port }
        let transport = HTTPTransport(HTTPTransport.Options(connectTimeout: .seconds(3_600)))
        let request = TransportRequest(ResourceAddress("http://127.0.0.1:\(port)/"), kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        try await transport.shutdown()
        #expect(error?.code == .cannotConnect)
    }

    /// Each request needs a connection of its own, because none of them is answered.
    @Test func sixteenConnectionsToAServerAreUsedAtOnce() async throws {
        try await MisbehavingServer.withServer { server in
            server.behave("*", .stallBeforeHead)
            let transport = HTTPTransport(
                HTTPTransport.Options(connectTimeout: .seconds(3_600), idleTimeout: .seconds(3_600))
            )
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 { group.addTask { _ = try? await transport.send(request) } }
                while server.requests.count < 16 { await Task.yield() }
                group.cancelAll()
            }
            try await transport.shutdown()
            #expect(server.connectionCount == 16)
        }
    }
}
