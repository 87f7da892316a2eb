import Hummingbird
import MediaTransport
import NIOCore
import ResourceAddressing

/// A key of encrypted segments that a playlist contains as a `data` URL.
///
/// Only some players load keys from such URLs, so the server writes a signed address of its own in their place.
struct EmbeddedKey: Hashable {
    /// The key: 16 bytes of `AES-128`, or 32 of `AES-256-GCM`.
    let bytes: [UInt8]

    /// Creates the key of a `data` URL; `nil` for any other URL, and for the data of another content protection system.
    init?(_ address: ResourceAddress) {
        guard let bytes = address.dataContent, [16, 32].contains(bytes.count),
            !bytes.dropFirst(4).starts(with: "pssh".utf8)
        else { return nil }
        self.bytes = bytes
    }

    /// The response with the key.
    var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/octet-stream", .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
