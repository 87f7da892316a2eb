import MediaTransport
import PresentationLoading
import ResourceAddressing

/// The two ways in which the server loads sources: with the credentials of its owner, or without.
struct SourceAccess: Sendable {
    /// The loading of sources, the policy for it, and the cache of host addresses for redirects.
    typealias Access = (loading: ResourceLoader, policy: SourcePolicy, hosts: HostCache)

    /// The access for players and pages of this server: with the owner's header fields and cookies, and with the
    /// private hosts that the owner or the catalog names.
    let trusted: Access
    /// The access for pages of other sites: without header fields and cookies, and with public addresses only.
    let foreign: Access

    /// A closure that returns the URL to which players are redirected for a segment.
    typealias Redirection = @Sendable (ResourceAddress) async throws -> ResourceAddress
    /// The redirection for clients with the trusted access; to the segment itself by default.
    var redirection: Redirection = { $0 }

    /// Creates the access.
    init(trusted: Access, foreign: Access) {
        self.trusted = trusted
        self.foreign = foreign
    }

    /// The DASH presentations that are translated for clients with the trusted access; `nil` to refuse manifests.
    var trustedPresentations: PresentationStore?
    /// The DASH presentations that are translated for pages of other sites, which must not receive what was loaded with
    /// the credentials of the owner; `nil` to refuse manifests.
    var foreignPresentations: PresentationStore?

    /// The playlists in memory for clients with the trusted access.
    var trustedMemory = ResourceMemory(ResourceMemory.Options { .now })
    /// The playlists in memory for pages of other sites, which must not receive what was loaded with the credentials of the
    /// owner.
    var foreignMemory = ResourceMemory(ResourceMemory.Options { .now })

    /// The segments that pass through the server to clients with the trusted access.
    var trustedSegments = SegmentMemory()
    /// The segments that pass through the server to pages of other sites.
    private let foreignSegments = SegmentMemory()

    /// Returns the segments that pass through the server to a kind of client.
    func segments(for initiator: RequestInitiator) -> SegmentMemory {
        initiator.isForeign ? foreignSegments : trustedSegments
    }

    /// Returns the playlists in memory for a kind of client.
    func memory(for initiator: RequestInitiator) -> ResourceMemory {
        initiator.isForeign ? foreignMemory : trustedMemory
    }

    /// Returns the access for a kind of client.
    func access(for initiator: RequestInitiator) -> Access { initiator.isForeign ? foreign : trusted }

    /// Returns the redirection for a kind of client; what the owner's tokens permit is not for pages of other sites.
    func redirection(for initiator: RequestInitiator) -> Redirection {
        guard initiator.isForeign else { return redirection }
        return { address in address }
    }

    /// Returns the DASH presentations for a kind of client; `nil` if manifests are refused.
    func presentations(for initiator: RequestInitiator) -> PresentationStore? {
        initiator.isForeign ? foreignPresentations : trustedPresentations
    }
}
