public import MediaTiming
public import NIOCore
public import ResourceAddressing

/// Where bytes come from: HTTP, a file, a script of a test.
///
/// One request is one attempt. Whether another follows is decided by ``LoadErrorPolicy`` in ``ResourceLoading``, never
/// by a transport.
public protocol Transport: Sendable {
    /// Asks for a resource.
    ///
    /// - Returns: The response as soon as its head is there; the body comes as it arrives.
    /// - Throws: ``TransportError``; also for a status that is no success.
    func send(_ request: TransportRequest) async throws -> TransportResponse
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
    /// Header fields to send besides those of the transport.
    public var headers: [HeaderField]

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
    /// The status of HTTP, 200 or 206; 200 for files.
    public let status: Int
    /// The header fields, in their order.
    public let headers: [HeaderField]
    /// Where the resource was found, behind all redirects: what its relative addresses stand on.
    public let address: ResourceAddress
    /// How many bytes the body will have; `nil` where that is not known.
    public let expectedLength: Int64?
    /// The bytes as they arrive.
    public let body: TransportBody

    /// Makes a response.
    public init(
        status: Int,
        headers: [HeaderField],
        address: ResourceAddress,
        expectedLength: Int64?,
        body: TransportBody
    ) {
        self.status = status
        self.headers = headers
        self.address = address
        self.expectedLength = expectedLength
        self.body = body
    }

    /// The value of a header field, by name in any case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
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

private struct SingleBuffer: BufferIterator {
    var rest: ByteBuffer?

    mutating func nextBuffer() async throws -> ByteBuffer? {
        defer { rest = nil }
        return rest
    }
}
