public import MediaTiming
public import NIOCore
public import ResourceAddressing

/// A source of resources, such as HTTP, a file, a cache, a simulated link, or a scripted test.
///
/// A request is a single attempt. Retries are decided by ``RecoveryPolicy`` in ``ResourceLoader``, never by a
/// transport.
public protocol Transport: Sendable {
    /// Sends a request.
    ///
    /// - Returns: The response as soon as its head is received; the body follows as it arrives.
    /// - Throws: ``TransportError``, also for an unsuccessful HTTP status. Status 304 is successful if the request is
    ///   conditional.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// The executor on which tasks that mostly wait for this transport need the fewest thread switches; `nil` for no
    /// preference.
    ///
    /// It is intended for `withTaskExecutorPreference`. Code on it must not block.
    var executor: (any TaskExecutor)? { get }
}

extension Transport {
    /// The executor preference: none.
    public var executor: (any TaskExecutor)? { nil }
}

/// A request for a resource.
public struct TransportRequest: Sendable {
    /// The kind of resource in a presentation, on which retries and header fields may depend.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A playlist or a manifest.
        case playlist
        /// A media segment or a partial segment.
        case segment
        /// An initialization section (`EXT-X-MAP`).
        case initialization
        /// An encryption key.
        case key
        /// A subtitle segment.
        case subtitle
        /// An image or any other resource.
        case other
    }

    /// The URL of the resource, which is sent byte by byte as given.
    public var address: ResourceAddress
    /// The kind of resource.
    public var kind: Kind
    /// The byte range; `nil` for the entire resource.
    public var byteRange: ByteRange?
    /// The position at which an interrupted body is resumed; `nil` to start at the beginning.
    public var resumption: Resumption?
    /// The header fields for the origin of ``address``, in addition to those of the transport.
    ///
    /// After a redirect to another origin they are not sent, except for `Range`.
    public var headers: [HeaderField]
    /// The header fields with the hosts that they are sent to, including redirects; empty by default.
    ///
    /// An HTTP transport adds the fields whose scope contains the URL of each request that it sends.
    public var scopedHeaders: [ScopedHeaderField] = []

    /// The position at which a body is resumed, with a validator that detects changes of the resource (RFC 9110
    /// §13.1.5).
    public struct Resumption: Sendable, Hashable {
        /// The number of bytes of the request that were already received.
        public var offset: Int64
        /// The strong entity tag or the modification date of the received bytes.
        public var validator: String
        /// The length of the entire resource in bytes, of which the received bytes are a part; `nil`, the default, if it is
        /// unknown.
        public var totalLength: Int64?

        /// Creates a resumption.
        public init(offset: Int64, validator: String, totalLength: Int64? = nil) {
            self.offset = offset
            self.validator = validator
            self.totalLength = totalLength
        }
    }

    /// Creates a request.
    public init(
        _ address: ResourceAddress,
        kind: Kind,
        byteRange: ByteRange? = nil,
        headers: [HeaderField] = []
    ) {
        self.address = address
        self.kind = kind
        self.byteRange = byteRange
        self.headers = headers
    }

    /// The header fields that are sent to ``address``: those of ``scopedHeaders`` whose scope contains it, then
    /// ``headers``.
    public var allHeaders: [HeaderField] { scopedHeaders.fields(for: address) + headers }

    /// A Boolean value that indicates whether the request validates a stored response, so that 304 is a valid status
    /// (RFC 9110 §13.1).
    public var isConditional: Bool {
        allHeaders.contains { ["if-none-match", "if-modified-since"].contains($0.name.lowercased()) }
    }
}

/// An HTTP header field.
public struct HeaderField: Sendable, Hashable {
    /// The name, which is case-insensitive.
    public let name: String
    /// The value.
    public let value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Creates a field from `Name: value`; `nil` if the name is not a token or the value contains a control character.
    public init?(line: String) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // A name is a token (RFC 9110 §5.1), and a value contains no control characters.
        let tokenBytes = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(tokenBytes.contains),
            parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { return nil }
        name = String(parts[0])
        value = String(parts[1].drop { $0 == " " || $0 == "\t" })
    }
}

/// The response of a transport.
public struct TransportResponse: Sendable {
    /// The HTTP status: 200, 206, or 304; for files, 200 or 206.
    public let status: Int
    /// The header fields in the order in which they were received.
    public let headers: [HeaderField]
    /// The URL of the resource after all redirects, which is the base URL for relative URLs in it.
    public private(set) var address: ResourceAddress
    /// The length of the body in bytes; `nil` if it is unknown.
    public private(set) var expectedLength: Int64?
    /// The body, which is read as it arrives.
    public private(set) var body: TransportBody
    /// The measurement of the transfer in progress.
    public private(set) var record: TransferRecord
    /// A Boolean value that indicates whether the body is a playlist that may name local files although its URL is remote, because
    /// this process composed it of documents that were verified.
    package var mayNameFiles = false
    /// The measurements of the time that the body takes, if the resource may be a document.
    var documentTimers: [DocumentTimer] = []

    /// Ends the time limit of documents, because the resource is recognized as a media file by its first bytes.
    ///
    /// The minimum throughput remains.
    package func endDocumentTimeLimit() {
        for timer in documentTimers { timer.end() }
    }

    /// Creates a response.
    public init(
        status: Int,
        headers: [HeaderField],
        address: ResourceAddress,
        expectedLength: Int64?,
        body: TransportBody,
        record: TransferRecord = TransferRecord()
    ) {
        self.status = status
        self.headers = headers
        self.address = address
        self.expectedLength = expectedLength
        self.body = body
        self.record = record
    }

    /// Returns the response with another body of the same length.
    ///
    /// - Parameters:
    ///   - body: The body, which usually iterates that of this response.
    ///   - record: The measurement of the transfer; `nil`, the default, for that of this response.
    /// - Returns: The response.
    package func replacingBody(with body: TransportBody, record: TransferRecord? = nil) -> TransportResponse {
        var response = self
        response.body = body
        if let record { response.record = record }
        return response
    }

    /// Returns the response with bytes in memory as its body, whose transfer is not measured.
    package func replacingBody(with bytes: [UInt8]) -> TransportResponse {
        var response = replacingBody(with: TransportBody(bytes), record: TransferRecord())
        response.expectedLength = Int64(bytes.count)
        return response
    }

    /// Returns the response with another URL.
    func at(_ address: ResourceAddress) -> TransportResponse {
        var response = self
        response.address = address
        return response
    }

    /// Returns the value of the first header field with the given case-insensitive name.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.isEqualASCII(ignoringCase: name) }?.value
    }
}

extension String {
    /// Returns a Boolean value that indicates whether two texts are equal, ignoring the case of ASCII letters.
    fileprivate func isEqualASCII(ignoringCase other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { first, second in
                first == second || first | 0x20 == second | 0x20 && (0x61...0x7A).contains(first | 0x20)
            }
    }
}

/// The body of a response as a sequence of buffers, which can be iterated once.
public struct TransportBody: AsyncSequence, Sendable {
    private let makeIterator: @Sendable () -> any BufferIterator

    /// Creates a body from a sequence of buffers.
    public init<Buffers: AsyncSequence & Sendable>(_ buffers: Buffers) where Buffers.Element == ByteBuffer {
        makeIterator = { WrappedIterator(iterator: buffers.makeAsyncIterator()) }
    }

    /// Creates a body from bytes in memory.
    public init(_ bytes: some Sequence<UInt8> & Sendable) {
        let buffer = ByteBuffer(bytes: bytes)
        makeIterator = { SingleBuffer(remaining: buffer.readableBytes > 0 ? buffer : nil) }
    }

    /// Returns a body that adds the bytes to a record as they are read, for transports that do not observe the network.
    package func measured(by record: TransferRecord, _ time: any TimeSource) -> TransportBody {
        TransportBody(MeasuredBuffers(body: self, record: record, time: time))
    }

    /// An iterator over the buffers of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var iterator: any BufferIterator

        /// Returns the next buffer; `nil` after the last one.
        public mutating func next() async throws -> ByteBuffer? { try await iterator.nextBuffer() }
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: makeIterator()) }
}

private protocol BufferIterator {
    mutating func nextBuffer() async throws -> ByteBuffer?
}

private struct WrappedIterator<Iterator: AsyncIteratorProtocol>: BufferIterator where Iterator.Element == ByteBuffer {
    var iterator: Iterator

    mutating func nextBuffer() async throws -> ByteBuffer? { try await iterator.next(isolation: #isolation) }
}

private struct MeasuredBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let record: TransferRecord
    let time: any TimeSource

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let record: TransferRecord
        let time: any TimeSource

        mutating func next() async throws -> ByteBuffer? {
            guard let buffer = try await iterator.next() else {
                record.recordEnd(at: time.now)
                return nil
            }
            record.addReceivedBytes(buffer.readableBytes)
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.makeAsyncIterator(), record: record, time: time)
    }
}

private struct SingleBuffer: BufferIterator {
    var remaining: ByteBuffer?

    mutating func nextBuffer() async throws -> ByteBuffer? {
        defer { remaining = nil }
        return remaining
    }
}
