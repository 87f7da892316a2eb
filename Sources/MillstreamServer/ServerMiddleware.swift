import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import ResourceAddressing
import ServiceLifecycle

/// A middleware that converts errors into error responses, and logs internal errors of the server.
struct ErrorResponses<Context: RequestContext>: RouterMiddleware {
    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch is CancellationError {
            guard Task.isShuttingDownGracefully else { throw CancellationError() }
            return ServerError.stopping.response
        } catch {
            let initiator = (context as? ServerRequestContext)?.initiator ?? .player
            let failure = ServerError(error).advising(initiator)
            if failure.status == .internalServerError {
                context.logger.error(
                    "request failed",
                    metadata: ["path": "\(ResourceAddress(request.uri.path))", "error": "\(error)"]
                )
            }
            return failure.response
        }
    }
}

/// A middleware that counts requests and measures their duration for `/metrics`.
struct RequestCounting<Context: RequestContext>: RouterMiddleware {
    let metrics: ServerMetrics
    var time: any TimeSource = SystemTimeSource()

    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = time.now
        let response = try await next(request, context)
        metrics.count(path: request.uri.path, status: Int(response.status.code), duration: time.now - start)
        return response
    }
}
