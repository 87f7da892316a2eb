import Foundation
import Hummingbird
import MediaTransport
import NIOCore

/// The context of a request to a server of this module.
struct ServerRequestContext: RequestContext {
    /// The storage that Hummingbird requires.
    var coreContext: CoreRequestContextStorage
    /// The address of the peer; `nil` for a connection without one, such as a Unix domain socket.
    let peer: HostAddress?
    /// The kind of client; a request that has not been classified is treated as one from a page of another site.
    var initiator = RequestInitiator.foreignPage

    /// Creates the context of a request.
    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.hostAddress
    }
}

extension SocketAddress {
    /// The numeric address, with an IPv4-mapped IPv6 address converted to IPv4; `nil` for a Unix domain socket.
    var hostAddress: HostAddress? {
        switch self {
        case .v4(let address): HostAddress(withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address): HostAddress(withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })?.unmapped
        case .unixDomainSocket: nil
        }
    }
}
