import HTTPTypes
import NIOCore

/// A complete HTTP/1.1 response as bytes (RFC 9112 §4).
///
/// The response is an outbound event of a channel. The ``ByteMonitor`` of the connection writes its bytes, so no
/// handler encodes the response again.
final class EncodedResponse: Sendable {
    let status: HTTPResponse.Status
    /// The status line, the header fields and the empty line that ends them.
    let head: ByteBuffer
    /// The body; `nil` for a response without one.
    let body: ByteBuffer?

    /// Creates the encoded form of a response.
    ///
    /// - Parameters:
    ///   - head: The head of the response, whose field `Content-Length` is replaced by the length of the body.
    ///   - body: The body; `nil` for a response without one.
    init(_ head: HTTPResponse, body: ByteBuffer?) {
        status = head.status
        var text = "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n"
        for field in head.headerFields where field.name != .contentLength {
            text += "\(field.name.rawName): \(field.value)\r\n"
        }
        if let body { text += "Content-Length: \(body.readableBytes)\r\n" }
        self.head = ByteBuffer(string: text + "\r\n")
        self.body = body
    }
}
