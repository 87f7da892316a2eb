import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import NetworkConditioning
import ServiceLifecycle

/// A middleware that simulates network conditions for the responses to any player.
///
/// The latency of both directions delays the head of the response, and bodies share the bandwidth. A simulated failure
/// of the link closes the connection.
struct LinkConditioning<Context: RequestContext>: RouterMiddleware {
    /// A closure that returns the link over which the response to a request is sent; `nil` to send it directly.
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
            return try await respond(to: request, context: context, over: link, next: next)
        } catch let error as LinkFailure {
            // An error response could not cross the link either, so the connection is closed by a body that fails.
            return Response(
                status: .ok,
                headers: [.contentType: "application/octet-stream"],
                body: ResponseBody(contentLength: 1) { _ in throw error.reason }
            )
        }
    }

    /// A failure that the link simulated.
    private struct LinkFailure: Error {
        let reason: TransportError
    }

    private func sendHead(
        _ direction: LinkModel.Direction,
        over link: ConditionedLink,
        flow: inout LinkModel.Flow
    ) async throws {
        do {
            try await withGracefulShutdownHandler {
                try await link.transmitHead(direction, of: &flow)
            } onGracefulShutdown: {
                link.end()
            }
        } catch let error as TransportError {
            throw LinkFailure(reason: error)
        }
    }

    private func respond(
        to request: Request,
        context: Context,
        over link: ConditionedLink,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        // A player resolves the host name before it connects, where no delay can be simulated. Therefore the DNS delay
        // is added to the first request.
        _ = try await link.resolve("")
        var up = LinkModel.Flow()
        try await sendHead(.up, over: link, flow: &up)
        var down = LinkModel.Flow()
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            // An error response has to cross the link too.
            try await sendHead(.down, over: link, flow: &down)
            throw error
        }
        // The body is produced while the head crosses the link.
        let body = BufferedBody(response.body, time: link.time)
        try await sendHead(.down, over: link, flow: &down)
        let flow = down
        response.body = ResponseBody(contentLength: response.body.contentLength) { writer in
            var traversal = LinkTransfer(link, .down, continuing: flow)
            // A server that shuts down does not wait for bytes that a slow link still has to deliver.
            try await withGracefulShutdownHandler {
                while let buffer = try await traversal.next(from: body.queue) { try await writer.write(buffer) }
            } onGracefulShutdown: {
                link.end()
            }
            try await writer.finish(nil)
        }
        return response
    }
}

/// A response body that is produced while earlier bytes are sent.
///
/// Its production is canceled when the body is deallocated.
private final class BufferedBody: Sendable {
    let queue: BufferQueue
    private let writing: Task<Void, Never>

    init(_ body: ResponseBody, time: any TimeSource) {
        let queue = BufferQueue(time: time)
        self.queue = queue
        writing = Task(executorPreference: time.taskExecutor) {
            do {
                try await body.write(BufferQueueWriter(queue: queue))
                queue.finish(.success(()))
            } catch {
                queue.finish(.failure(error))
            }
        }
    }

    deinit {
        queue.cancel()
        writing.cancel()
    }
}

/// A writer that adds the bytes of a body to the queue of bytes to send.
private struct BufferQueueWriter: ResponseBodyWriter {
    let queue: BufferQueue

    mutating func write(_ buffer: ByteBuffer) async throws {
        guard await queue.append(buffer) else { throw CancellationError() }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { queue.finish(.success(())) }
}
