import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Synchronization

/// A resource in memory, and what it took to get it there.
struct FetchedResource: Sendable {
    let bytes: ByteBuffer
    /// Where it was found, behind all redirects.
    let address: ResourceAddress
    let contentType: String?
    let measurement: TransferMeasurement
    let began: Duration
    let ended: Duration
    let status: Int
}

/// Loads resources into memory, and looks on.
struct ResourceFetch: Sendable {
    let loading: ResourceLoading
    let time: any TimeSource
    /// Told of tries that failed and were followed by another.
    var tryFailed: (@Sendable (ResourceRequest, TransportError) -> Void)?

    /// A segment larger than this is none; two hours of a high bit rate in one file are below.
    static let segmentLimit = ByteCount(1 << 30)

    /// Loads a resource.
    ///
    /// - Throws: `TransportError`, `CancellationError`.
    func load(
        _ request: TransportRequest,
        limit: ByteCount = segmentLimit,
        watch: TransferWatch? = nil
    ) async throws -> FetchedResource {
        var began = time.now
        return try await retrying(request, &began) { response, began in
            watch?.answered(response)
            if let expected = response.expectedLength, expected > limit.bytes { throw tooLarge(limit, response) }
            var bytes = ByteBuffer()
            for try await buffer in response.body {
                guard Int64(bytes.readableBytes + buffer.readableBytes) <= limit.bytes else {
                    throw tooLarge(limit, response)
                }
                if bytes.readableBytes == 0 {
                    // What comes in one go need not be copied.
                    bytes = buffer
                    guard let expected = response.expectedLength, expected > Int64(buffer.readableBytes) else {
                        continue
                    }
                    bytes = ByteBuffer()
                    bytes.reserveCapacity(Int(clamping: min(expected, 64 << 20)))
                }
                bytes.writeImmutableBuffer(buffer)
            }
            return FetchedResource(
                bytes: bytes,
                address: response.address,
                contentType: response.header("Content-Type"),
                measurement: response.record.measurement,
                began: began,
                ended: time.now,
                status: response.status
            )
        }
    }

    /// Asks until there is an answer, and tells of each try that failed.
    ///
    /// - Parameters:
    ///   - request: What to ask for.
    ///   - began: When; of several tries, when the last one was made.
    ///   - consume: Reads the body.
    /// - Returns: What `consume` made of it.
    /// - Throws: `TransportError`, `CancellationError`, and what `consume` throws.
    func retrying<Result>(
        _ request: TransportRequest,
        _ began: inout Duration,
        _ consume: (TransportResponse, Duration) async throws -> Result
    ) async throws -> Result {
        var start = began
        defer { began = start }
        return try await loading.retrying(request) { error, next in
            tryFailed?(ResourceRequest(.init(request.kind), request, began: start, now: time.now, error), error)
            start = next
        } consume: { response in
            try await consume(response, start)
        }
    }

    private func tooLarge(_ limit: ByteCount, _ response: TransportResponse) -> TransportError {
        TransportError(.tooLarge, "the resource is larger than \(limit)", address: response.address)
    }
}

extension ResourceRequest {
    /// The report of a request that was answered.
    init(_ kind: Kind, _ request: TransportRequest, _ fetched: FetchedResource) {
        let measurement = fetched.measurement
        self.init(
            kind: kind,
            address: request.address.text,
            byteRange: request.byteRange,
            requestStart: fetched.began,
            responseStart: measurement.firstByte.map { min(fetched.ended, max(fetched.began, measurement.sent + $0)) },
            responseEnd: fetched.ended,
            bytes: measurement.bytes == .zero ? ByteCount(Int64(fetched.bytes.readableBytes)) : measurement.bytes,
            wasReadFromCache: measurement.isFromCache
        )
        serverAddress = measurement.serverAddress
        status = fetched.status
    }

    /// The report of a request that failed or was given up.
    init(_ kind: Kind, _ request: TransportRequest, began: Duration, now: Duration, _ failure: (any Error)?) {
        self.init(
            kind: kind,
            address: request.address.text,
            byteRange: request.byteRange,
            requestStart: began,
            responseStart: nil,
            responseEnd: now,
            bytes: .zero
        )
        if let failure = failure as? TransportError {
            status = failure.status
            serverAddress = failure.serverAddress
            self.failure = failure.message
        } else if let failure, !(failure is CancellationError) {
            self.failure = "\(failure)"
        } else {
            wasAbandoned = true
        }
    }
}

extension ResourceRequest.Kind {
    /// What is asked for in this way.
    fileprivate init(_ kind: TransportRequest.Kind) {
        self =
            switch kind {
            case .playlist: .mediaPlaylist
            case .segment, .subtitle: .mediaSegment
            case .initialization: .initialization
            case .key: .contentKey
            case .other: .other
            }
    }
}

/// Requests that were made aside, in their order, until an engine tells of them.
final class NotedRequests: Sendable {
    private let list = Mutex<[(ResourceRequest, TransportError?)]>([])

    /// Notes one; with an error where it failed and another try follows.
    func add(_ request: ResourceRequest, _ error: TransportError?) { list.withLock { $0.append((request, error)) } }

    /// A Boolean value that indicates whether no request waits to be delivered.
    var isEmpty: Bool { list.withLock { $0.isEmpty } }

    /// Returns the requests, each of them once.
    func take() -> [(ResourceRequest, TransportError?)] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
