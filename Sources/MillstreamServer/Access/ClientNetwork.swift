import Hummingbird
import MediaTransport

/// The address of a client, or the network of an IPv6 client: the first 64 bits of its address, because it has all
/// addresses of the network.
struct ClientNetwork: Sendable, Hashable {
    private let octets: [UInt8]

    /// Creates the network of a client; all clients without a known address are one.
    init(_ address: HostAddress?) {
        let octets = address?.unmapped.octets ?? []
        self.octets = octets.count == 16 ? Array(octets.prefix(8)) : octets
    }
}

extension [TrustedProxy] {
    /// Returns the client of a request, which a trusted proxy names.
    func client(of request: Request, _ context: ServerRequestContext) -> HostAddress? {
        guard let peer = context.peer, contains(peer) else { return context.peer }
        return client(forwardedFor: request.headers[.forwardedFor], forwarded: request.headers[.forwarded]) ?? peer
    }
}
