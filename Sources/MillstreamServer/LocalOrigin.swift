public import AssetStorage
import Foundation
import Hummingbird
import HummingbirdCore
public import Logging
import MediaTiming
public import MediaTransport
import MillstreamDownloads
public import NetworkConditioning
import ReportFormat
import ResourceAddressing
import ServiceLifecycle

/// The local origin: edited playback for any player, kept assets, and the web console.
public struct LocalOrigin: Sendable {
    /// Where it listens and what it offers.
    public struct Options: Sendable {
        /// The address to listen at; everything but loopback lets others in.
        public var host: String
        /// The port; 0 takes a free one.
        public var port: Int
        /// The streams that the console shows.
        public var catalogue: StreamCatalogue
        /// Hosts that sources may be loaded from besides those of the catalogue, as `HOST` or `HOST:PORT`; empty allows
        /// every public one.
        public var allowedHosts: [String]
        /// Header fields for the origins of the catalog's streams and for ``allowedHosts``; none by default.
        ///
        /// Those for other hosts are in the options of the transport, and those of the catalog in the catalog.
        public var sourceHeaders: [HeaderField] = []
        /// What the network to the players does, where their address does not name conditions.
        public var conditions: LinkProfile
        /// Names under which the server is reached besides its host, the name of the machine, `localhost` and numeric addresses.
        public var names: [String]
        /// The secret that addresses of segments are signed with; `nil` for one that is made once and stored in the library.
        public var secret: ServerSecret?
        /// The limits for connections.
        public var connections: ConnectionLimits
        /// The limits on the work for one request and for all of them.
        public var limits: ServerLimits

        /// Creates options.
        public init(
            host: String = "127.0.0.1",
            port: Int = 8080,
            catalogue: StreamCatalogue = StreamCatalogue([]),
            allowedHosts: [String] = [],
            conditions: LinkProfile = .off,
            names: [String] = [],
            secret: ServerSecret? = nil,
            connections: ConnectionLimits = ConnectionLimits(),
            limits: ServerLimits = ServerLimits()
        ) {
            self.host = host
            self.port = port
            self.catalogue = catalogue
            self.allowedHosts = allowedHosts
            self.conditions = conditions
            self.names = names
            self.secret = secret
            self.connections = connections
            self.limits = limits
        }
    }

    private let options: Options
    private let library: AssetLibrary
    private let httpOptions: HTTPTransport.Options
    private let policy: LoadErrorPolicy
    private let logger: Logger

    /// Makes an origin; it listens once it runs.
    ///
    /// - Parameters:
    ///   - options: Where it listens and what it offers.
    ///   - library: Where assets are kept.
    ///   - http: How sources are asked for; which addresses may be is decided here.
    ///   - policy: What follows when a source fails.
    ///   - logger: Told what goes wrong.
    public init(
        _ options: Options,
        library: AssetLibrary,
        http: HTTPTransport.Options,
        policy: LoadErrorPolicy = LoadErrorPolicy(),
        logger: Logger
    ) {
        self.policy = policy
        self.options = options
        self.library = library
        self.logger = logger
        httpOptions = http
    }

    /// Serves until the process is told to end by SIGINT or SIGTERM, or the task is cancelled.
    ///
    /// - Parameter onRunning: Called with the port once connections are accepted.
    /// - Throws: ``ListeningError`` if the server could not listen, ``ServerSecret/ReadingError`` if it has no secret.
    public func run(onRunning: @escaping @Sendable (Int) async -> Void) async throws {
        let policy = SourcePolicy(
            allowedHosts: options.allowedHosts,
            catalogue: options.catalogue.streams.flatMap { [$0.address] + ($0.poster.map { [$0] } ?? []) }
        )
        let secret = try options.secret ?? ServerSecret.stored(in: library.directory)
        var http = httpOptions
        http.mayVisit = { policy.mayVisit($0, at: $1) }
        // Everyone who reaches the server can name a source: the owner's header fields and cookies are for the sources of the
        // catalog and of the owner only.
        let trusted = options.catalogue.streams.map(\.address)
        let allowed = options.allowedHosts.compactMap { HeaderFieldScope($0) }
        http.headers += options.catalogue.streams.flatMap(\.headers)
        http.headers += [ScopedHeaderField](options.sourceHeaders, forOriginsOf: trusted)
        http.headers += allowed.flatMap { scope in
            options.sourceHeaders.map { ScopedHeaderField($0, for: scope) }
        }
        let named = options.allowedHosts.map { ResourceAddress("https://\($0)/") }
        http.usesCookies = { address in (trusted + named).contains { $0.isSameSite(as: address) } }
        let foreignPolicy = policy.restrictedToPublicAddresses
        var foreignHTTP = httpOptions.withoutSecrets
        foreignHTTP.mayVisit = { foreignPolicy.mayVisit($0, at: $1) }
        // Names in requests of other sites must not keep the owner's names waiting.
        foreignHTTP.lookups = HostLookupQueue(HostLookupQueue.Limits(concurrentLookups: 4, pendingNames: 64))
        let transport = HTTPTransport(http)
        let foreignTransport = HTTPTransport(foreignHTTP)
        func loading(_ transport: HTTPTransport) -> ResourceLoading {
            ResourceLoading(SchemeTransport(http: transport, file: nil), policy: self.policy)
        }
        let sources = SourceAccess(
            own: (loading(transport), policy, HostCache(http.lookups)),
            foreign: (loading(foreignTransport), foreignPolicy, HostCache(foreignHTTP.lookups))
        )
        do {
            try await serve(sources, SegmentSigner(secret), onRunning)
        } catch {
            try? await transport.shutdown()
            try? await foreignTransport.shutdown()
            throw error
        }
        try await transport.shutdown()
        try await foreignTransport.shutdown()
    }

    /// The names of this server: the host that it listens at, the name of the machine, and those that its owner gave.
    private var names: ServerNames {
        let machine = ProcessInfo.processInfo.hostName
        return ServerNames([options.host, machine, machine + ".local"] + options.names)
    }

    private func serve(
        _ sources: SourceAccess,
        _ signer: SegmentSigner,
        _ onRunning: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let broadcast = EventBroadcast()
        let metrics = ServerMetrics()
        let loading = sources.own.loading
        let desk = DownloadDesk(library: library, loading: loading, broadcast: broadcast, logger: logger)
        let links = LinkDesk(shared: options.conditions)
        let registry = ConnectionRegistry(options.connections)
        let router = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestCounting(metrics: metrics))
        router.add(middleware: ProtectiveHeaders())
        router.add(middleware: ErrorAnswers())
        router.add(middleware: TargetGuard())
        router.add(
            middleware: InitiatorClassification(names: names, trustedProxies: options.connections.trustedProxies)
        )
        router.add(middleware: ForwardedRequestLimit(registry: registry))
        let work = WorkBudget(options.limits)
        let workers = EditWorkers(threads: options.limits.concurrentEdits)
        MediaRoutes(
            sources: sources,
            library: library,
            links: links,
            signer: signer,
            work: work,
            workers: workers
        ).add(to: router)
        ConsoleRoutes(
            catalogue: options.catalogue,
            library: library,
            loading: loading,
            desk: desk,
            broadcast: broadcast,
            metrics: metrics,
            links: links,
            connections: registry,
            work: work,
            workers: workers
        ).add(to: router)
        let application = Application(
            router: router,
            server: .limited(by: registry),
            configuration: .init(address: .hostname(options.host, port: options.port), serverName: "Millstream"),
            services: [desk, LibraryWatch(library: library, desk: desk, broadcast: broadcast)],
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? options.port) },
            logger: logger
        )
        do {
            try await application.serve(host: options.host, port: options.port)
        } catch {
            try await workers.shutdown()
            throw error
        }
        try await workers.shutdown()
    }
}

/// Tells the console what other processes do to the library, and finds out which listeners are gone.
struct LibraryWatch: Service {
    let library: AssetLibrary
    let desk: DownloadDesk
    let broadcast: EventBroadcast
    /// The clock that says when to look again.
    var time: any TimeSource = SystemTimeSource()

    private static let interval = Duration.seconds(3)

    func run() async throws {
        await cancelWhenGracefulShutdown { await watch() }
    }

    private func watch() async {
        var known: [String: StoredAsset] = [:]
        while !Task.isCancelled {
            do { try await time.sleep(for: Self.interval) } catch { return }
            guard broadcast.listenerCount > 0 else { continue }
            let assets = (try? library.assets()) ?? []
            for asset in assets where known[asset.id] != asset {
                broadcast.send(ServerEvent(name: "asset", data: desk.report(asset)))
            }
            for id in known.keys where !assets.contains(where: { $0.id == id }) {
                broadcast.send(ServerEvent(name: "removed", data: .fields(["id": .string(id)])))
            }
            known = Dictionary(uniqueKeysWithValues: assets.map { ($0.id, $0) })
            // Written to every listener, it shows which of them are gone.
            broadcast.send(ServerEvent(name: "alive", data: .fields([:])))
        }
    }
}
