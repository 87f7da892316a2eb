import MediaTransport
import Synchronization

/// The connections and forwarded requests that a server processes, counted in total and for each client.
final class ConnectionRegistry: Sendable {
    /// A counted connection or request, which is released with the last reference to it.
    final class Lease: Sendable {
        private let release: @Sendable () -> Void

        fileprivate init(release: @escaping @Sendable () -> Void) { self.release = release }

        deinit { release() }
    }

    /// The result of a request for admission.
    enum Admission {
        case admitted(Lease)
        /// The server has reached the maximum number of connections.
        case serverIsFull
        /// The client has reached its maximum number of connections.
        case clientIsFull
    }

    private struct State {
        var connectionCount = 0
        var refusalCount = 0
        var clientCounts: [[UInt8]: Int] = [:]
    }

    /// The maximum number of refused connections that stay open so that their clients can read the reason.
    private static let maximumRefusals = 64

    let limits: ConnectionLimits
    private let state = Mutex(State())

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// The number of connections, excluding those that were refused.
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Counts a connection.
    ///
    /// - Parameter peer: The peer; a trusted proxy is not counted as a client, because the requests that it forwards
    ///   are counted instead.
    /// - Returns: A lease, or the limit that was reached.
    func admitConnection(from peer: HostAddress?) -> Admission {
        let client = peer.flatMap { limits.trustedProxies.contains($0) ? nil : Self.client($0) }
        return state.withLock { state in
            guard state.connectionCount < limits.maximumConnections else { return .serverIsFull }
            guard count(client, in: &state) else { return .clientIsFull }
            state.connectionCount += 1
            return .admitted(
                Lease { [self] in
                    self.state.withLock { state in
                        state.connectionCount -= 1
                        uncount(client, in: &state)
                    }
                }
            )
        }
    }

    /// Counts a refused connection that stays open briefly; `nil` if the connection must be closed at once.
    func admitRefusal() -> Lease? {
        state.withLock { state in
            guard state.refusalCount < Self.maximumRefusals else { return nil }
            state.refusalCount += 1
            return Lease { [self] in self.state.withLock { $0.refusalCount -= 1 } }
        }
    }

    /// Counts a request that a trusted proxy forwarded.
    func admitForwardedRequest(of address: HostAddress) -> Admission {
        let client = Self.client(address)
        return state.withLock { state in
            guard count(client, in: &state) else { return .clientIsFull }
            return .admitted(Lease { [self] in self.state.withLock { uncount(client, in: &$0) } })
        }
    }

    private func count(_ client: [UInt8]?, in state: inout State) -> Bool {
        guard let client else { return true }
        let count = state.clientCounts[client, default: 0]
        guard count < limits.maximumConnectionsPerClient else { return false }
        state.clientCounts[client] = count + 1
        return true
    }

    private func uncount(_ client: [UInt8]?, in state: inout State) {
        guard let client, let count = state.clientCounts[client] else { return }
        state.clientCounts[client] = count > 1 ? count - 1 : nil
    }

    /// Returns the part of an address that identifies a client: an IPv4 address or a 64-bit IPv6 prefix.
    private static func client(_ address: HostAddress) -> [UInt8] {
        let octets = address.unmapped.octets
        return octets.count == 16 ? Array(octets[..<8]) : octets
    }
}
