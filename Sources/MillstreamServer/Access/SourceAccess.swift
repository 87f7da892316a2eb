import MediaTransport

/// The two ways in which the server loads sources: with the credentials of its owner, or without.
struct SourceAccess: Sendable {
    /// The loading of sources, the policy for it, and the cache of host addresses for redirects.
    typealias Access = (loading: ResourceLoader, policy: SourcePolicy, hosts: HostCache)

    /// The access for players and pages of this server: with the owner's header fields and cookies, and with the
    /// private hosts that the owner or the catalog names.
    let trusted: Access
    /// The access for pages of other sites: without header fields and cookies, and with public addresses only.
    let foreign: Access

    /// Returns the access for a kind of client.
    func access(for initiator: RequestInitiator) -> Access { initiator.isForeign ? foreign : trusted }
}
