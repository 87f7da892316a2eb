import MediaTransport

/// The ways in which the server loads sources: with all that its owner gave it, or with nothing of that.
struct SourceAccess: Sendable {
    /// A way to load sources, the rules for it, and the addresses of hosts for redirects.
    typealias Access = (loading: ResourceLoading, policy: SourcePolicy, hosts: HostCache)

    /// For players and pages of this server: with the owner's header fields and cookies, and private hosts that the owner or the
    /// catalog names.
    let own: Access
    /// For pages of other sites: without header fields and cookies, and from public addresses only.
    let foreign: Access

    /// Returns the way to load sources for a client.
    func access(for initiator: RequestInitiator) -> Access { initiator.isForeign ? foreign : own }
}
