import DASHManifest
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing

extension ResourceLoader {
    /// Loads the first bytes of a resource, which may have fewer of them.
    ///
    /// - Parameters:
    ///   - resource: The resource.
    ///   - length: The maximum number of bytes.
    /// - Returns: The bytes.
    /// - Throws: `TransportError`, `CancellationError`.
    func loadBeginning(of resource: AddressedResource, length: Int64) async throws -> [UInt8] {
        try await send(Self.request(resource, length: length)) { response in
            // A server that ignores ranges sends more.
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView.prefix(Int(clamping: length) - bytes.count))
                if Int64(bytes.count) >= length { break }
            }
            return bytes
        }
    }

    private static func request(_ resource: AddressedResource, length: Int64) -> TransportRequest {
        guard let range = resource.byteRange else {
            // A byte range of a request has to exist entirely; the header field allows fewer bytes.
            let header = HeaderField("Range", "bytes=0-\(length -| 1)")
            return TransportRequest(resource.address, kind: .other, headers: [header])
        }
        let beginning = ByteRange(start: range.start, length: min(length, range.length))
        return TransportRequest(resource.address, kind: .other, byteRange: beginning ?? range)
    }
}
