import FuzzTargets
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// A transport that responds with the resources of a generated presentation.
final class GeneratedOrigin: Transport {
    /// The maximum number of requests of one run.
    ///
    /// No generated presentation requires as many requests in ten minutes, so more of them indicate a request loop.
    static let maximumRequestCount = 20_000

    private let presentation: GeneratedPresentation
    private let time: any TimeSource
    private let state = Mutex(State())

    private struct State {
        var requestCount = 0
        var nextVersions: [String: Int] = [:]
    }

    init(_ presentation: GeneratedPresentation, time: any TimeSource) {
        self.presentation = presentation
        self.time = time
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let address = request.address.text
        let path = String(address.prefix { $0 != "?" && $0 != "#" })
        let playlist: String? = state.withLock { state in
            state.requestCount += 1
            check(
                state.requestCount <= Self.maximumRequestCount,
                "\(address) is the last of too many requests at \(time.now)"
            )
            guard let versions = presentation.playlists[path] else { return nil }
            let version = state.nextVersions[path, default: 0]
            state.nextVersions[path] = version + 1
            return versions[min(version, versions.count - 1)]
        }
        let bytes: [UInt8]
        if let playlist {
            bytes = Array(playlist.utf8)
        } else if path.hasSuffix(".key") {
            bytes = [UInt8](repeating: 7, count: presentation.keySize)
        } else if path.hasSuffix(".m3u8") || !address.hasPrefix(GeneratedPresentation.base) {
            throw TransportError(.status, "the server answered 404", address: request.address, status: 404)
        } else {
            bytes = [UInt8](repeating: 0, count: presentation.mediaSize)
        }
        return try response(bytes, to: request, time)
    }
}

/// Returns a response with the requested byte range.
///
/// - Throws: `TransportError` with status 416 if the range is not within the bytes.
func response(_ bytes: [UInt8], to request: TransportRequest, _ time: any TimeSource) throws -> TransportResponse {
    var bytes = bytes
    if let range = request.byteRange {
        guard let end = Int(exactly: range.end), end <= bytes.count else {
            throw TransportError(.status, "the server answered 416", address: request.address, status: 416)
        }
        bytes = Array(bytes[Int(range.start)..<end])
    }
    let record = TransferRecord(TransferMeasurement(requestStart: time.now))
    record.update { $0.timeToFirstByte = .zero }
    return TransportResponse(
        status: request.byteRange == nil ? 200 : 206,
        headers: [],
        address: request.address,
        expectedLength: Int64(bytes.count),
        body: TransportBody(bytes).measured(by: record, time),
        record: record
    )
}
