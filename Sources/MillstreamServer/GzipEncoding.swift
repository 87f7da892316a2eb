import CZlib
import HTTPTypes
import MediaTiming

/// A namespace for the compression of responses (RFC 9110 §8.4.1.3, RFC 1952).
package enum GzipEncoding {
    /// The size in bytes from which compression is worth its cost: smaller responses fit in one packet.
    static let minimumSize = 1_400

    /// A window of 32 KiB with a header and a trailer of gzip.
    private static let windowBits: Int32 = 15 + 16
    /// The default of zlib.
    private static let memoryLevel: Int32 = 8

    /// Returns compressed bytes, or `nil` if they are not smaller.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard let size = UInt32(exactly: bytes.count), size > 0 else { return nil }
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream,
                Z_DEFAULT_COMPRESSION,
                Z_DEFLATED,
                windowBits,
                memoryLevel,
                Z_DEFAULT_STRATEGY,
                ZLIB_VERSION,
                Int32(clamping: MemoryLayout<z_stream>.size)
            ) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count)
        let isComplete = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = size
                stream.next_out = target.baseAddress
                // A result that does not fit is not smaller.
                stream.avail_out = size
                return deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        guard isComplete else { return nil }
        output.removeLast(Int(clamping: stream.avail_out))
        return output
    }

    /// Returns a Boolean value that indicates whether a client accepts compressed responses (RFC 9110 §12.5.3).
    static func isAccepted(by headers: HTTPFields) -> Bool { isAccepted(by: headers[values: .acceptEncoding]) }

    /// Returns a Boolean value that indicates whether a client accepts compressed responses (RFC 9110 §12.5.3).
    ///
    /// - Parameter fields: The values of the fields `Accept-Encoding`.
    /// - Returns: `true` if they name gzip, or any encoding.
    package static func isAccepted(by fields: [String]) -> Bool {
        var any: Bool?
        for field in fields {
            for item in field.lowercased().split(separator: ",") {
                let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
                guard let name = parts.first else { continue }
                let isRefused = parts.dropFirst().contains { part in
                    part.hasPrefix("q=") && part.dropFirst(2).allSatisfy { $0 == "0" || $0 == "." }
                }
                if name == "gzip" || name == "x-gzip" { return !isRefused }
                if name == "*" { any = !isRefused }
            }
        }
        return any ?? false
    }
}
