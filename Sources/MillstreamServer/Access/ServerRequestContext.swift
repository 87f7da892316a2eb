import Hummingbird
import MediaTransport
import NIOCore

/// The context of a request to a server of this module.
struct ServerRequestContext: RequestContext {
    /// The storage that Hummingbird requires.
    var coreContext: CoreRequestContextStorage
    /// The address of the peer; `nil` for a connection without one, such as a Unix domain socket.
    let peer: HostAddress?
    /// The connection of the request.
    let channel: any Channel
    /// The kind of client; a request that has not been classified is treated as one from a page of another site.
    var initiator = RequestInitiator.foreignPage
    /// The playlist that the route sends, if the response can be sent again; `nil` if no responses are stored.
    var responseOffer: ResponseOffer?

    /// Creates the context of a request.
    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress?.hostAddress
    }
}

extension SocketAddress {
    /// The numeric address, with an IPv4-mapped IPv6 address converted to IPv4; `nil` for a Unix domain socket.
    var hostAddress: HostAddress? { ipAddress.flatMap { HostAddress(numeric: $0) }?.unmapped }
}
