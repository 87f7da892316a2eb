import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing

/// A transport that serves the files of a directory immediately: loading takes no simulated time.
struct FolderTransport: Transport {
    static let origin = "https://samples.invalid/"

    let folder: URL
    let time: any TimeSource
    /// The contents that replace files, by their names relative to the directory.
    var replacements: [String: [UInt8]] = [:]

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let text = request.address.text
        let name = String(text.dropFirst(Self.origin.count).prefix { $0 != "?" })
        guard text.hasPrefix(Self.origin), let bytes = bytes(name) else {
            throw TransportError(
                .status,
                "the server responded with status 404 Not Found",
                address: request.address,
                status: 404
            )
        }
        let range = request.byteRange ?? ByteRange(start: 0, length: Int64(bytes.count))
        guard let range, range.end <= bytes.count else {
            throw TransportError(.wrongContent, "the resource is shorter", address: request.address)
        }
        let record = TransferRecord(TransferMeasurement(requestStart: time.now))
        record.update { $0.timeToFirstByte = .zero }
        return TransportResponse(
            status: request.byteRange == nil ? 200 : 206,
            headers: [],
            address: request.address,
            expectedLength: range.length,
            body: TransportBody(bytes[Int(range.start)..<Int(range.end)]).measured(by: record, time),
            record: record
        )
    }

    private func bytes(_ name: String) -> [UInt8]? {
        replacements[name] ?? (try? Data(contentsOf: folder.appendingPathComponent(name))).map { [UInt8]($0) }
    }
}
