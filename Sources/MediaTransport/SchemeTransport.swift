import Foundation
public import MediaTiming
package import ResourceAddressing

/// A transport that sends each request to the transport for its URL scheme: HTTP or files; `data` URLs are decoded
/// directly.
public struct SchemeTransport: Transport {
    private let http: any Transport
    private let file: (any Transport)?
    private let time: any TimeSource

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - http: The transport for `http` and `https` URLs.
    ///   - file: The transport for `file` URLs; `nil` to refuse them, which is required in servers that fetch resources
    ///     on behalf of others.
    ///   - time: The clock for the measurements of `data` URLs.
    public init(http: any Transport, file: (any Transport)?, time: any TimeSource = SystemTimeSource()) {
        self.http = http
        self.file = file
        self.time = time
    }

    /// The executor of the HTTP transport; see ``Transport/executor``.
    public var executor: (any TaskExecutor)? { http.executor }

    /// Sends a request; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        switch request.address.normalizedScheme {
        case "http", "https": return try await http.send(request)
        case "data": return try bytes(of: request)
        case "file":
            guard let file else { break }
            return try await file.send(request)
        default: break
        }
        guard !request.address.isRefusedFile else {
            let file = request.address.withoutRefusal
            throw TransportError(
                .addressRefused,
                "a remote document refers to a local file, which it must not do: \(file)",
                address: file
            )
        }
        throw TransportError(
            .addressRefused,
            "URLs with the scheme \(request.address.scheme ?? "(none)") cannot be loaded",
            address: request.address
        )
    }

    /// Returns the content of a `data` URL (RFC 2397).
    private func bytes(of request: TransportRequest) throws -> TransportResponse {
        guard request.address.text.contains(",") else {
            throw TransportError(.addressRefused, "the data URL has no comma", address: request.address)
        }
        guard let bytes = request.address.dataContent else {
            throw TransportError(.addressRefused, "the data URL cannot be decoded", address: request.address)
        }
        let range = request.byteRange ?? ByteRange(start: 0, length: Int64(bytes.count))
        guard let range, range.end <= bytes.count else {
            throw TransportError(
                .wrongContent,
                "the requested byte range exceeds the \(bytes.count) bytes of the data URL",
                address: request.address
            )
        }
        let record = TransferRecord(TransferMeasurement(requestStart: time.now))
        record.update { $0.timeToFirstByte = .zero }
        return TransportResponse(
            status: range.length == bytes.count ? 200 : 206,
            headers: [],
            address: request.address,
            expectedLength: range.length,
            body: TransportBody(bytes[Int(range.start)..<Int(range.end)]).measured(by: record, time),
            record: record
        )
    }
}

extension ResourceAddress {
    /// The content of a `data` URL (RFC 2397); `nil` for any other URL, and for one that cannot be decoded.
    package var dataContent: [UInt8]? {
        guard normalizedScheme == "data" else { return nil }
        let text = text.dropFirst("data:".count)
        guard let comma = text.firstIndex(of: ",") else { return nil }
        let content = String(text[text.index(after: comma)...])
        guard text[..<comma].hasSuffix(";base64") else { return PercentEncoding.decode(content).map { Array($0.utf8) } }
        return Data(base64Encoded: PercentEncoding.decode(content) ?? content).map { [UInt8]($0) }
    }
}
