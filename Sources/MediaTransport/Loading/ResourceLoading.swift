public import MediaTiming
import NIOCore
public import ResourceAddressing

/// Loads resources through a transport: tries again where the policy says so, goes on where a body was cut short, and passes
/// on nothing that cannot be what was asked for.
public struct ResourceLoading: Sendable {
    /// Where bytes come from.
    public internal(set) var transport: any Transport
    /// Whether and when to try again.
    public let policy: LoadErrorPolicy
    /// What is known of the network that they come over; `nil` for nothing.
    public internal(set) var network: NetworkStatus?
    private let time: any TimeSource
    private let jitter: @Sendable () -> Double

    /// The most bytes a playlist or a key may have: anything larger is something else.
    public static let playlistLimit = ByteCount(256 << 20)

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - transport: Where bytes come from.
    ///   - policy: Whether and when to try again.
    ///   - time: The clock that waits go by.
    ///   - jitter: Numbers from 0 up to 1 that spread the tries of many clients.
    public init(
        _ transport: any Transport,
        policy: LoadErrorPolicy = LoadErrorPolicy(),
        time: any TimeSource = SystemTimeSource(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.transport = transport
        self.policy = policy
        self.time = time
        self.jitter = jitter
    }

    /// The same through another transport, made of this one's.
    public func through(_ makeTransport: (any Transport) -> any Transport) -> ResourceLoading {
        var loading = self
        loading.transport = makeTransport(transport)
        return loading
    }

    /// A whole resource in memory.
    public struct Loaded: Sendable {
        /// The bytes.
        public let bytes: [UInt8]
        /// Where they were found, behind all redirects.
        public let address: ResourceAddress
        /// The media type as the server gave it.
        public let contentType: String?
        /// What the transfer cost.
        public let measurement: TransferMeasurement
    }

    /// Loads a resource into memory.
    ///
    /// - Throws: ``TransportError`` after the last try, `CancellationError` when cancelled.
    public func load(_ request: TransportRequest, limit: ByteCount = playlistLimit) async throws -> Loaded {
        try await retrying(request) { response in
            var bytes: [UInt8] = []
            if let expected = response.expectedLength, expected > limit.bytes { throw tooLarge(limit, response) }
            for try await buffer in response.body {
                guard Int64(bytes.count + buffer.readableBytes) <= limit.bytes else { throw tooLarge(limit, response) }
                bytes.append(contentsOf: buffer.readableBytesView)
            }
            return Loaded(
                bytes: bytes,
                address: response.address,
                contentType: response.header("Content-Type"),
                measurement: response.record.measurement
            )
        }
    }

    /// Asks until a response came whose whole body `consume` could use.
    ///
    /// The body is as long as it was announced, and comes at a bearable pace; where a connection breaks and the server can
    /// prove that the resource is still the same, it goes on from where it stopped, unnoticed.
    ///
    /// - Parameters:
    ///   - request: What to ask for.
    ///   - tryFailed: Told of each try that failed and is followed by another: why, and when that one is made.
    ///   - consume: Reads the body; it is called anew, from the first byte, for each try.
    /// - Returns: What `consume` made of the body.
    /// - Throws: ``TransportError`` after the last try, and whatever else `consume` throws, at once.
    public func retrying<Result>(
        _ request: TransportRequest,
        tryFailed: (_ error: TransportError, _ nextTry: Duration) -> Void = { _, _ in },
        consume: (TransportResponse) async throws -> Result
    ) async throws -> Result {
        var attempt = 0
        while true {
            try Task.checkCancellation()
            do {
                return try await consume(guarded(try await transport.send(request), of: request))
            } catch let error as TransportError {
                attempt += 1
                let decision = policy.decision(after: error, of: request.kind, attempt: attempt, jitter: jitter())
                guard case .retry(let delay) = decision else { throw error }
                tryFailed(error, time.now + delay)
                try await time.sleep(for: delay)
            }
        }
    }

    private func guarded(_ response: TransportResponse, of request: TransportRequest) throws -> TransportResponse {
        guard response.status != 304 else { return response }
        let buffers = GuardedBuffers(
            request: request,
            response: response,
            transport: transport,
            policy: policy,
            time: time,
            jitter: jitter
        )
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: response.expectedLength,
            body: TransportBody(buffers),
            record: response.record
        )
    }

    private func tooLarge(_ limit: ByteCount, _ response: TransportResponse) -> TransportError {
        TransportError(.tooLarge, "the resource is larger than \(limit)", address: response.address)
    }
}

extension TransportRequest.Kind {
    /// What people call it.
    var noun: String {
        switch self {
        case .playlist: "a playlist"
        case .segment, .initialization, .other: "media"
        case .key: "a key"
        case .subtitle: "text"
        }
    }
}
