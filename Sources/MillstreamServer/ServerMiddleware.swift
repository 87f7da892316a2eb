import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ResourceAddressing

/// Turns every error into an answer that says what went wrong, and logs what the server itself did wrong.
struct ErrorAnswers<Context: RequestContext>: RouterMiddleware {
    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let answer = ServerError(error)
            if answer.status == .internalServerError {
                context.logger.error(
                    "request failed",
                    metadata: ["path": "\(ResourceAddress(request.uri.path))", "error": "\(error)"]
                )
            }
            return answer.response
        }
    }
}

/// Lets pages of every site read media, and none change anything.
///
/// Players in a page need CORS on playlists and segments. Requests that change something are taken from our own page only,
/// and only where it was reached under a name that is ours: a foreign name that leads to this machine is an attack (DNS
/// rebinding).
struct SiteGuard<Context: RequestContext>: RouterMiddleware {
    /// The names under which the server may be reached, besides numeric addresses and `localhost`.
    let names: Set<String>

    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let isSafe = [.get, .head, .options].contains(request.method)
        // What is kept is nobody else's business, so reading it needs a name of ours too.
        let isPrivate = request.uri.path.hasPrefix("/api/") || request.uri.path.hasPrefix("/offline/")
        if !isSafe || isPrivate, let refusal = foreignName(of: request) { return refusal.response }
        if !isSafe, let refusal = refusal(of: request) { return refusal.response }
        if request.method == .options {
            var response = Response(status: .noContent)
            addMediaHeaders(&response, path: request.uri.path)
            response.headers[.accessControlAllowMethods] = "GET, HEAD"
            response.headers[.accessControlAllowHeaders] = "Range"
            return response
        }
        var response = try await next(request, context)
        addMediaHeaders(&response, path: request.uri.path)
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    private func addMediaHeaders(_ response: inout Response, path: String) {
        guard !path.hasPrefix("/api/") else { return }
        // Media that calls itself a page must not run as one of ours.
        let isPage = path == "/" || path.hasPrefix("/console/")
        if !isPage { response.headers[.contentSecurityPolicy] = "sandbox; default-src 'none'" }
        response.headers[.accessControlAllowOrigin] = "*"
        response.headers[.accessControlExposeHeaders] = "Content-Length, Content-Range"
    }

    /// Why a request is not taken that came under a name which is not ours.
    private func foreignName(of request: Request) -> ServerError? {
        let host = request.head.authority ?? ""
        let name = ResourceAddress("http://\(host)/").host ?? ""
        let isNumeric =
            name.contains(":") || name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard !name.isEmpty, isNumeric || name == "localhost" || names.contains(name) else {
            return ServerError(
                .forbidden,
                "foreign-host",
                "the server was not reached under a name of its own",
                hint: "use its numeric address, or start it with --host NAME"
            )
        }
        return nil
    }

    /// Why a request that changes something is not taken.
    private func refusal(of request: Request) -> ServerError? {
        let host = request.head.authority ?? ""
        if let origin = request.headers[.origin], ResourceAddress(origin).authority?.lowercased() != host.lowercased() {
            return ServerError(.forbidden, "foreign-origin", "another site may not change anything here")
        }
        let hasBody = (request.headers[.contentLength] ?? "0") != "0" || request.headers[.transferEncoding] != nil
        if hasBody, request.headers[.contentType]?.lowercased().hasPrefix("application/json") != true {
            return ServerError(.unsupportedMediaType, "not-json", "the body has to be application/json")
        }
        return nil
    }
}

/// Counts requests for `/metrics`.
struct RequestCounting<Context: RequestContext>: RouterMiddleware {
    let metrics: ServerMetrics

    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        metrics.count(path: request.uri.path, status: Int(response.status.code))
        return response
    }
}
