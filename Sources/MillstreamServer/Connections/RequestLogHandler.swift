import HTTPTypes
import Logging
import MediaTiming
import NIOCore
import NIOHTTPTypes
import ResourceAddressing

/// The use of the memory cache of the server for a response.
enum CacheResult: Sendable, Equatable {
    case playlist(ServerMetrics.PlaylistSource)
    /// A segment that passed through the server, from its memory or from another server or cache.
    case segment(isInMemory: Bool)

    /// The word for logs.
    var text: String {
        switch self {
        case .playlist(let source): source.rawValue
        case .segment(let isInMemory): isInMemory ? "memory" : "loaded"
        }
    }
}

/// A channel handler that logs the answered requests of a connection, whichever handler has answered them.
///
/// It is placed behind the codec and before all handlers that answer, and is added only if requests are logged.
final class RequestLogHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A request whose response has not ended.
    private struct PendingRequest {
        let method: String
        let target: String
        /// The time at which the head of the request arrived.
        let start: Duration
        /// The status of the response; `nil` before its head.
        var status: Int?
        /// The number of bytes of the body that were written.
        var byteCount = 0

        /// The level of the line: `debug` for the requests that the console repeats while it is open, unless they fail.
        var level: Logger.Level {
            method == "GET" && target == "/api/conditions" && status == 200 ? .debug : .info
        }
    }

    private let logger: Logger
    private let time: any TimeSource
    /// The requests in the order in which they arrived, which is that of their responses.
    private var pending: ArraySlice<PendingRequest> = []
    /// The part that the memory of the server had in the next response; `nil` if it had none.
    private var cacheResult: CacheResult?

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - logger: The logger, which receives each request with the level `info`, and those that the console repeats with `debug`.
    ///   - time: The clock.
    init(_ logger: Logger, time: any TimeSource = SystemTimeSource()) {
        self.logger = logger
        self.time = time
    }

    /// Sets the part that the memory of the server has in the response that the caller writes next.
    func setCacheResult(_ result: CacheResult) { cacheResult = result }

    func channelInactive(context: ChannelHandlerContext) {
        finishRequest(isComplete: false)
        pending = []
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            pending.append(
                PendingRequest(method: head.method.rawValue, target: head.path ?? "", start: time.now)
            )
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code >= 200:
            cacheResult = ClientDisconnectHandler.presence(on: context.channel)?.takeCacheResult()
            beginResponse(status: head.status.code)
        case .head: break
        case .body(let bytes): countBytes(bytes.readableBytes)
        case .end: finishRequest(isComplete: true)
        }
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if let response = event as? EncodedResponse {
            beginResponse(status: response.status.code)
            countBytes(response.body?.readableBytes ?? 0)
            finishRequest(isComplete: true)
        }
        context.triggerUserOutboundEvent(event, promise: promise)
    }

    private func beginResponse(status: Int) {
        guard !pending.isEmpty else { return }
        pending[pending.startIndex].status = status
    }

    private func countBytes(_ count: Int) {
        guard !pending.isEmpty else { return }
        pending[pending.startIndex].byteCount +|= count
    }

    /// Logs the first request, unless its response has not begun.
    private func finishRequest(isComplete: Bool) {
        let result = cacheResult.take()
        guard let request = pending.popFirst(), let status = request.status else { return }
        let duration = Int64(saturating: (time.now - request.start) / .microseconds(1))
        var fields: Logger.Metadata = [
            "method": "\(request.method)",
            "path": "\(ResourceAddress(request.target))",
            "status": "\(status)",
            "bytes": "\(request.byteCount)",
            "microseconds": "\(duration)",
        ]
        if let result { fields["cache"] = "\(result.text)" }
        if !isComplete { fields["ended"] = "early" }
        logger.log(level: request.level, "request", metadata: fields)
    }
}
