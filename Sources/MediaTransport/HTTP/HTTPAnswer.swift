import AsyncHTTPClient
import Foundation
import MediaTiming
import NIOCore
import NIOHTTP1
import ResourceAddressing

/// An HTTP response that is validated against its request before it is returned.
struct HTTPAnswer {
    private let response: HTTPClientResponse
    private let request: TransportRequest
    private let address: ResourceAddress
    private let record: TransferRecord
    private let lease: HTTPClientPool.Lease
    private let status: Int

    init(
        _ response: HTTPClientResponse,
        _ request: TransportRequest,
        _ address: ResourceAddress,
        _ record: TransferRecord,
        _ lease: HTTPClientPool.Lease
    ) {
        self.response = response
        self.request = request
        self.address = address
        self.record = record
        self.lease = lease
        status = Int(clamping: response.status.code)
    }

    /// Returns the validated response.
    ///
    /// - Throws: ``TransportError`` if the response does not match the request.
    func checked() throws -> TransportResponse {
        switch status {
        case 200: return try passOn(whole())
        case 206: return try passOn(partial())
        case 304 where request.isConditional: return passOn((expectedLength: 0, cut: nil))
        case 412 where request.resumption != nil, 416 where request.resumption != nil: throw changed
        default:
            var error = TransportError(
                .status,
                "the server answered \(status) \(response.status.reasonPhrase)",
                address: address,
                status: status,
                retryAfter: RetryAfter.duration(field("Retry-After"), date: field("Date"))
            )
            error.serverAddress = record.measurement.serverAddress
            error.headerFields = Dictionary(response.headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
            throw error
        }
    }

    /// The number of bytes of the body to return, `nil` if unknown, and their range in the received body, `nil` for all
    /// of it.
    private typealias Extent = (expectedLength: Int64?, cut: ByteRange?)

    private func passOn(_ extent: Extent) -> TransportResponse {
        let dropped: Set<String> = isCompressed || extent.cut != nil ? ["content-encoding", "content-length"] : []
        let body = MappedErrorBody(body: response.body, address: address, lease: lease)
        return TransportResponse(
            status: extent.cut == nil ? status : 206,
            headers: response.headers.filter { !dropped.contains($0.name.lowercased()) }.map {
                HeaderField($0.name, $0.value)
            },
            address: address,
            expectedLength: extent.expectedLength,
            body: extent.cut.map { TransportBody(CutBuffers(buffers: body, range: $0, address: address)) }
                ?? TransportBody(body),
            record: record
        )
    }

    /// Returns the extent of a 200 response; servers may ignore a range and send the entire resource (RFC 9110 §14.2).
    private func whole() throws -> Extent {
        try refuseUnknownEncoding()
        guard request.resumption == nil else { throw changed }
        guard let range = request.byteRange else { return (isCompressed ? nil : length, nil) }
        if let length, !isCompressed, length < range.end {
            throw wrong("the resource has \(length) bytes, and \(range.end) of them were counted on")
        }
        return (range.length, range)
    }

    private func partial() throws -> Extent {
        try refuseUnknownEncoding()
        guard !isCompressed else { throw wrong("a part of a compressed body came, which cannot be unpacked") }
        let asksForRange = request.headers.contains { $0.name.lowercased() == "range" }
        guard request.byteRange != nil || request.resumption != nil || asksForRange else {
            throw wrong("a part came where the whole was asked for")
        }
        guard field("Content-Type")?.lowercased().hasPrefix("multipart/byteranges") != true else {
            throw wrong("several ranges came where one was asked for")
        }
        guard request.byteRange != nil || request.resumption != nil else { return (length, nil) }
        guard let text = field("Content-Range"), let answered = ContentRange(text) else {
            throw wrong("the server sent a range and does not say which")
        }
        let start = (request.byteRange?.start ?? 0) +| (request.resumption?.offset ?? 0)
        let isWanted = answered.start == start && (request.byteRange.map { answered.end == $0.end } ?? true)
        guard isWanted else { throw wrong("the server sent the range \(text)") }
        if request.byteRange == nil, let total = answered.total, answered.end != total {
            throw wrong("the server sent the range \(text)")
        }
        if let length, length != answered.end -| answered.start {
            throw wrong("\(length) bytes are announced for the range \(text)")
        }
        return (answered.end -| answered.start, nil)
    }

    private func field(_ name: String) -> String? { response.headers.first(name: name) }

    private var length: Int64? { field("Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil } }

    private var encoding: String {
        let text = response.headers["Content-Encoding"].joined(separator: ",").lowercased()
        return text.filter { $0 != " " && $0 != "\t" }
    }

    private var isCompressed: Bool { encoding == "gzip" || encoding == "deflate" }

    private func refuseUnknownEncoding() throws {
        guard encoding.isEmpty || encoding == "identity" || isCompressed else {
            throw wrong("the body is encoded as \(encoding.prefix(40)), which was not asked for")
        }
    }

    private func wrong(_ message: String) -> TransportError {
        TransportError(.wrongContent, message, address: address, status: status)
    }

    private var changed: TransportError {
        TransportError(
            .contentChanged,
            "the resource changed while it was loaded",
            address: address,
            status: status
        )
    }
}

/// A parsed `Content-Range` header field (RFC 9110 §14.4).
struct ContentRange: Equatable {
    let start: Int64
    /// The position after the last byte.
    let end: Int64
    /// The size of the complete resource in bytes; `nil` if it is unknown.
    let total: Int64?

    /// Parses `bytes 0-99/200` or `bytes 0-99/*`; `nil` for any other text and for contradictory numbers.
    init?(_ text: String) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        let bounds = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, bounds.count == 2, let first = Self.number(bounds[0]),
            let last = Self.number(bounds[1]),
            last >= first, last < .max
        else { return nil }
        start = first
        end = last.addingSaturated(1)
        total = Self.number(parts[1])
        guard parts[1] == "*" || total.map({ $0 > last }) == true else { return nil }
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}

/// A parser for the `Retry-After` header field: seconds or a date (RFC 9110 §10.2.3).
enum RetryAfter {
    static func duration(_ value: String?, date: String?) -> Duration? {
        guard let value = value.map({ $0.trimmingCharacters(in: .whitespaces) }), !value.isEmpty else { return nil }
        if let seconds = Int64(value) { return seconds >= 0 ? .seconds(min(seconds, 86_400 * 365)) : nil }
        guard let due = HTTPDate.seconds(value) else { return nil }
        // The date is relative to the clock of the server, not to the local clock.
        let now = date.flatMap { HTTPDate.seconds($0) } ?? Int64(saturating: Date().timeIntervalSince1970)
        return .seconds(max(0, min(due -| now, 86_400 * 365)))
    }
}

/// The requested byte range of a body that was received in full.
private struct CutBuffers<Buffers: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Buffers.Element == ByteBuffer {
    let buffers: Buffers
    let range: ByteRange
    let address: ResourceAddress

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: Buffers.AsyncIterator
        var skipped: Int64
        var rest: Int64
        let address: ResourceAddress

        mutating func next() async throws -> ByteBuffer? {
            while rest > 0 {
                guard var buffer = try await iterator.next(isolation: #isolation) else {
                    throw TransportError(
                        .wrongContent,
                        "the resource ends before the range that was asked for does",
                        address: address
                    )
                }
                let skip = Int(Swift.min(skipped, Int64(buffer.readableBytes)))
                buffer.moveReaderIndex(forwardBy: skip)
                skipped -|= Int64(skip)
                let length = Int(Swift.min(rest, Int64(buffer.readableBytes)))
                guard length > 0, let slice = buffer.readSlice(length: length) else { continue }
                rest -|= Int64(length)
                return slice
            }
            return nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: buffers.makeAsyncIterator(), skipped: range.start, rest: range.length, address: address)
    }
}

/// A body that converts the errors of AsyncHTTPClient to ``TransportError``.
private struct MappedErrorBody: AsyncSequence, Sendable {
    let body: HTTPClientResponse.Body
    let address: ResourceAddress
    let lease: HTTPClientPool.Lease

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: HTTPClientResponse.Body.AsyncIterator
        let address: ResourceAddress
        let lease: HTTPClientPool.Lease

        mutating func next() async throws -> ByteBuffer? {
            do {
                return try await iterator.next(isolation: #isolation)
            } catch {
                throw TransportError.translating(error, address: address)
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.makeAsyncIterator(), address: address, lease: lease)
    }
}
