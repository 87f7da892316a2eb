import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import NetworkConditioning
import ServiceLifecycle

/// Sends answers over a link under conditions, so that any player can be tested behind it.
///
/// The latency of both ways is paid before the head of the answer, and the body shares the bandwidth. What the link breaks
/// ends the connection.
struct LinkConditioning<Context: RequestContext>: RouterMiddleware {
    /// The link for a request; `nil` for one that is answered as it is.
    let link: @Sendable (Request) throws -> ConditionedLink?

    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let link = try link(request) else {
            return try await next(request, context)
        }
        do {
            return try await carry(request, context, over: link, next)
        } catch let error as LinkFailure {
            // Nothing gets through, so nothing may be said either: the connection ends with what it cannot deliver.
            return Response(
                status: .ok,
                headers: [.contentType: "application/octet-stream"],
                body: ResponseBody(contentLength: 1) { _ in throw error.reason }
            )
        }
    }

    /// What the link itself did to a request or an answer.
    private struct LinkFailure: Error {
        let reason: TransportError
    }

    private func cross(
        _ direction: LinkModel.Direction,
        _ link: ConditionedLink,
        _ flow: inout LinkModel.Flow
    ) async throws {
        do {
            try await withGracefulShutdownHandler {
                try await link.carryHead(direction, of: &flow)
            } onGracefulShutdown: {
                link.end()
            }
        } catch let error as TransportError {
            throw LinkFailure(reason: error)
        }
    }

    private func carry(
        _ request: Request,
        _ context: Context,
        over link: ConditionedLink,
        _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        // A player resolves names by itself; the first request pays for the delay of that.
        _ = try await link.resolve("")
        var up = LinkModel.Flow()
        try await cross(.up, link, &up)
        var down = LinkModel.Flow()
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            // What went wrong has to come all the way too.
            try await cross(.down, link, &down)
            throw error
        }
        // The body is on its way as soon as the head is.
        let journey = BodyJourney(response.body, time: link.time)
        try await cross(.down, link, &down)
        let flow = down
        response.body = ResponseBody(contentLength: response.body.contentLength) { writer in
            var traversal = LinkTraversal(link, .down, continuing: flow)
            // A server that is told to end does not wait for what a slow link still holds.
            try await withGracefulShutdownHandler {
                while let buffer = try await traversal.next(from: journey.offers) { try await writer.write(buffer) }
            } onGracefulShutdown: {
                link.end()
            }
            try await writer.finish(nil)
        }
        return response
    }
}

/// A body that is being written ahead of who sends it; ends with the last reference to it.
private final class BodyJourney: Sendable {
    let offers: OfferedBuffers
    private let writing: Task<Void, Never>

    init(_ body: ResponseBody, time: any TimeSource) {
        let offers = OfferedBuffers(time: time)
        self.offers = offers
        writing = Task(executorPreference: time.taskExecutor) {
            do {
                try await body.write(OfferingWriter(offers: offers))
                offers.finish(.success(()))
            } catch {
                offers.finish(.failure(error))
            }
        }
    }

    deinit {
        offers.abandon()
        writing.cancel()
    }
}

/// Writes a body to whoever sends it on.
private struct OfferingWriter: ResponseBodyWriter {
    let offers: OfferedBuffers

    mutating func write(_ buffer: ByteBuffer) async throws {
        guard await offers.offer(buffer) else { throw CancellationError() }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { offers.finish(.success(())) }
}
