import FuzzTargets
import MillstreamServer
import NIOCore
import NIOEmbedded
import NIOHTTP1

/// Decodes bytes as those of a connection, and checks that each request that passes the guard has only one
/// interpretation.
func checkConnection(_ bytes: [UInt8]) {
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
        let operations = channel.pipeline.syncOperations
        try operations.addHandler(ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
        try operations.addHandler(RequestHeadGuard())
    } catch {
        return check(false, "a connection cannot be set up")
    }
    // Bytes that are no request are an error, which ends a connection.
    _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
    var isEndUnknown = false
    while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
        guard case .head(let head) = part else { continue }
        check(!isEndUnknown, "a request is read after one whose end is unknown")
        if !RequestHeadGuard.hasUnambiguousLength(head) {
            isEndUnknown = true
            check(head.headers["Connection"] == ["close"], "a connection stays open after an unknown end")
            check(head.uri == RequestHeadGuard.refusedTarget, "a request whose end is unknown passes")
        }
        guard head.uri != RequestHeadGuard.refusedTarget else { continue }
        check(head.uri.utf8.first == UInt8(ascii: "/"), "a target that is no path passes")
        check(RequestHeadGuard.hasRequiredHost(head), "a request without a host passes")
        let codings = head.headers["Transfer-Encoding"]
        check(
            codings.isEmpty || codings.count == 1 && !head.headers.contains(name: "Content-Length"),
            "a body with two lengths passes"
        )
    }
}
