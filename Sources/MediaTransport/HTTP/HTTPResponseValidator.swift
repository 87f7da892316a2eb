import AsyncHTTPClient
import Foundation
import MediaTiming
import NIOCore
import NIOHTTP1
import ResourceAddressing

/// An HTTP response that is validated against its request before it is returned.
struct HTTPResponseValidator {
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
    func validatedResponse() throws -> TransportResponse {
        switch status {
        case 200: return try makeResponse(completeExtent())
        case 206: return try makeResponse(partialExtent())
        case 304 where request.isConditional: return makeResponse((expectedLength: 0, range: nil))
        case 412 where request.resumption != nil, 416 where request.resumption != nil: throw contentChangedError
        default:
            var error = TransportError(
                .status,
                "the server responded with status \(status) \(response.status.reasonPhrase)",
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
    private typealias Extent = (expectedLength: Int64?, range: ByteRange?)

    private func makeResponse(_ extent: Extent) -> TransportResponse {
        let dropped: Set<String> = isCompressed || extent.range != nil ? ["content-encoding", "content-length"] : []
        let body = MappedErrorBody(body: response.body, address: address, lease: lease)
        return TransportResponse(
            status: extent.range == nil ? status : 206,
            headers: response.headers.filter { !dropped.contains($0.name.lowercased()) }.map {
                HeaderField($0.name, $0.value)
            },
            address: address,
            expectedLength: extent.expectedLength,
            body: extent.range.map {
                TransportBody(SlicedBuffers(buffers: body, range: $0, address: address, record: record))
            }
                ?? TransportBody(body),
            record: record
        )
    }

    /// Returns the extent of a 200 response; servers may ignore a range and send the entire resource (RFC 9110 §14.2).
    private func completeExtent() throws -> Extent {
        try checkContentEncoding()
        guard request.resumption == nil else { throw contentChangedError }
        guard let range = request.byteRange else { return (isCompressed ? nil : length, nil) }
        if let length, !isCompressed, length < range.end {
            throw contentError("the resource has \(length) bytes, but the requested byte range ends at \(range.end)")
        }
        return (range.length, range)
    }

    private func partialExtent() throws -> Extent {
        try checkContentEncoding()
        guard !isCompressed else {
            throw contentError("the server sent a partial compressed body, which cannot be decompressed")
        }
        let asksForRange = request.headers.contains { $0.name.lowercased() == "range" }
        guard request.byteRange != nil || request.resumption != nil || asksForRange else {
            throw contentError("the server sent a partial response to a request for the entire resource")
        }
        guard field("Content-Type")?.lowercased().hasPrefix("multipart/byteranges") != true else {
            throw contentError("the server sent several byte ranges, but one was requested")
        }
        guard request.byteRange != nil || request.resumption != nil else { return (length, nil) }
        guard let text = field("Content-Range"), let contentRange = ContentRange(text) else {
            throw contentError("the server sent a partial response without a valid Content-Range")
        }
        guard isUnchanged(contentRange) else { throw contentChangedError }
        let start = (request.byteRange?.start ?? 0) +| (request.resumption?.offset ?? 0)
        let isRequestedRange =
            contentRange.start == start && (request.byteRange.map { contentRange.end == $0.end } ?? true)
        guard isRequestedRange else {
            throw contentError("the server sent a byte range that was not requested (\(text))")
        }
        if request.byteRange == nil, let total = contentRange.total, contentRange.end != total {
            throw contentError("the server sent a byte range that was not requested (\(text))")
        }
        if let length, length != contentRange.end -| contentRange.start {
            throw contentError("Content-Length (\(length)) contradicts Content-Range (\(text))")
        }
        return (contentRange.end -| contentRange.start, nil)
    }

    /// Returns a Boolean value that indicates whether a partial response can be a part of the resource whose beginning was
    /// received.
    ///
    /// Servers may ignore `If-Range` and send a part of a changed resource.
    private func isUnchanged(_ contentRange: ContentRange) -> Bool {
        guard let resumption = request.resumption else { return true }
        if let known = resumption.totalLength, let total = contentRange.total, known != total { return false }
        if resumption.validator.hasPrefix("\"") {
            guard let tag = field("ETag") else { return true }
            // A proxy that compresses or changes a response makes its tag a weak one.
            return (tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag) == resumption.validator
        }
        guard let date = field("Last-Modified") else { return true }
        guard let seconds = HTTPDate.seconds(date), let known = HTTPDate.seconds(resumption.validator) else {
            return date == resumption.validator
        }
        return seconds == known
    }

    private func field(_ name: String) -> String? { response.headers.first(name: name) }

    private var length: Int64? { field("Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil } }

    private var encoding: String {
        let text = response.headers["Content-Encoding"].joined(separator: ",").lowercased()
        return text.filter { $0 != " " && $0 != "\t" }
    }

    private var isCompressed: Bool { encoding == "gzip" || encoding == "deflate" }

    private func checkContentEncoding() throws {
        guard encoding.isEmpty || encoding == "identity" || isCompressed else {
            throw contentError("the body has an unsupported content encoding (\(encoding.prefix(40)))")
        }
    }

    private func contentError(_ message: String) -> TransportError {
        TransportError(.wrongContent, message, address: address, status: status)
    }

    private var contentChangedError: TransportError {
        TransportError(
            .contentChanged,
            "the resource changed while it was being loaded",
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

    /// Creates a range from `bytes 0-99/200` or `bytes 0-99/*`; `nil` for any other text and for contradictory numbers.
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
private struct SlicedBuffers<Buffers: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Buffers.Element == ByteBuffer {
    let buffers: Buffers
    let range: ByteRange
    let address: ResourceAddress
    let record: TransferRecord

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: Buffers.AsyncIterator
        var remainingSkip: Int64
        var remaining: Int64
        let address: ResourceAddress
        let record: TransferRecord

        /// Returns the next bytes of the range; no bytes for a buffer before it, so that the reader notices that bytes
        /// arrive.
        mutating func next() async throws -> ByteBuffer? {
            while remaining > 0 {
                guard var buffer = try await iterator.next(isolation: #isolation) else {
                    throw TransportError(
                        .wrongContent,
                        "the resource ends before the requested byte range",
                        address: address
                    )
                }
                let skip = Int(Swift.min(remainingSkip, Int64(buffer.readableBytes)))
                buffer.moveReaderIndex(forwardBy: skip)
                remainingSkip -|= Int64(skip)
                if skip > 0 { record.update { $0.skippedBytes = $0.skippedBytes + ByteCount(Int64(skip)) } }
                let length = Int(Swift.min(remaining, Int64(buffer.readableBytes)))
                guard let slice = buffer.readSlice(length: length), length > 0 || skip > 0 else { continue }
                remaining -|= Int64(length)
                return slice
            }
            return nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            iterator: buffers.makeAsyncIterator(),
            remainingSkip: range.start,
            remaining: range.length,
            address: address,
            record: record
        )
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
                throw TransportError.convertingErrors(error, address: address)
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.makeAsyncIterator(), address: address, lease: lease)
    }
}
