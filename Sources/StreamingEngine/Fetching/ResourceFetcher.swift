import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Synchronization

/// A resource that was loaded into memory, with the times of its transfer.
struct FetchedResource: Sendable {
    let bytes: ByteBuffer
    /// The address after all redirects.
    let address: ResourceAddress
    let contentType: String?
    let measurement: TransferMeasurement
    let startTime: Duration
    let endTime: Duration
    let status: Int
    /// A Boolean value that indicates whether a playlist at a remote address may name local files.
    var mayNameFiles = false
}

/// A loader of resources into memory, which repeats attempts that failed.
struct ResourceFetcher: Sendable {
    let loader: ResourceLoader
    let time: any TimeSource
    /// Called for each failed attempt that is repeated.
    var attemptFailed: (@Sendable (ResourceRequest, TransportError) -> Void)?

    /// The maximum size of a segment that is loaded without being played, one at a time.
    ///
    /// Two hours of media at a high bit rate in one segment are below this limit, so that it rejects only resources
    /// that are not segments. The segments of a player have lower limits; see ``SegmentSizeLimits``.
    static let maximumSegmentSize = ByteCount(1 << 30)

    /// Loads a resource.
    ///
    /// - Throws: `TransportError`, `CancellationError`.
    func load(
        _ request: TransportRequest,
        limit: ByteCount = maximumSegmentSize,
        monitor: TransferMonitor? = nil,
        budget: TransferBudget? = nil
    ) async throws -> FetchedResource {
        var began = time.now
        return try await load(request, &began, limit: limit, monitor: monitor, budget: budget)
    }

    /// Loads a resource.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - began: The time at which the request begins; changed to the start of the last attempt, also if it failed.
    ///   - limit: The maximum size of the resource.
    ///   - monitor: The observer of the transfer.
    ///   - budget: The budget against which the bytes of a segment or an initialization section count until the
    ///     transfer ends; `nil` for none.
    /// - Returns: The resource.
    /// - Throws: `TransportError`, also if the budget has no room for an initialization section; `CancellationError`.
    func load(
        _ request: TransportRequest,
        _ began: inout Duration,
        limit: ByteCount,
        monitor: TransferMonitor? = nil,
        budget: TransferBudget? = nil
    ) async throws -> FetchedResource {
        try await retrying(request, &began, monitor: monitor) { response, began in
            monitor?.responseReceived(response)
            if let expected = response.expectedLength, expected > limit.bytes { throw tooLargeError(limit, response) }
            var bytes = ByteBuffer()
            var held: Int64 = 0
            let isInitialization = request.kind == .initialization
            defer {
                if isInitialization {
                    budget?.releaseInitialization(held)
                } else {
                    budget?.release(held)
                }
            }
            for try await buffer in response.body {
                let count = Int64(buffer.readableBytes)
                guard held +| count <= limit.bytes else { throw tooLargeError(limit, response) }
                if isInitialization, let budget {
                    guard budget.reserveInitialization(count) else { throw initializationsTooLargeError(response) }
                } else {
                    try await budget?.reserve(count, besides: held)
                }
                held +|= count
                if bytes.readableBytes == 0 {
                    // A body that arrives in one buffer is not copied.
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
                startTime: began,
                endTime: time.now,
                status: response.status,
                mayNameFiles: response.mayNameFiles
            )
        }
    }

    /// Repeats a request until a response succeeds, and reports each failed attempt.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - began: The time at which the request begins; changed to the start of the last attempt, also if it failed.
    ///   - monitor: The observer of the transfer, which learns of the start of each attempt.
    ///   - consume: Reads the body of the response; its second argument is the start of the attempt.
    /// - Returns: The result of `consume`.
    /// - Throws: `TransportError`, `CancellationError`, and what `consume` throws.
    func retrying<Result>(
        _ request: TransportRequest,
        _ began: inout Duration,
        monitor: TransferMonitor? = nil,
        _ consume: (TransportResponse, Duration) async throws -> Result
    ) async throws -> Result {
        var start = began
        defer { began = start }
        monitor?.attemptStarted(at: start)
        return try await loader.send(request) { error, next in
            attemptFailed?(ResourceRequest(.init(request.kind), request, began: start, now: time.now, error), error)
            start = next
            monitor?.attemptStarted(at: next)
        } consume: { response in
            try await consume(response, start)
        }
    }

    private func initializationsTooLargeError(_ response: TransportResponse) -> TransportError {
        TransportError(
            .tooLarge,
            "the initialization sections that are loaded at the same time are too large together",
            address: response.address
        )
    }

    private func tooLargeError(_ limit: ByteCount, _ response: TransportResponse) -> TransportError {
        TransportError(.tooLarge, "the resource exceeds the maximum size of \(limit)", address: response.address)
    }
}

extension ResourceRequest {
    /// Creates the report of a request that was answered.
    init(_ kind: Kind, _ request: TransportRequest, _ fetched: FetchedResource) {
        let measurement = fetched.measurement
        self.init(
            kind: kind,
            address: request.address.withoutUserInformation.text,
            byteRange: request.byteRange,
            requestStart: fetched.startTime,
            responseStart: measurement.timeToFirstByte.map {
                min(fetched.endTime, max(fetched.startTime, measurement.requestStart + $0))
            },
            responseEnd: fetched.endTime,
            bytes: measurement.bytes == .zero ? ByteCount(Int64(fetched.bytes.readableBytes)) : measurement.bytes,
            wasReadFromCache: measurement.isFromCache
        )
        serverAddress = measurement.serverAddress
        status = fetched.status
    }

    /// Creates the report of a request that failed, or that was abandoned: without an error, or with a
    /// `CancellationError`.
    init(_ kind: Kind, _ request: TransportRequest, began: Duration, now: Duration, _ failure: (any Error)?) {
        self.init(
            kind: kind,
            address: request.address.withoutUserInformation.text,
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
    /// Creates the kind that reports give to requests of a kind of the transport.
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

/// The requests that ended outside of the engine's events, such as those for keys, in order, until the engine reports
/// them.
final class PendingRequestReports: Sendable {
    private let list = Mutex<[(ResourceRequest, TransportError?)]>([])

    /// Adds a request; with its error if the attempt failed and is repeated.
    func add(_ request: ResourceRequest, _ error: TransportError?) { list.withLock { $0.append((request, error)) } }

    /// A Boolean value that indicates whether no request waits to be delivered.
    var isEmpty: Bool { list.withLock { $0.isEmpty } }

    /// Removes and returns the requests.
    func removeAll() -> [(ResourceRequest, TransportError?)] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
