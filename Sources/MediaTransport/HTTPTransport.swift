import AsyncHTTPClient
import Foundation
import MediaTiming
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import ResourceAddressing

/// HTTP/1.1 and HTTP/2 over AsyncHTTPClient, connections kept alive.
public final class HTTPTransport: Transport {
    /// How to ask.
    public struct Options: Sendable {
        /// What we call ourselves.
        public var userAgent: String
        /// Header fields for requests to ``trustedAddresses``: they may be secrets.
        public var headers: [HeaderField]
        /// The addresses whose sites get ``headers``; `nil` sends them to every host that is asked directly.
        public var trustedAddresses: [ResourceAddress]?
        /// How long a connection may take.
        public var connectTimeout: Duration
        /// How long nothing may come.
        public var idleTimeout: Duration
        /// Whether certificates that nobody vouches for are taken.
        public var acceptsAnyCertificate: Bool
        /// An HTTP proxy, as host and port.
        public var proxy: (host: String, port: Int)?
        /// How many redirects are followed, one after the other.
        public var redirectLimit: Int
        /// Whether an address may be asked for, redirects among them: a server that fetches for others has to refuse some.
        public var mayVisit: @Sendable (ResourceAddress) async -> Bool

        /// Makes options; what is not given is what a player would do.
        public init(
            userAgent: String = "Millstream/0.1",
            headers: [HeaderField] = [],
            connectTimeout: Duration = .seconds(10),
            idleTimeout: Duration = .seconds(20),
            acceptsAnyCertificate: Bool = false,
            proxy: (host: String, port: Int)? = nil,
            redirectLimit: Int = 10,
            mayVisit: @escaping @Sendable (ResourceAddress) async -> Bool = { _ in true }
        ) {
            self.userAgent = userAgent
            self.headers = headers
            self.connectTimeout = connectTimeout
            self.idleTimeout = idleTimeout
            self.acceptsAnyCertificate = acceptsAnyCertificate
            self.proxy = proxy
            self.redirectLimit = redirectLimit
            self.mayVisit = mayVisit
        }
    }

    private let client: HTTPClient
    private let options: Options

    /// Makes a transport with connections of its own; end it with ``shutdown()``.
    public init(_ options: Options = Options()) {
        self.options = options
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(
            connect: TimeAmount(options.connectTimeout),
            read: TimeAmount(options.idleTimeout)
        )
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        // A refused connection is an answer: whether to ask again is for the policy to say, not for the pool.
        configuration.connectionPool.retryConnectionEstablishment = false
        if options.acceptsAnyCertificate {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            configuration.tlsConfiguration = tls
        }
        if let proxy = options.proxy { configuration.proxy = .server(host: proxy.host, port: proxy.port) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Ends all connections; nothing can be asked for any more.
    public func shutdown() async throws {
        try await client.shutdown()
    }

    /// Asks for a resource; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var address = request.address
        for _ in 0...options.redirectLimit {
            guard address.isHTTP else {
                throw TransportError(.addressRefused, "not an http address", address: address)
            }
            guard await options.mayVisit(address) else {
                throw TransportError(.addressRefused, "this address may not be loaded", address: address)
            }
            let response = try await attempt(request, at: address)
            let status = Int(response.status.code)
            guard [301, 302, 303, 307, 308].contains(status) else {
                return try checked(response, request, address)
            }
            guard let location = response.headers.first(name: "Location") else {
                throw TransportError(.badRedirect, "a redirect without Location", address: address, status: status)
            }
            address = address.resolving(location)
        }
        throw TransportError(
            .badRedirect,
            "more than \(options.redirectLimit) redirects",
            address: request.address
        )
    }

    private func attempt(_ request: TransportRequest, at address: ResourceAddress) async throws -> HTTPClientResponse {
        // A fragment is the client's own business (RFC 9110 §7.1).
        let withoutFragment = address.text.split(separator: "#", maxSplits: 1).first.map(String.init) ?? address.text
        var outgoing = HTTPClientRequest(url: withoutFragment)
        outgoing.headers.add(name: "User-Agent", value: options.userAgent)
        outgoing.headers.add(name: "Accept", value: "*/*")
        let isFirstHost = address.host == request.address.host && address.port == request.address.port
        let isTrusted = options.trustedAddresses.map { $0.contains { address.sharesSite(with: $0) } } ?? isFirstHost
        for field in (isTrusted ? options.headers : []) + (isFirstHost ? request.headers : []) {
            outgoing.headers.replaceOrAdd(name: field.name, value: field.value)
        }
        if let range = request.byteRange {
            outgoing.headers.replaceOrAdd(name: "Range", value: "bytes=\(range.start)-\(range.end - 1)")
        }
        do {
            return try await client.execute(outgoing, deadline: .distantFuture)
        } catch {
            throw TransportError.translating(error, address: address)
        }
    }

    /// Only what was asked for is passed on.
    private func checked(
        _ response: HTTPClientResponse,
        _ request: TransportRequest,
        _ address: ResourceAddress
    ) throws -> TransportResponse {
        let status = Int(response.status.code)
        guard status == 200 || status == 206 else {
            throw TransportError(
                .status,
                "the server answered \(status) \(response.status.reasonPhrase)",
                address: address,
                status: status,
                retryAfter: Self.retryAfter(response.headers)
            )
        }
        if let range = request.byteRange {
            guard status == 206 || range.start == 0 else {
                throw TransportError(
                    .wrongContent,
                    "the server does not serve byte ranges",
                    address: address,
                    status: status
                )
            }
            if let answered = response.headers.first(name: "Content-Range"),
                !answered.hasPrefix("bytes \(range.start)-")
            {
                throw TransportError(
                    .wrongContent,
                    "the server sent the range \(answered)",
                    address: address,
                    status: status
                )
            }
        }
        let length = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
        let body = MappedErrorBody(body: response.body, address: address)
        return TransportResponse(
            status: status,
            headers: response.headers.map { HeaderField($0.name, $0.value) },
            address: address,
            expectedLength: length,
            body: TransportBody(body)
        )
    }

    private static func retryAfter(_ headers: HTTPHeaders) -> Duration? {
        headers.first(name: "Retry-After").flatMap { Int64($0) }.flatMap { $0 >= 0 ? .seconds($0) : nil }
    }
}

/// A body whose errors are ours.
private struct MappedErrorBody: AsyncSequence, Sendable {
    let body: HTTPClientResponse.Body
    let address: ResourceAddress

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: HTTPClientResponse.Body.AsyncIterator
        let address: ResourceAddress

        mutating func next() async throws -> ByteBuffer? {
            do {
                return try await iterator.next(isolation: #isolation)
            } catch {
                throw TransportError.translating(error, address: address)
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: body.makeAsyncIterator(), address: address) }
}

extension TransportError {
    /// What an error of the client means; a cancellation stays one.
    fileprivate static func translating(_ error: any Error, address: ResourceAddress) -> any Error {
        if error is CancellationError || error is TransportError { return error }
        if let error = error as? HTTPClientError, error == .cancelled { return CancellationError() }
        let (code, message): (Code, String) =
            switch error {
            case let error as HTTPClientError: meaning(of: error)
            case let error as NIOConnectionError where error.connectionErrors.isEmpty:
                (.unknownHost, "the host name cannot be resolved")
            case is NIOConnectionError: (.cannotConnect, "no connection could be made")
            case is NIOSSLError: (.insecure, "TLS failed (\(error))")
            case let error as IOError where Self.isRefusal(error.errnoCode):
                (.cannotConnect, "no connection could be made")
            case is IOError, is ChannelError: (.connectionLost, "the connection broke (\(error))")
            default: (.connectionLost, "the request failed (\(error))")
            }
        return TransportError(code, message, address: address)
    }

    /// Whether a system call failed because nobody is there.
    private static func isRefusal(_ code: CInt) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL].contains(code)
    }

    private static func meaning(of error: HTTPClientError) -> (Code, String) {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout: (.cannotConnect, "no connection within the time allowed")
        case .readTimeout, .deadlineExceeded: (.timedOut, "nothing came within the time allowed")
        case .invalidURL, .emptyHost, .emptyScheme: (.addressRefused, "the address cannot be read")
        case .tlsHandshakeTimeout: (.insecure, "TLS took longer than the time allowed")
        case .remoteConnectionClosed, .uncleanShutdown: (.connectionLost, "the server closed the connection")
        default: (.connectionLost, "the request failed (\(error))")
        }
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
