public import MediaTiming
public import NIOCore
public import ResourceAddressing

/// Where bytes come from: HTTP, a file, a cache, a link under conditions, a script of a test.
///
/// One request is one attempt. Whether another follows is decided by ``LoadErrorPolicy`` in ``ResourceLoading``, never
/// by a transport.
public protocol Transport: Sendable {
    /// Asks for a resource.
    ///
    /// - Returns: The response as soon as its head is there; the body comes as it arrives.
    /// - Throws: ``TransportError``; also for a status that is no success. 304 is one where the request
    ///   is conditional.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Where tasks that mostly wait for this transport change threads least; `nil` where any thread will do.
    ///
    /// It is for `withTaskExecutorPreference`. Nothing that runs there may block.
    var executor: (any TaskExecutor)? { get }
}

extension Transport {
    /// No thread is better than another.
    public var executor: (any TaskExecutor)? { nil }
}

/// What is asked for.
public struct TransportRequest: Sendable {
    /// What a resource is to its playlist; retries and headers may depend on it.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A playlist or a manifest.
        case playlist
        /// A media segment or a part of one.
        case segment
        /// What a decoder needs before segments.
        case initialization
        /// An encryption key.
        case key
        /// A segment of subtitles.
        case subtitle
        /// A picture or anything else.
        case other
    }

    /// Where it is, sent byte for byte as given.
    public var address: ResourceAddress
    /// What it is for.
    public var kind: Kind
    /// Which bytes of it; `nil` for all.
    public var byteRange: ByteRange?
    /// Where a body that was cut short goes on; `nil` for one from its beginning.
    public var resumption: Resumption?
    /// Header fields for the origin of ``address``, besides those of the transport.
    ///
    /// After a redirect to another origin they are not sent, but for `Range`.
    public var headers: [HeaderField]
    /// Header fields with the hosts that they are sent to, redirects included; none by default.
    ///
    /// A transport that sends requests over HTTP itself adds those that fit the address of each request that it sends.
    public var scopedHeaders: [ScopedHeaderField] = []

    /// Where a body goes on, and how to know that it is still the same (RFC 9110 §13.1.5).
    public struct Resumption: Sendable, Hashable {
        /// How many bytes of what was asked for are there already.
        public var offset: Int64
        /// The strong entity tag or the date of what they belong to.
        public var validator: String

        /// Makes a resumption.
        public init(offset: Int64, validator: String) {
            self.offset = offset
            self.validator = validator
        }
    }

    /// Makes a request.
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

    /// All header fields that are sent to ``address`` itself: those of ``scopedHeaders`` that fit it, then ``headers``.
    public var allHeaders: [HeaderField] { scopedHeaders.fields(for: address) + headers }

    /// Whether 304 may be the answer: a field asks the server whether what we have is still good (RFC 9110 §13.1).
    public var isConditional: Bool {
        allHeaders.contains { ["if-none-match", "if-modified-since"].contains($0.name.lowercased()) }
    }
}

/// A header field of HTTP.
public struct HeaderField: Sendable, Hashable {
    /// The name; case does not matter.
    public let name: String
    /// The value.
    public let value: String

    /// Makes a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Reads `Name: value`; `nil` where the name is no token or the value holds a control character.
    public init?(line: String) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // A name is a token (RFC 9110 §5.1), a value holds no control characters.
        let tokenBytes = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(tokenBytes.contains),
            parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { return nil }
        name = String(parts[0])
        value = String(parts[1].drop { $0 == " " || $0 == "\t" })
    }
}

/// What a transport answers.
public struct TransportResponse: Sendable {
    /// The status of HTTP, 200, 206 or 304; 200 for files.
    public let status: Int
    /// The header fields, in their order.
    public let headers: [HeaderField]
    /// Where the resource was found, behind all redirects: what its relative addresses stand on.
    public let address: ResourceAddress
    /// How many bytes the body will have; `nil` where that is not known.
    public let expectedLength: Int64?
    /// The bytes as they arrive.
    public let body: TransportBody
    /// What the transfer costs.
    public let record: TransferRecord

    /// Makes a response.
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

    /// The value of a header field, by name in any case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.isEqualASCII(ignoringCase: name) }?.value
    }
}

extension String {
    /// Whether two texts are equal but for the case of ASCII letters, as names of header fields are.
    fileprivate func isEqualASCII(ignoringCase other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { first, second in
                first == second || first | 0x20 == second | 0x20 && (0x61...0x7A).contains(first | 0x20)
            }
    }
}

/// The bytes of a response as they arrive; it can be read once.
public struct TransportBody: AsyncSequence, Sendable {
    private let makeIterator: @Sendable () -> any BufferIterator

    /// Makes a body of a sequence of buffers.
    public init<Buffers: AsyncSequence & Sendable>(_ buffers: Buffers) where Buffers.Element == ByteBuffer {
        makeIterator = { WrappedIterator(iterator: buffers.makeAsyncIterator()) }
    }

    /// Makes a body of bytes that are there already.
    public init(_ bytes: some Sequence<UInt8> & Sendable) {
        let buffer = ByteBuffer(bytes: bytes)
        makeIterator = { SingleBuffer(rest: buffer.readableBytes > 0 ? buffer : nil) }
    }

    /// The same bytes, noted in a record as they are read: for transports that see nothing of a wire.
    package func measured(by record: TransferRecord, _ time: any TimeSource) -> TransportBody {
        TransportBody(MeasuredBuffers(body: self, record: record, time: time))
    }

    /// Walks over the buffers.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var iterator: any BufferIterator

        /// The next element; `nil` behind the last.
        public mutating func next() async throws -> ByteBuffer? { try await iterator.nextBuffer() }
    }

    /// Makes an iterator.
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
                record.ended(at: time.now)
                return nil
            }
            record.received(buffer.readableBytes)
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.makeAsyncIterator(), record: record, time: time)
    }
}

private struct SingleBuffer: BufferIterator {
    var rest: ByteBuffer?

    mutating func nextBuffer() async throws -> ByteBuffer? {
        defer { rest = nil }
        return rest
    }
}
