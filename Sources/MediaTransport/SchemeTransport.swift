import Foundation
public import MediaTiming
import ResourceAddressing

/// Sends each request to the transport that its scheme needs: HTTP, files, and the bytes in a `data` address itself.
public struct SchemeTransport: Transport {
    private let http: any Transport
    private let file: (any Transport)?
    private let time: any TimeSource

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - http: For `http` and `https`.
    ///   - file: For `file`; `nil` refuses them, as whoever fetches for strangers must.
    ///   - time: The clock that `data` addresses are measured by.
    public init(http: any Transport, file: (any Transport)?, time: any TimeSource = SystemTimeSource()) {
        self.http = http
        self.file = file
        self.time = time
    }

    /// The one of HTTP; see ``Transport/executor``.
    public var executor: (any TaskExecutor)? { http.executor }

    /// Asks for a resource; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        switch request.address.normalizedScheme {
        case "http", "https": return try await http.send(request)
        case "data": return try bytes(of: request)
        case "file":
            guard let file else { break }
            return try await file.send(request)
        default: break
        }
        throw TransportError(
            .addressRefused,
            "addresses with the scheme \(request.address.scheme ?? "(none)") cannot be loaded",
            address: request.address
        )
    }

    /// The bytes in a `data` address (RFC 2397).
    private func bytes(of request: TransportRequest) throws -> TransportResponse {
        let text = request.address.text.dropFirst("data:".count)
        guard let comma = text.firstIndex(of: ",") else {
            throw TransportError(.addressRefused, "a data address without a comma", address: request.address)
        }
        let content = String(text[text.index(after: comma)...])
        let bytes: [UInt8]? =
            text[..<comma].hasSuffix(";base64")
            ? Data(base64Encoded: PercentEncoding.decode(content) ?? content).map { [UInt8]($0) }
            : PercentEncoding.decode(content).map { Array($0.utf8) }
        guard let bytes else {
            throw TransportError(.addressRefused, "a data address that cannot be decoded", address: request.address)
        }
        let range = request.byteRange ?? ByteRange(start: 0, length: Int64(bytes.count))
        guard let range, range.end <= bytes.count else {
            throw TransportError(.wrongContent, "the data address has \(bytes.count) bytes", address: request.address)
        }
        let record = TransferRecord(TransferMeasurement(sent: time.now))
        record.update { $0.firstByte = .zero }
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
