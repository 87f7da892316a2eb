import Foundation
import Hummingbird
import MediaTransport
import NIOCore

/// The context of a request to one of our servers.
struct ServerRequestContext: RequestContext {
    /// The storage of Hummingbird.
    var coreContext: CoreRequestContextStorage
    /// The address of the other end of the connection; `nil` for a connection without one.
    let peer: HostAddress?
    /// The kind of client; a request that was not classified is treated as one of another site.
    var initiator = RequestInitiator.foreignPage

    /// Creates the context of a connection's request.
    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.hostAddress
    }
}

extension SocketAddress {
    /// The numeric address, an IPv4 address that is mapped into IPv6 as itself; `nil` for a socket of Unix.
    var hostAddress: HostAddress? {
        switch self {
        case .v4(let address): HostAddress(withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address): HostAddress(withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })?.unmapped
        case .unixDomainSocket: nil
        }
    }
}
