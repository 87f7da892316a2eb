import Hummingbird
import Synchronization

/// The edited playlist that a route has sent, which the ``ResponseRecording`` of the request stores with the final response.
final class ResponseOffer: Sendable {
    /// A playlist, and the properties of the request for it.
    struct Value: Sendable {
        let playlist: EditedPlaylistCache.Entry
        let key: EditedPlaylistCache.Key
        let expiry: AddressExpiry?
        let initiator: RequestInitiator

        /// Returns a Boolean value that indicates whether a response has the playlist, or says that the client has it.
        func isSent(as response: Response) -> Bool {
            guard response.headers[.eTag]?.hasPrefix(playlist.tag.dropLast()) == true else { return false }
            guard response.status == .ok else { return response.status == .notModified }
            return response.body.contentLength == playlist.body(for: response.head)?.readableBytes
        }
    }

    private let stored = Mutex<Value?>(nil)

    /// The playlist; `nil` if the response cannot be sent again.
    var value: Value? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

/// The outermost middleware, which stores the responses that can be sent again.
struct ResponseRecording: RouterMiddleware {
    let responses: RepeatedResponses
    let trustedProxies: [TrustedProxy]

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let isForwarded = context.peer.map { trustedProxies.contains($0) } ?? false
        let revision = responses.undisturbedRevision
        guard let revision, let key = RepeatedRequest(request.head, isForwarded: isForwarded) else {
            return try await next(request, context)
        }
        var context = context
        let offer = ResponseOffer()
        context.responseOffer = offer
        let response = try await next(request, context)
        // A fault could have changed the response.
        if let value = offer.value, responses.undisturbedRevision == revision, value.isSent(as: response) {
            var head = response.head
            head.headerFields[.server] = LocalOrigin.serverName
            responses.store(value, head: head, for: key)
        }
        return response
    }
}
