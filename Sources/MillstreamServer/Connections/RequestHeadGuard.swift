package import NIOCore
package import NIOHTTP1

/// A channel handler that marks ambiguous request heads, so that ``TargetGuard`` refuses them.
///
/// It directly follows the decoder in the pipeline. A target in absolute form is refused, because the conversion to the
/// types of the router loses its authority, and a server must then ignore the `Host` field (RFC 9112 §3.2.2). A request
/// with an unknown transfer coding is refused, because the decoder would treat its body as the next request (§6.3). A
/// request without the `Host` field that HTTP/1.1 requires is refused too.
package final class RequestHeadGuard: ChannelInboundHandler, RemovableChannelHandler {
    /// A part of a request, as the decoder delivers it.
    package typealias InboundIn = HTTPServerRequestPart
    /// A part of a request with a target that is a path, or is refused.
    package typealias InboundOut = HTTPServerRequestPart

    /// The target of a request that is refused; it is not a path, and belongs to no route.
    package static let refusedTarget = "*"

    /// A Boolean value that indicates whether the end of a request is unknown, so that all later bytes are ignored.
    private var isEndUnknown = false

    /// Creates the guard of a connection.
    package init() {}

    /// Passes a part of a request on, with another target if the request is refused.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEndUnknown else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        guard Self.hasUnambiguousLength(head) else {
            isEndUnknown = true
            head.uri = Self.refusedTarget
            // The connection is closed after the response.
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.fireChannelRead(wrapInboundOut(.head(head)))
            return context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
        guard !head.uri.utf8.starts(with: "/".utf8) || !Self.hasRequiredHost(head) else {
            return context.fireChannelRead(data)
        }
        head.uri = Self.refusedTarget
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Passes an error on, unless the bytes that cause it are ignored.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Errors in ignored bytes have no effect.
        guard !isEndUnknown else { return }
        context.fireErrorCaught(error)
    }

    /// Returns a Boolean value that indicates whether a request has the `Host` field that its version requires
    /// (RFC 9110 §7.2, RFC 9112 §3.2).
    package static func hasRequiredHost(_ head: HTTPRequestHead) -> Bool {
        head.headers.contains(name: "Host") || (head.version.major, head.version.minor) < (1, 1)
    }

    /// Returns a Boolean value that indicates whether all recipients of a request agree on the length of its body.
    ///
    /// `chunked` must be the only transfer coding, once; `Content-Length` must be missing then, and the version must be
    /// at least 1.1 (RFC 9112 §6.1).
    package static func hasUnambiguousLength(_ head: HTTPRequestHead) -> Bool {
        let codings = head.headers["Transfer-Encoding"]
        guard !codings.isEmpty else { return true }
        return codings.map { $0.lowercased() } == ["chunked"] && !head.headers.contains(name: "Content-Length")
            && (head.version.major, head.version.minor) >= (1, 1)
    }
}
