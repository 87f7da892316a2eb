import HTTPTypes
import Hummingbird
import ResourceAddressing

/// Refuses request targets that can be read in more than one way, before anything is decided by them.
///
/// The router ignores empty components and does not decode; files and other servers do. A target that passes has one reading:
/// guards, routes and files agree on it.
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
            throw ServerError(.badRequest, "malformed-target", "the target of a request must be a path")
        }
        guard Self.isUnambiguous(path: request.uri.path) else {
            throw ServerError(.notFound, "not-found", "there is nothing at this address")
        }
        return try await next(request, context)
    }

    /// Returns whether a path has only plain components: none is empty, `.` or `..`, and none holds a slash, a backslash or a
    /// control character, percent-encoded or not.
    static func isUnambiguous(path: String) -> Bool {
        if path == "/" { return true }
        return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            guard let name = PercentEncoding.decode(String(Substring($0))), !["", ".", ".."].contains(name) else {
                return false
            }
            return name.utf8.allSatisfy {
                $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
            }
        }
    }
}

/// Tells every request's context what kind of client sent it.
struct InitiatorClassification: RouterMiddleware {
    let names: ServerNames
    let trustedProxies: [TrustedProxy]

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let isForwarded = context.peer.map { trustedProxies.contains($0) } ?? false
        context.initiator = RequestInitiator(request.head, names: names, isForwarded: isForwarded)
        return try await next(request, context)
    }
}

/// Adds the header fields that keep an answer from being used as something else.
struct ProtectiveHeaders<Context: RequestContext>: RouterMiddleware {
    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.xContentTypeOptions] = "nosniff"
        // Media that calls itself a page must not run as one of ours.
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = "sandbox; default-src 'none'"
        }
        if response.headers[.crossOriginResourcePolicy] == nil {
            response.headers[.crossOriginResourcePolicy] = "same-origin"
        }
        return response
    }
}

/// The guard of the group of media routes: pages of every site may read them.
///
/// Players in a page need CORS on playlists and segments. An answer may differ with the client, so caches must not share it.
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
        response.headers[.vary] = "Origin, Sec-Fetch-Site, Referer, User-Agent"
        return response
    }
}

/// The guard of the groups of private routes and of the console: only clients that reached the server under its own name, and no
/// pages of other sites.
struct PrivateAccess: RouterMiddleware {
    /// A Boolean value that indicates whether pages of other sites may link to the routes; they cannot read the answers.
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
                "the server was not reached under a name of its own",
                hint: "use its numeric address, or start it with --server-name NAME"
            )
        }
        let isSafe = request.method == .get || request.method == .head
        guard context.initiator != .foreignPage || allowsLinks && isSafe else {
            throw ServerError(.forbidden, "foreign-origin", "pages of other sites have no access to this address")
        }
        if !isSafe { try Self.checkBody(of: request) }
        var response = try await next(request, context)
        response.headers[.vary] = "Origin, Sec-Fetch-Site, Referer, User-Agent"
        return response
    }

    /// Checks that a body is JSON: a form of any site can send plain text, and only scripts with permission send JSON.
    private static func checkBody(of request: Request) throws {
        // A chunked body has no length.
        let length = request.headers[.contentLength] ?? "0"
        guard length != "0" || request.headers[.transferEncoding] != nil else { return }
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
        guard type?.filter({ $0 != " " }) == "application/json" else {
            throw ServerError(.unsupportedMediaType, "not-json", "the body has to be application/json")
        }
    }
}
