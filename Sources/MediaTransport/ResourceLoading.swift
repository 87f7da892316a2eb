public import MediaTiming
import NIOCore
public import ResourceAddressing

/// Loads resources through a transport, again where the policy says so.
public struct ResourceLoading: Sendable {
    /// Where bytes come from.
    public let transport: any Transport
    /// Whether and when to try again.
    public let policy: LoadErrorPolicy
    private let time: any TimeSource

    /// The most bytes a playlist or a key may have: anything larger is something else.
    public static let playlistLimit = ByteCount(256 << 20)

    /// Makes a loader.
    public init(
        _ transport: any Transport,
        policy: LoadErrorPolicy = LoadErrorPolicy(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.transport = transport
        self.policy = policy
        self.time = time
    }

    /// A whole resource in memory.
    public struct Loaded: Sendable {
        /// The bytes.
        public let bytes: [UInt8]
        /// Where they were found, behind all redirects.
        public let address: ResourceAddress
        /// The media type as the server gave it.
        public let contentType: String?
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
            try checkLength(Int64(bytes.count), of: response)
            return Loaded(bytes: bytes, address: response.address, contentType: response.header("Content-Type"))
        }
    }

    /// Asks until a response came whose whole body `consume` could use.
    ///
    /// - Parameters:
    ///   - request: What to ask for.
    ///   - consume: Reads the body; it is called anew, from the first byte, for each try.
    /// - Returns: What `consume` made of the body.
    /// - Throws: ``TransportError`` after the last try, and whatever else `consume` throws, at once.
    public func retrying<Result>(
        _ request: TransportRequest,
        _ consume: (TransportResponse) async throws -> Result
    ) async throws -> Result {
        var attempt = 0
        while true {
            try Task.checkCancellation()
            do {
                return try await consume(try await transport.send(request))
            } catch let error as TransportError {
                attempt += 1
                let jitter = Double.random(in: 0..<1)
                guard let delay = policy.delay(after: error, attempt: attempt, jitter: jitter) else { throw error }
                try await time.sleep(for: delay)
            }
        }
    }

    private func tooLarge(_ limit: ByteCount, _ response: TransportResponse) -> TransportError {
        TransportError(.tooLarge, "the resource is larger than \(limit)", address: response.address)
    }

    /// A body that is shorter or longer than announced is not the resource.
    package func checkLength(_ received: Int64, of response: TransportResponse) throws {
        guard let expected = response.expectedLength, expected != received else { return }
        throw TransportError(
            .connectionLost,
            "\(received) of \(expected) bytes came",
            address: response.address,
            status: response.status
        )
    }
}
