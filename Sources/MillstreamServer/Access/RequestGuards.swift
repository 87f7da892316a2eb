import HTTPTypes
import Hummingbird

/// A middleware that refuses request targets that can be interpreted in more than one way, before other code uses them.
///
/// The router ignores empty path components and does not decode; file systems and other servers do. A target that
/// passes has only one interpretation, the same for guards, routes and files.
struct TargetGuard<Context: RequestContext>: RouterMiddleware {
    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.host] == nil else {
            throw ServerError(.badRequest, "malformed-request", "the request has more than one Host field")
        }
        guard let target = request.head.path, target.utf8.first == UInt8(ascii: "/"), !target.contains("#") else {
            // ``RequestHeadGuard`` has replaced the target.
            guard request.head.authority != nil else {
                throw ServerError(.badRequest, "malformed-request", "the request has no Host field")
            }
            guard request.headers[.transferEncoding] == nil else {
                throw ServerError(
                    .badRequest,
                    "malformed-request",
                    "the body of a request must have a Content-Length, or chunked as its only transfer coding"
                )
            }
            throw ServerError(.badRequest, "malformed-target", "the target of a request must be a path")
        }
        guard RequestParsing.isUnambiguous(path: request.uri.path) else {
            throw ServerError(.notFound, "not-found", "there is nothing at this address")
        }
        return try await next(request, context)
    }
}

/// A middleware that classifies the client of each request and stores the result in the request context.
struct InitiatorClassification: RouterMiddleware {
    let names: ServerNames
    /// The scheme with which the server is reached.
    var scheme = "http"
    let trustedProxies: [TrustedProxy]

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let isForwarded = context.peer.map { trustedProxies.contains($0) } ?? false
        context.initiator = RequestInitiator(request.head, names: names, scheme: scheme, isForwarded: isForwarded)
        return try await next(request, context)
    }
}

/// A middleware that adds header fields which prevent responses from being interpreted as pages, scripts or other
/// content.
struct ProtectiveHeaders<Context: RequestContext>: RouterMiddleware {
    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.xContentTypeOptions] = "nosniff"
        // Media that claims to be an HTML page must not run with the privileges of this server's pages.
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = "sandbox; default-src 'none'"
        }
        if response.headers[.crossOriginResourcePolicy] == nil {
            response.headers[.crossOriginResourcePolicy] = "same-origin"
        }
        return response
    }
}

/// The middleware of the media routes, which allows pages of all sites to read them.
///
/// Players in web pages need CORS for playlists and segments. A response can depend on the client, so caches must not
/// share it.
struct MediaAccess<Context: RequestContext>: RouterMiddleware {
    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        if request.method == .options {
            response = Response(status: .noContent)
            response.headers[.accessControlAllowMethods] = "GET, HEAD"
            response.headers[.accessControlAllowHeaders] = "Range"
        } else {
            response = try await next(request, context)
        }
        response.headers[.accessControlAllowOrigin] = "*"
        response.headers[.accessControlExposeHeaders] = "Content-Length, Content-Range"
        response.headers[.crossOriginResourcePolicy] = "cross-origin"
        response.headers[values: .vary].append("Origin, Sec-Fetch-Site, Referer, User-Agent")
        return response
    }
}

/// The middleware of the private routes and of the console: only clients that use a name of this server are accepted,
/// and no pages of other sites.
struct PrivateAccess: RouterMiddleware {
    /// A Boolean value that indicates whether pages of other sites may link to the routes; they cannot read the
    /// responses.
    var allowsLinks = false

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        guard context.initiator != .foreignHost, request.head.authority?.isEmpty == false else {
            throw ServerError(
                .forbidden,
                "foreign-host",
                "the Host of the request is not a name of this server",
                hint: "use its numeric address, or start it with --server-name NAME"
            )
        }
        let isSafe = request.method == .get || request.method == .head
        guard context.initiator != .foreignPage || allowsLinks && isSafe else {
            throw ServerError(.forbidden, "foreign-origin", "pages of other sites have no access to this address")
        }
        if !isSafe { try Self.checkBody(of: request) }
        var response = try await next(request, context)
        response.headers[values: .vary].append("Origin, Sec-Fetch-Site, Referer, User-Agent")
        return response
    }

    /// Checks that a request body is JSON: forms of any site can send plain text, but only scripts with permission can
    /// send JSON.
    private static func checkBody(of request: Request) throws {
        // A body with chunked transfer coding has no `Content-Length`.
        let length = request.headers[.contentLength] ?? "0"
        guard length != "0" || request.headers[.transferEncoding] != nil else { return }
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
        guard type?.filter({ $0 != " " }) == "application/json" else {
            throw ServerError(.unsupportedMediaType, "not-json", "the body must be application/json")
        }
    }
}
