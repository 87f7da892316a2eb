import AsyncHTTPClient
import MediaTiming
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOSSL
import Synchronization

/// A pool with one HTTP client for each host and numeric address, so that a connection uses the same address that was
/// resolved and checked.
final class HTTPClientPool: Sendable {
    private struct Endpoint: Hashable {
        let host: String
        let address: HostAddress?
    }

    private struct Entry {
        let client: HTTPClient
        var leaseCount = 0
        var lastUse = Duration.zero
    }

    private struct State {
        var clients: [Endpoint: Entry] = [:]
        var isShutDown = false

        /// Removes and returns idle clients, the least recently used first, until the given number remains.
        mutating func removeIdleClients(downTo count: Int) -> [HTTPClient] {
            guard clients.count > count else { return [] }
            let idle = clients.filter { $0.value.leaseCount == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
            return idle.prefix(clients.count - count).compactMap { clients.removeValue(forKey: $0.key)?.client }
        }
    }

    private let state = Mutex(State())
    private let options: HTTPTransport.Options
    private let time: any TimeSource
    private let hosts: HostCache
    let registry = ExchangeRegistry()

    /// The number of clients above which idle ones are closed, because a playlist can name any number of hosts.
    private static let maximumClientCount = 64
    /// The event loops of all connections.
    static var eventLoops: any EventLoopGroup { HTTPClient.defaultEventLoopGroup }

    init(_ options: HTTPTransport.Options, time: any TimeSource) {
        self.options = options
        self.time = time
        hosts = HostCache(options.lookups, time: time)
    }

    /// Closes the connections if the transport was released without a shutdown, for example after an error.
    deinit {
        for entry in state.withLock({ $0.clients.values }) { entry.client.shutdown { _ in } }
    }

    /// Returns the addresses of a host, and the duration of the lookup; `nil` for a host that was resolved recently.
    func resolve(_ host: String) async throws -> (addresses: [HostAddress], duration: Duration?) {
        try await hosts.resolve(host)
    }

    /// Removes the cached addresses of a host at which no server responded.
    func forget(_ host: String) { hosts.remove(host) }

    /// A reference to a client in use; the client is not closed while a lease for it exists.
    final class Lease: Sendable {
        let client: HTTPClient
        private let end: @Sendable () -> Void

        init(_ client: HTTPClient, onEnd end: @escaping @Sendable () -> Void) {
            self.client = client
            self.end = end
        }

        deinit { end() }
    }

    /// Returns a client for a host; the caller must hold the lease until the body of the response is received.
    func lease(_ host: String, at address: HostAddress?) throws -> Lease {
        let position = Endpoint(host: host, address: address)
        let now = time.now
        let (client, idle): (HTTPClient?, [HTTPClient]) = state.withLock { state in
            guard !state.isShutDown else { return (nil, []) }
            let idle =
                state.clients[position] == nil ? state.removeIdleClients(downTo: Self.maximumClientCount - 1) : []
            var entry = state.clients[position] ?? Entry(client: makeClient(position))
            entry.leaseCount += 1
            entry.lastUse = now
            state.clients[position] = entry
            return (entry.client, idle)
        }
        for client in idle { client.shutdown { _ in } }
        guard let client else { throw TransportError(.cannotConnect, "the transport was shut down") }
        return Lease(client) { [self] in state.withLock { $0.clients[position]?.leaseCount -= 1 } }
    }

    /// Closes all connections.
    func shutdown() async throws {
        let clients = state.withLock { state in
            state.isShutDown = true
            defer { state.clients = [:] }
            return state.clients.values.map(\.client)
        }
        for client in clients { try await client.shutdown() }
    }

    /// The number of bytes that are read first from a connection; it grows while reads are full.
    static let initialReadSize = 2 << 10

    /// Returns the part of the configuration of clients that depends only on the options.
    static func configuration(_ options: HTTPTransport.Options) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // The time of reading is limited by a handler of our own. The limit for connecting is also the one for the wait for
        // a connection of the pool, while all of them are in use.
        configuration.timeout = .init(connect: TimeAmount(limited: options.connectTimeout))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        configuration.connectionPool.idleTimeout = .seconds(30)
        // Retries are decided by the load error policy, not by the connection pool.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Deflate compresses by up to 1,032 to 1, but no real playlist is compressed by more than 250 to 1.
        configuration.decompression = .enabled(limit: .ratio(250))
        // No tracer is used, and describing each request to one would cost time.
        configuration.tracing.tracer = nil
        if options.acceptsAnyCertificate {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            configuration.tlsConfiguration = tls
        }
        if let proxy = options.proxy { configuration.proxy = .server(host: proxy.host, port: proxy.port) }
        return configuration
    }

    private func makeClient(_ position: Endpoint) -> HTTPClient {
        var configuration = Self.configuration(options)
        let readLimit = TimeAmount(limited: options.idleTimeout)
        if let address = position.address { configuration.dnsOverride = [position.host: address.description] }
        let (registry, time, readSize) = (registry, time, max(options.readSize, Self.initialReadSize))
        configuration.http1_1ConnectionDebugInitializer = {
            ExchangeObserver.observe($0, registry, time, readLimit: readLimit, readSize: readSize)
        }
        configuration.http2ConnectionDebugInitializer = { channel in
            registry.markUnused(channel)
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        configuration.http2StreamChannelDebugInitializer = {
            ExchangeObserver.observe(stream: $0, registry, time, readLimit: readLimit)
        }
        return HTTPClient(eventLoopGroup: Self.eventLoops, configuration: configuration)
    }
}

extension TimeAmount {
    /// Creates an amount of time that is limited to 0 to 365 days, which fits into nanoseconds.
    init(limited duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(31_536_000)).components
        self = .nanoseconds(seconds *| 1_000_000_000 +| attoseconds / 1_000_000_000)
    }
}
