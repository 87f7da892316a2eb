import MediaTransport
import Testing

@testable import MillstreamServer

@Suite struct ConnectionRegistryTests {
    private func lease(_ admission: ConnectionRegistry.Admission) -> ConnectionRegistry.Lease? {
        guard case .admitted(let lease) = admission else { return nil }
        return lease
    }

    private func address(_ text: String) throws -> HostAddress { try #require(HostAddress(numeric: text)) }

    @Test func totalNumberOfConnectionsIsLimited() throws {
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnections: 2, maximumConnectionsPerClient: 9))
        var leases = [
            lease(registry.admitConnection(from: try address("192.0.2.1"))),
            lease(registry.admitConnection(from: try address("192.0.2.2"))),
        ]
        #expect(leases.allSatisfy { $0 != nil } && registry.connectionCount == 2)
        guard case .serverIsFull = registry.admitConnection(from: try address("192.0.2.3")) else {
            Issue.record("a third connection was admitted")
            return
        }
        leases.removeLast()
        #expect(registry.connectionCount == 1)
        #expect(lease(registry.admitConnection(from: nil)) != nil)
    }

    @Test func connectionsAreLimitedPerClientAddress() throws {
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnections: 9, maximumConnectionsPerClient: 1))
        var held = lease(registry.admitConnection(from: try address("192.0.2.1")))
        #expect(held != nil)
        // The same address, and its IPv4-mapped IPv6 form.
        for text in ["192.0.2.1", "::ffff:192.0.2.1"] {
            guard case .clientIsFull = registry.admitConnection(from: try address(text)) else {
                Issue.record("\(text) was admitted twice")
                return
            }
        }
        #expect(lease(registry.admitConnection(from: try address("192.0.2.2"))) != nil)
        held = nil
        #expect(lease(registry.admitConnection(from: try address("192.0.2.1"))) != nil)
    }

    @Test func ipv6NetworkWithA64BitPrefixIsOneClient() throws {
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnectionsPerClient: 1))
        let held = lease(registry.admitConnection(from: try address("2001:db8:0:1::1")))
        #expect(held != nil)
        #expect(lease(registry.admitConnection(from: try address("2001:db8:0:1:ffff::2"))) == nil)
        #expect(lease(registry.admitConnection(from: try address("2001:db8:0:2::1"))) != nil)
        withExtendedLifetime(held) {}
    }

    @Test func requestsOfATrustedProxyAreLimitedPerForwardedClient() throws {
        let proxy = try #require(TrustedProxy("10.0.0.0/8"))
        let registry = ConnectionRegistry(
            ConnectionLimits(maximumConnections: 3, maximumConnectionsPerClient: 1, trustedProxies: [proxy])
        )
        let connections = try (1...3).map { lease(registry.admitConnection(from: try address("10.0.0.\($0)"))) }
        #expect(connections.allSatisfy { $0 != nil })
        guard case .serverIsFull = registry.admitConnection(from: try address("10.0.0.4")) else {
            Issue.record("the limit in all is for proxies too")
            return
        }
        let request = lease(registry.admitForwardedRequest(of: try address("192.0.2.1")))
        #expect(request != nil)
        #expect(try lease(registry.admitForwardedRequest(of: address("192.0.2.1"))) == nil)
        #expect(lease(registry.admitForwardedRequest(of: try address("192.0.2.2"))) != nil)
        withExtendedLifetime((connections, request)) {}
    }

    @Test func numberOfPendingRefusalsIsLimited() {
        let registry = ConnectionRegistry(ConnectionLimits())
        var refusals = (0..<64).map { _ in registry.admitRefusal() }
        #expect(refusals.allSatisfy { $0 != nil } && registry.admitRefusal() == nil)
        refusals.removeAll()
        #expect(registry.admitRefusal() != nil)
    }
}

@Suite struct ConnectionDeadlinesTests {
    private let limits = ConnectionLimits(
        headTimeout: .seconds(15),
        bodyTimeout: .seconds(30),
        keepAliveTimeout: .seconds(75),
        writeTimeout: .seconds(60)
    )

    @Test func eachPhaseOfARequestHasADeadline() {
        var state = ConnectionDeadlines(limits, at: .zero)
        #expect(state.deadline == .seconds(75))
        state.receiveBytes(at: .seconds(10))
        #expect(state.deadline == .seconds(25))
        // More bytes of the same request head do not extend the deadline.
        state.receiveBytes(at: .seconds(20))
        #expect(state.deadline == .seconds(25))
        state.receiveHead(at: .seconds(21))
        #expect(state.deadline == .seconds(51))
        state.receiveBytes(at: .seconds(40))
        #expect(state.deadline == .seconds(51))
        state.receiveEnd(at: .seconds(41))
        #expect(state.deadline == nil && state.pendingResponseCount == 1)
        state.finishResponse(at: .seconds(100))
        #expect(state.deadline == .seconds(175) && state.phase == .idle)
    }

    @Test func earlyResponseDoesNotEndTheDeadlineOfTheRequestBody() {
        var state = ConnectionDeadlines(limits, at: .zero)
        state.receiveBytes(at: .zero)
        state.receiveHead(at: .zero)
        state.finishResponse(at: .seconds(1))
        #expect(state.phase == .body && state.deadline == .seconds(30))
        state.receiveEnd(at: .seconds(2))
        #expect(state.phase == .idle && state.deadline == .seconds(77))
    }

    @Test func pipelinedRequestHasADeadline() {
        var state = ConnectionDeadlines(limits, at: .zero)
        state.receiveBytes(at: .zero)
        state.receiveHead(at: .zero)
        state.receiveEnd(at: .zero)
        state.receiveBytes(at: .seconds(5))
        #expect(state.phase == .head && state.deadline == .seconds(20))
        state.finishResponse(at: .seconds(6))
        #expect(state.phase == .head && state.deadline == .seconds(20))
    }

    @Test func slowReaderIsDetected() {
        var state = ConnectionDeadlines(limits, at: .zero)
        let enough = 512 * 60
        for (sent, buffered, seconds, expected) in [
            (0, 1_000_000, 0, false), (100, 1_000_000, 59, false), (enough - 1, 1_000_000, 60, true),
            (enough, 1_000_000, 60, false),
            // The time limit restarts here.
            (enough, 1_000_000, 119, false), (enough, 1_000_000, 120, true), (enough, 0, 121, false),
            (enough, 1, 200, false),
        ] {
            let isTooSlow = state.isReaderTooSlow(sent: sent, buffered: buffered, at: .seconds(seconds))
            #expect(isTooSlow == expected, "\(sent) \(buffered) \(seconds)")
        }
    }
}
