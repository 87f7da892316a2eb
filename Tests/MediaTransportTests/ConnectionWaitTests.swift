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
}
