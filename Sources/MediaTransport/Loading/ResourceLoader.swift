public import MediaTiming
import NIOCore
public import ResourceAddressing

/// A loader that retries failed requests as its policy decides, resumes interrupted bodies, and validates responses.
public struct ResourceLoader: Sendable {
    /// The transport that sends the requests.
    public internal(set) var transport: any Transport
    /// The policy for failed requests.
    public let policy: RecoveryPolicy
    /// The status of the network that is used; `nil` if it is unknown.
    public internal(set) var network: NetworkStatus?
    private let time: any TimeSource
    private let jitter: @Sendable () -> Double

    /// The default maximum size of a resource that is loaded into memory; playlists and keys are smaller.
    public static let defaultSizeLimit = ByteCount(256 << 20)

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - policy: The policy for failed requests.
    ///   - time: The clock for delays.
    ///   - jitter: A source of random numbers from 0 to 1 that spread the retries of many clients.
    public init(
        _ transport: any Transport,
        policy: RecoveryPolicy = RecoveryPolicy(),
        time: any TimeSource = SystemTimeSource(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.transport = transport
        self.policy = policy
        self.time = time
        self.jitter = jitter
    }

    /// Returns a copy of the loader with a transport that wraps the transport of this loader.
    public func wrappingTransport(_ makeTransport: (any Transport) -> any Transport) -> ResourceLoader {
        var loading = self
        loading.transport = makeTransport(transport)
        return loading
    }

    /// A resource in memory.
    public struct Loaded: Sendable {
        /// The bytes of the resource.
        public let bytes: [UInt8]
        /// The URL of the resource after all redirects.
        public let address: ResourceAddress
        /// The media type that the server sent.
        public let contentType: String?
        /// The measurement of the transfer.
        public let measurement: TransferMeasurement
    }

    /// Loads a resource into memory.
    ///
    /// - Throws: ``TransportError`` after the last attempt, `CancellationError` when canceled.
    public func load(_ request: TransportRequest, limit: ByteCount = defaultSizeLimit) async throws -> Loaded {
        try await send(request) { response in try await Loaded(reading: response, limit: limit) }
    }

    /// Sends a request, and repeats it after failures until `consume` has read the body of a response.
    ///
    /// The body is verified against the announced length, the minimum throughput and, for a document, its time limit. If
    /// the connection is lost and the server provides a validator, the body is resumed with a range request, which
    /// `consume` does not notice.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - onRetry: A closure that is called for each failed attempt before a retry, with the error and the time of
    ///     the retry.
    ///   - consume: A closure that reads the body. It is called again for each attempt, with a body that starts at the
    ///     first byte.
    /// - Returns: The result of `consume`.
    /// - Throws: ``TransportError`` after the last attempt; any other error that `consume` throws, without a retry.
    public func send<Result>(
        _ request: TransportRequest,
        onRetry: (_ error: TransportError, _ nextTry: Duration) -> Void = { _, _ in },
        consume: (TransportResponse) async throws -> Result
    ) async throws -> Result {
        var history = RecoveryPolicy.History()
        let timer = DocumentTimer(request, limit: policy.documentTimeLimit)
        while true {
            try Task.checkCancellation()
            timer?.beginAttempt()
            do {
                let response = try await transport.sendFollowingRedirects(request)
                return try await consume(resumable(response, of: request, timer))
            } catch let error as TransportError {
                // The caller continues what it received earlier, and starts anew if that is not possible.
                if request.resumption != nil, error.mayBeCausedByResumption { throw error }
                let failure = RecoveryPolicy.Failure(error, of: request.kind)
                guard let delay = policy.retryDelay(after: failure, of: request.kind, &history, jitter: jitter())
                else { throw history.attempts > 1 ? error.after(attempts: history.attempts) : error }
                onRetry(error, time.now + delay)
                try await time.sleep(for: delay)
            }
        }
    }

    /// Sends a request, and repeats it after failures until a response begins, whose body is verified and resumed as for
    /// ``send(_:onRetry:consume:)``.
    ///
    /// - Throws: ``TransportError`` after the last attempt.
    fileprivate func response(_ request: TransportRequest) async throws -> TransportResponse {
        try await send(request) { $0 }
    }

    private func resumable(
        _ response: TransportResponse,
        of request: TransportRequest,
        _ timer: DocumentTimer?
    ) throws -> TransportResponse {
        guard response.status != 304 else { return response }
        let buffers = ResumableBuffers(
            request: request,
            response: response,
            transport: transport,
            policy: policy,
            timer: timer,
            time: time,
            jitter: jitter
        )
        var resumable = response.replacingBody(with: TransportBody(buffers))
        if let timer { resumable.documentTimers.append(timer) }
        return resumable
    }
}

/// A transport that repeats failed requests and resumes interrupted bodies, for a client that does neither.
package struct RecoveringTransport: Transport {
    private let loader: ResourceLoader

    /// Creates a transport with the transport and the policy of a loader.
    package init(_ loader: ResourceLoader) { self.loader = loader }

    /// The executor of the transport of the loader.
    package var executor: (any TaskExecutor)? { loader.transport.executor }

    /// Sends a request; see `Transport`.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await loader.response(request)
    }
}

extension TransportError {
    /// A Boolean value that indicates whether a request for the rest of a resource may succeed from the first byte: the
    /// resource changed, or the server does not send its rest.
    package var mayBeCausedByResumption: Bool { code == .contentChanged || code == .wrongContent }
}

extension ResourceLoader.Loaded {
    /// Creates a resource by reading the body of a response into memory.
    init(reading response: TransportResponse, limit: ByteCount) async throws {
        func verify(_ count: Int64) throws {
            guard count <= limit.bytes else {
                throw TransportError(
                    .tooLarge,
                    "the resource exceeds the maximum size of \(limit)",
                    address: response.address
                )
            }
        }
        var bytes: [UInt8] = []
        try verify(response.expectedLength ?? 0)
        for try await buffer in response.body {
            try verify(Int64(bytes.count + buffer.readableBytes))
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        self.init(
            bytes: bytes,
            address: response.address,
            contentType: response.header("Content-Type"),
            measurement: response.record.measurement
        )
    }
}

extension TransportRequest.Kind {
    /// The kind of resource as a noun for messages.
    var displayName: String {
        switch self {
        case .playlist: "a playlist"
        case .segment, .initialization, .other: "media"
        case .key: "a key"
        case .subtitle: "subtitles"
        }
    }
}
