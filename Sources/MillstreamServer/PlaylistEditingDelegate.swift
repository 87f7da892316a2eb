import HLSPlaylist
public import MediaTiming
public import MediaTransport
public import PlaylistEditing
import ResourceAddressing

/// A delegate of a resource loader that edits the playlists of an asset as a ``LocalOrigin`` does, without a server.
///
/// The URL of the asset has a custom scheme that names an original scheme. Its playlist is loaded with the original
/// scheme and edited, and its child playlists are edited too. Segments and keys are loaded from their origin. If an
/// edit divided a WebVTT file into parts, the delegate delivers each part with its own cues. A resource is recognized
/// as a playlist by its content, and a DASH presentation is translated; any other resource is redirected. The resource
/// loader does not retain the delegate. Without edits, every resource is loaded from its original address, byte for
/// byte.
public final class PlaylistEditingDelegate: AssetResourceLoaderDelegate {
    /// The edits.
    public let plan: EditPlan
    private let transport: EditedTransport
    private let base: any Transport

    /// The origin of the addresses of child playlists, with a scheme that reaches the delegate.
    private static let origin = "millstream-edit://edited.invalid"

    /// Creates a delegate.
    ///
    /// - Parameters:
    ///   - plan: The edits.
    ///   - transport: The transport with which playlists are loaded from their original addresses.
    ///   - policy: The policy for retrying failed loads of playlists.
    ///   - time: The clock.
    public init(
        _ plan: EditPlan,
        loadingFrom transport: any Transport,
        policy: RecoveryPolicy = RecoveryPolicy(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.plan = plan
        base = transport
        self.transport = EditedTransport(
            transport,
            policy: policy,
            time: time,
            translatesDASH: true,
            origin: Self.origin
        )
    }

    /// Answers requests for playlists with edited playlists, and redirects all others.
    public func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool {
        let address = loadingRequest.request.address
        if address.text.hasPrefix(Self.origin + "/") {
            loadingRequest.finishLoading(from: transport, at: address)
            return true
        }
        let original = loadingRequest.originalAddress
        guard original != address, !plan.edits.isEmpty else { return false }
        guard loadingRequest.request.kind == .playlist else {
            loadingRequest.redirect(to: original)
            return true
        }
        let playlist = EditedTransport.address(of: original, plan, origin: Self.origin)
        loadingRequest.finishLoading(
            from: PlaylistOrOriginalTransport(edited: transport, original: original, base: base),
            at: playlist
        )
        return true
    }
}

/// A transport that returns the edited playlist, or the original resource if it is not a playlist.
private struct PlaylistOrOriginalTransport: Transport {
    let edited: EditedTransport
    let original: ResourceAddress
    let base: any Transport

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            return try await edited.send(request)
        } catch let error as TransportError {
            let code = PlaylistParsingError.notAPlaylist(content: nil).code.rawValue
            guard (error.cause as? ServerError)?.code == code else { throw error }
            var request = request
            request.address = original
            return try await base.send(request)
        }
    }
}
