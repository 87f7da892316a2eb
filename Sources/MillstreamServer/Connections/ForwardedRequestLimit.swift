import HTTPTypes
import Hummingbird

/// A middleware that counts the requests of trusted proxies by the client that they forward, and refuses those over the
/// limit.
struct ForwardedRequestLimit: RouterMiddleware {
    let registry: ConnectionRegistry

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let proxies = registry.limits.trustedProxies
        guard let peer = context.peer, proxies.contains(peer) else { return try await next(request, context) }
        let client = proxies.client(
            forwardedFor: request.headers[.forwardedFor],
            forwarded: request.headers[.forwarded]
        )
        // Requests whose client is unknown share the count of the proxy.
        guard case .admitted(let lease) = registry.admitForwardedRequest(of: client ?? peer) else {
            throw ServerError(
                .serviceUnavailable,
                "too-many-connections",
                "this client has too many requests at the same time",
                hint: "wait for some and try again"
            )
        }
        var response = try await next(request, context)
        let body = response.body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            withExtendedLifetime(lease) {}
        }
        return response
    }
}
