import AsyncHTTPClient
import MediaTiming
import NIOEmbedded
import Testing

@testable import MediaTransport

/// Tests the clients of a transport, and the requests that wait for a connection.
@Suite(.timeLimit(.minutes(10))) struct HTTPClientPoolTests {
    private let clock = CacheClock()

    /// Returns the client of a host, which is idle then.
    private func client(_ number: Int, of pool: HTTPClientPool) throws -> HTTPClient {
        clock.advance(by: .seconds(1))
        return try pool.lease("h\(number)", at: HostAddress([192, 0, 2, 1])).client
    }

    @Test func leastRecentlyUsedIdleClientIsClosedAbove64() async throws {
        let pool = HTTPClientPool(HTTPTransport.Options(), time: clock)
        let held = try pool.lease("h0", at: HostAddress([192, 0, 2, 1]))
        var clients = [held.client]
        for number in 1..<64 { clients.append(try client(number, of: pool)) }
        for number in 0..<64 {
            let again = try client(number, of: pool)
            #expect(again === clients[number])
        }
        // Client 0 is in use, and client 1 was used before all others.
        _ = try client(64, of: pool)
        for number in [2, 0, 3] {
            let again = try client(number, of: pool)
            #expect(again === clients[number], "client \(number)")
        }
        // This closes client 4.
        let reopened = try client(1, of: pool)
        #expect(reopened !== clients[1])
        for number in 5..<64 {
            let again = try client(number, of: pool)
            #expect(again === clients[number], "client \(number)")
        }
        withExtendedLifetime(held) {}
        try await pool.shutdown()
    }

    @Test func addressesOfOneHostHaveTheirOwnClients() async throws {
        let pool = HTTPClientPool(HTTPTransport.Options(), time: clock)
        let first = try pool.lease("h", at: HostAddress([192, 0, 2, 1])).client
        let second = try pool.lease("h", at: HostAddress([192, 0, 2, 2])).client
        let withoutAddress = try pool.lease("h", at: nil).client
        #expect(first !== second && second !== withoutAddress)
        try await pool.shutdown()
    }

    @Test func poolThatWasShutDownHasNoClients() async throws {
        let pool = HTTPClientPool(HTTPTransport.Options(), time: clock)
        _ = try pool.lease("h", at: nil)
        try await pool.shutdown()
        let error = #expect(throws: TransportError.self) { try pool.lease("h", at: nil) }
        #expect(error?.code == .cannotConnect)
    }

    // MARK: Requests that wait for a connection

    @Test func waitingRequestIsTakenOnce() throws {
        let registry = ExchangeRegistry()
        let keys = (1...2).map { number in
            registry.register(Exchange(target: "/\(number)", start: .seconds(number), record: TransferRecord()))
        }
        #expect(keys[0] != keys[1])
        #expect(registry.remove(keys[1])?.target == "/2")
        #expect(registry.remove(keys[1]) == nil)
        #expect(registry.remove(keys[0])?.start == .seconds(1))
    }

    @Test func connectionIsUnusedUntilItsFirstRequestOrItsEnd() throws {
        let registry = ExchangeRegistry()
        let (used, closed, other) = (EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel())
        registry.markUnused(used)
        registry.markUnused(closed)
        #expect(registry.removeUnused(used))
        #expect(!registry.removeUnused(used))
        #expect(!registry.removeUnused(other))
        // Another connection can have the same identity later.
        _ = try closed.finish()
        #expect(!registry.removeUnused(closed))
        for channel in [used, other] { _ = try channel.finish() }
    }
}
