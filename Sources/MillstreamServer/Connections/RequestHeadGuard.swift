import NIOCore
import NIOHTTP1

/// A channel handler that marks request heads which other code could interpret differently, so that ``TargetGuard``
/// refuses them.
///
/// It is placed directly behind the decoder. The conversion to the types of the router loses the authority of a target in
/// absolute form, for which a server must ignore the `Host` field (RFC 9112 §3.2.2). The decoder takes a request whose
/// transfer coding it does not know for one without a body, and its body for the next request (§6.3). A request without
/// the `Host` field that HTTP/1.1 requires is refused too.
final class RequestHeadGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// The target of a request that is refused; it is not a path, and belongs to no route.
    static let refusedTarget = "*"

    /// A Boolean value that indicates whether the end of a request is unknown, so that all later bytes are ignored.
    private var isEndUnknown = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error in bytes that are ignored.
        guard !isEndUnknown else { return }
        context.fireErrorCaught(error)
    }

    /// Returns a Boolean value that indicates whether a request has the `Host` field that its version requires
    /// (RFC 9110 §7.2, RFC 9112 §3.2).
    static func hasRequiredHost(_ head: HTTPRequestHead) -> Bool {
        head.headers.contains(name: "Host") || (head.version.major, head.version.minor) < (1, 1)
    }

    /// Returns a Boolean value that indicates whether all recipients of a request agree on the length of its body.
    ///
    /// `chunked` must be the only transfer coding, once; `Content-Length` must be missing then, and the version must be
    /// at least 1.1 (RFC 9112 §6.1).
    static func hasUnambiguousLength(_ head: HTTPRequestHead) -> Bool {
        let codings = head.headers["Transfer-Encoding"]
        guard !codings.isEmpty else { return true }
        return codings.map { $0.lowercased() } == ["chunked"] && !head.headers.contains(name: "Content-Length")
            && (head.version.major, head.version.minor) >= (1, 1)
    }
}
