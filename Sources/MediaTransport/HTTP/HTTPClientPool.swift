import AsyncHTTPClient
import MediaTiming
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOSSL
import Synchronization

/// One client for each numeric address of a host, so that a connection goes to the very host that was looked up and judged.
final class HTTPClientPool: Sendable {
    private struct Place: Hashable {
        let host: String
        let address: HostAddress?
    }

    private struct Entry {
        let client: HTTPClient
        var running = 0
        var lastUse = Duration.zero
    }

    private struct State {
        var clients: [Place: Entry] = [:]
        var isShutDown = false

        /// Takes out clients that nothing is asked of, the least recently used first.
        mutating func takeIdle(downTo count: Int) -> [HTTPClient] {
            guard clients.count > count else { return [] }
            let idle = clients.filter { $0.value.running == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
            return idle.prefix(clients.count - count).compactMap { clients.removeValue(forKey: $0.key)?.client }
        }
    }

    private let state = Mutex(State())
    private let options: HTTPTransport.Options
    private let time: any TimeSource
    private let hosts: HostCache
    let registry = ExchangeRegistry()

    /// A playlist can name many hosts; of those that nothing is asked of, some are forgotten.
    private static let mostClients = 64
    /// What all connections run on.
    static var eventLoops: any EventLoopGroup { HTTPClient.defaultEventLoopGroup }

    init(_ options: HTTPTransport.Options, time: any TimeSource) {
        self.options = options
        self.time = time
        hosts = HostCache(options.lookups, time: time)
    }

    /// Returns the addresses of a host, and the time that the look-up took; `nil` for a host that was resolved lately.
    func resolve(_ host: String) async throws -> (addresses: [HostAddress], duration: Duration?) {
        try await hosts.resolve(host)
    }

    /// Forgets the addresses of a host because no server answered there.
    func forget(_ host: String) { hosts.remove(host) }

    /// The use of a client: as long as there is a reference to it, its connections stay.
    final class Lease: Sendable {
        let client: HTTPClient
        private let end: @Sendable () -> Void

        init(_ client: HTTPClient, onEnd end: @escaping @Sendable () -> Void) {
            self.client = client
            self.end = end
        }

        deinit { end() }
    }

    /// The client for a host, to be held until the body of its answer has come.
    func lease(_ host: String, at address: HostAddress?) throws -> Lease {
        let place = Place(host: host, address: address)
        let now = time.now
        let (client, idle): (HTTPClient?, [HTTPClient]) = state.withLock { state in
            guard !state.isShutDown else { return (nil, []) }
            let idle = state.clients[place] == nil ? state.takeIdle(downTo: Self.mostClients - 1) : []
            var entry = state.clients[place] ?? Entry(client: makeClient(place))
            entry.running += 1
            entry.lastUse = now
            state.clients[place] = entry
            return (entry.client, idle)
        }
        for client in idle { client.shutdown { _ in } }
        guard let client else { throw TransportError(.cannotConnect, "the transport was shut down") }
        return Lease(client) { [self] in state.withLock { $0.clients[place]?.running -= 1 } }
    }

    /// Ends all connections.
    func shutdown() async throws {
        let clients = state.withLock { state in
            state.isShutDown = true
            defer { state.clients = [:] }
            return state.clients.values.map(\.client)
        }
        for client in clients { try await client.shutdown() }
    }

    private func makeClient(_ place: Place) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(
            connect: TimeAmount(limited: options.connectTimeout),
            read: TimeAmount(limited: options.idleTimeout)
        )
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        configuration.connectionPool.idleTimeout = .seconds(30)
        // A refused connection is an answer: whether to ask again is for the policy to say, not for the pool.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Deflate cannot do better than 1,032 to 1; what is smaller by so much is no playlist.
        configuration.decompression = .enabled(limit: .ratio(250))
        // Nobody traces, and to describe each request to nobody costs time.
        configuration.tracing.tracer = nil
        if options.acceptsAnyCertificate {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            configuration.tlsConfiguration = tls
        }
        if let proxy = options.proxy { configuration.proxy = .server(host: proxy.host, port: proxy.port) }
        if let address = place.address { configuration.dnsOverride = [place.host: address.description] }
        let (registry, time) = (registry, time)
        configuration.http1_1ConnectionDebugInitializer = { ExchangeObserver.observe($0, registry, time) }
        configuration.http2ConnectionDebugInitializer = { channel in
            registry.noteFresh(channel)
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        configuration.http2StreamChannelDebugInitializer = {
            ExchangeObserver.observe(stream: $0, registry, time)
        }
        return HTTPClient(eventLoopGroup: Self.eventLoops, configuration: configuration)
    }
}

extension TimeAmount {
    /// Creates an amount of time of at most a year, which fits.
    init(limited duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(31_536_000)).components
        self = .nanoseconds(seconds *| 1_000_000_000 +| attoseconds / 1_000_000_000)
    }
}
