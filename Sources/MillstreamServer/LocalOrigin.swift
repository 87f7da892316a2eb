public import AssetStorage
public import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
public import MediaTiming
public import MediaTransport
import MillstreamDownloads
public import NetworkConditioning
import PresentationLoading
import ReportFormat
public import ResourceAddressing
import ServiceLifecycle
package import StreamingEngine

/// A local server that provides edited playback for any player, downloaded assets, and the web console.
public struct LocalOrigin: Sendable {
    /// The options of a local origin.
    public struct Options: Sendable {
        /// The address at which the server listens; other machines can connect to any address but a loopback one.
        public var host: String
        /// The port; 0 uses a free one.
        public var port: Int
        /// The streams that the console lists.
        public var catalog: StreamCatalog
        /// The hosts from which sources may be loaded besides those of the catalog, as `HOST` or `HOST:PORT`; if empty,
        /// all public hosts.
        public var allowedHosts: [String]
        /// Header fields for the origins of the streams in the catalog and for ``allowedHosts``; none by default.
        ///
        /// Header fields for other hosts belong in the options of the transport, and those of single streams in the
        /// catalog.
        public var sourceHeaders: [HeaderField] = []
        /// The sources of tokens for requests, besides those of the catalog; none by default.
        public var tokens: [ScopedTokenSource] = []
        /// Groups of URLs of folders that have the same contents, besides those of the catalog; none by default.
        ///
        /// If an origin fails, what it has is loaded from the next one of its group.
        public var alternates: [[ResourceAddress]] = []
        /// The conditions of the network between server and players, for requests whose address does not name
        /// conditions.
        public var conditions: LinkProfile
        /// The faults that are simulated in playlists, segments and downloaded assets; none by default.
        public var faults: [ResponseFault] = []
        /// The names of the server besides its host, the host name of the machine, `localhost` and numeric addresses.
        public var names: [String]
        /// The secret for signing addresses of segments; `nil` for one that is generated once and stored in the
        /// library.
        public var secret: ServerSecret?
        /// A Boolean value that indicates whether only playback addresses with a valid signature are admitted, and the
        /// console, its API and downloaded assets only for clients on this machine or with ``credentials``; `false` by
        /// default.
        ///
        /// ``ServerSecret/signedAddress(_:expires:)`` signs addresses; ``secret`` should be set too.
        public var admitsOnlySignedAddresses = false
        /// The credentials that the console, its API, the metrics and downloaded assets require; none by default.
        public var credentials: OwnerCredentials?
        /// The certificate with which the server speaks HTTPS; `nil`, the default, for HTTP.
        public var certificate: ServerCertificate?
        /// The limits for connections.
        public var connections: ConnectionLimits
        /// The limits on the work for a single request and for all of them.
        public var limits: ServerLimits
        /// The cache for what the server loads for the owner and for players; none by default.
        ///
        /// Requests of pages of other sites do not use it.
        public var cache: DiskCache?
        /// The time for which an outdated playlist is used if its server is unavailable; none by default.
        public var staleIfError = Duration.zero
        /// The number of segments that are loaded ahead of a player, if they pass through the server; 0, the default, for none.
        ///
        /// They stay in memory for half a minute, 64 MiB at most.
        public var segmentsAhead = 0
        /// A Boolean value that indicates whether DASH presentations are translated to HLS; `true` by default.
        public var translatesDASH = true
        /// The file in which the sequence numbers of translated and edited live presentations continue after a restart of the
        /// server; none by default.
        ///
        /// Only its owner can read the file, and one server at a time can use it. Translated presentations that pages of other
        /// sites request are not stored.
        public var stateFile: URL?
        /// The Redis server in which several servers share the breaks of edited live playlists, so that all of them send the same
        /// responses; none by default.
        ///
        /// The breaks are then not stored in ``stateFile``.
        public var redis: RedisAddress?
        /// The repackager of segments for browsers that play no HLS; `nil`, the default, if the console there plays only streams
        /// with fragmented MP4 segments.
        package var repackager: (any SegmentRepackager)?
        /// The logger of answered requests; none by default.
        ///
        /// Each request is logged with the level `info`, after its response: its method, its path with shortened secrets, the
        /// status, the number of bytes of the body, the duration in microseconds, and for edited playlists and segments that pass
        /// through the server whether they were in memory. Responses to `GET /api/conditions`, which the console repeats, have the
        /// level `debug`.
        public var requestLogger: Logger?
        /// A function that returns whether a codec (RFC 6381) can be decoded on this machine, by which downloads choose variants;
        /// by default, all codecs count as decodable.
        public var canDecode: @Sendable (_ codec: String) -> Bool = { _ in true }
        /// The maximum rate at which all downloads of the server together receive the bytes of files; `nil`, the default, for no
        /// limit.
        public var maximumDownloadRate: BitRate?
        /// The interval at which the server deletes expired assets and those beyond the limits of the library; `nil` for none.
        package var storagePolicyInterval: Duration? = .seconds(60)
        /// A function that is called with the methods and paths of all routes before the server listens; `nil` for none.
        ///
        /// A path has `{name}` for each parameter, and `**` for any number of components.
        package var routeObserver: (@Sendable (_ routes: [(method: String, path: String)]) -> Void)?

        /// Creates options.
        public init(
            host: String = "127.0.0.1",
            port: Int = 8080,
            catalog: StreamCatalog = StreamCatalog([]),
            allowedHosts: [String] = [],
            conditions: LinkProfile = .off,
            names: [String] = [],
            secret: ServerSecret? = nil,
            connections: ConnectionLimits = ConnectionLimits(),
            limits: ServerLimits = ServerLimits()
        ) {
            self.host = host
            self.port = port
            self.catalog = catalog
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
    private let policy: RecoveryPolicy
    private let logger: Logger

    /// Creates an origin, which does not listen before it runs.
    ///
    /// - Parameters:
    ///   - options: The options of the server.
    ///   - library: The library of downloaded assets.
    ///   - http: The options of the transport for sources; the permitted addresses are set by the server.
    ///   - policy: The policy for retrying failed loads of sources.
    ///   - logger: The logger for errors.
    public init(
        _ options: Options,
        library: AssetLibrary,
        http: HTTPTransport.Options,
        policy: RecoveryPolicy = RecoveryPolicy(),
        logger: Logger
    ) {
        self.policy = policy
        self.options = options
        self.library = library
        self.logger = logger
        httpOptions = http
    }

    /// Runs the server until SIGINT or SIGTERM, or until the task is canceled.
    ///
    /// - Parameter onRunning: Called with the port once connections are accepted.
    /// - Throws: ``ListeningError`` if the server cannot listen, ``ServerSecret/ReadingError`` if it has no secret, a
    ///   `MillstreamError` if the file of ``Options/stateFile`` cannot be read, is damaged or has a newer form.
    public func run(onRunning: @escaping @Sendable (Int) async -> Void) async throws {
        let policy = SourcePolicy(
            allowedHosts: options.allowedHosts,
            catalog: options.catalog.streams.flatMap { $0.sources + ($0.poster.map { [$0] } ?? []) }
        )
        let stateFile = try options.stateFile.map { try StateFile($0.path) }
        let breaks = try await breakStore(stateFile)
        let secret =
            try options.secret
            ?? (library.isWritable
                ? ServerSecret.stored(in: library.directory) : ServerSecret.readable(in: library.directory))
        var http = httpOptions
        http.allowsLoading = { policy.allowsLoading($0, resolvedTo: $1) }
        // All clients can name sources, so the owner's header fields and cookies are sent only to sources of the
        // catalog and of the owner.
        let trusted = options.catalog.streams.flatMap(\.sources)
        let allowed = options.allowedHosts.compactMap { HeaderFieldScope($0) }
        http.headers += options.catalog.streams.flatMap(\.headers)
        http.headers += [ScopedHeaderField](options.sourceHeaders, forOriginsOf: trusted)
        http.headers += allowed.flatMap { scope in
            options.sourceHeaders.map { ScopedHeaderField($0, for: scope) }
        }
        let named = options.allowedHosts.map { ResourceAddress("https://\($0)/") }
        http.usesCookies = { address in (trusted + named).contains { $0.isSameSite(as: address) } }
        let foreignPolicy = policy.restrictedToPublicAddresses
        var foreignHTTP = httpOptions.withoutSecrets
        foreignHTTP.allowsLoading = { foreignPolicy.allowsLoading($0, resolvedTo: $1) }
        // Look-ups for pages of other sites must not delay those of the owner.
        foreignHTTP.lookups = HostLookupQueue(HostLookupQueue.Limits(concurrentLookups: 4, pendingNames: 64))
        let transport = HTTPTransport(http)
        let foreignTransport = HTTPTransport(foreignHTTP)
        func loading(_ transport: any Transport) -> ResourceLoader {
            ResourceLoader(SchemeTransport(http: transport, file: nil), policy: self.policy)
        }
        let hosts = HostCache(http.lookups)
        // Requests for tokens are those of the owner, to any host, and not affected by the policy for sources.
        let tokenTransport = HTTPTransport(httpOptions)
        let access = AuthorizedAccess(
            transport,
            tokens: options.tokens + options.catalog.tokenSources(loader: loading(tokenTransport)),
            alternates: options.alternates + options.catalog.alternates
        )
        // What is stored has the URLs without tokens.
        let cached = options.cache.map { cache in
            PermittedTransport(
                base: CachedTransport(access.transport, cache: cache) { transport.carriesCredentials($0) },
                policy: policy,
                hosts: http.proxy == nil ? hosts : nil
            )
        }
        var sources = SourceAccess(
            trusted: (loading(cached ?? access.transport), policy, hosts),
            foreign: (loading(foreignTransport), foreignPolicy, HostCache(foreignHTTP.lookups))
        )
        sources.redirection = access.redirection
        sources.trustedSegments = SegmentMemory(
            aheadCount: options.segmentsAhead,
            forwardsConditions: options.cache == nil,
            retainedBytes: options.limits.retainedSegmentBytes
        )
        var memory = ResourceMemory.Options { .now }
        memory.staleIfError = options.staleIfError
        sources.trustedMemory = ResourceMemory(memory)
        sources.foreignMemory = ResourceMemory(memory)
        do {
            try await serve(sources, secret, stateFile, breaks, onRunning)
        } catch {
            for transport in [transport, foreignTransport, tokenTransport] { try? await transport.shutdown() }
            throw error
        }
        for transport in [transport, foreignTransport, tokenTransport] { try await transport.shutdown() }
    }

    /// The value of the header field `Server`.
    static let serverName = "Millstream"

    private var scheme: String { options.certificate == nil ? "http" : "https" }

    /// The names of this server: the host at which it listens, the host name of the machine, and those from the
    /// options.
    private var names: ServerNames {
        let machine = ProcessInfo.processInfo.hostName
        return ServerNames([options.host, machine, machine + ".local"] + options.names)
    }

    /// Returns the storage of the breaks of live playlists.
    private func breakStore(_ stateFile: StateFile?) async throws -> any BreakStore {
        if let redis = options.redis {
            let store = RedisBreakStore(redis)
            do {
                try await store.verify()
            } catch let error as ServerError {
                throw StateFileError(.unreadable, error.message)
            }
            return store
        }
        return stateFile.map { FileBreakStore($0) } ?? MemoryBreakStore()
    }

    private func serve(
        _ sources: SourceAccess,
        _ secret: ServerSecret,
        _ stateFile: StateFile?,
        _ breaks: any BreakStore,
        _ onRunning: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let broadcast = EventBroadcast()
        let metrics = ServerMetrics()
        let loading = sources.trusted.loading
        var session = DownloadSession.Configuration()
        session.canDecode = options.canDecode
        session.maximumRate = options.maximumDownloadRate
        session.storagePolicyInterval = options.storagePolicyInterval
        let downloads = try DownloadQueue(
            library: library,
            loader: options.translatesDASH
                ? loading.translatingPresentations(in: PresentationStore()) : loading,
            configuration: session,
            broadcast: broadcast,
            logger: logger
        )
        let links = LinkRegistry(shared: options.conditions)
        let registry = ConnectionRegistry(options.connections)
        let work = ServerCapacity(options.limits)
        let workers = EditWorkers(threads: options.limits.concurrentEdits)
        let readers = EditWorkers(threads: 1)
        var sources = sources
        if options.translatesDASH {
            let logger = logger
            sources.trustedPresentations = PresentationStore(
                options.limits,
                workers: workers,
                stateFile: stateFile,
                reportProblem: { logger.warning("\($0)") }
            )
            sources.foreignPresentations = PresentationStore(options.limits, workers: workers)
        }
        let faults = FaultSettings(options.faults)
        let responses = RepeatedResponses(
            sources: sources,
            capacity: work,
            metrics: metrics,
            faults: faults,
            links: links
        )
        let router = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: ResponseRecording(responses: responses, trustedProxies: options.connections.trustedProxies)
        )
        router.add(middleware: RequestCounting(metrics: metrics))
        router.add(middleware: ProtectiveHeaders())
        // The advice in an error response depends on the client, which must be known before.
        router.add(
            middleware: InitiatorClassification(
                names: names,
                scheme: scheme,
                trustedProxies: options.connections.trustedProxies
            )
        )
        router.add(middleware: ErrorResponses())
        router.add(middleware: TargetGuard())
        router.add(middleware: ForwardedRequestLimit(registry: registry))
        router.add(middleware: ClientRecognition(trustedProxies: options.connections.trustedProxies))
        let owner = OwnerAccess(
            credentials: options.credentials,
            requiresThisMachine: options.admitsOnlySignedAddresses,
            trustedProxies: options.connections.trustedProxies
        )
        let uses = PackageUses(library)
        let environment = PlaybackEnvironment(
            sources: sources,
            signer: SegmentSigner(secret),
            playbackSigner: options.admitsOnlySignedAddresses ? PlaybackSigner(secret) : nil,
            scheme: scheme,
            capacity: work,
            workers: workers,
            metrics: metrics,
            breaks: breaks
        )
        MediaRoutes(
            environment,
            library: library,
            links: links,
            owner: owner,
            faults: faults,
            repackager: options.repackager,
            uses: uses
        ).add(to: router)
        ConsoleRoutes(
            catalog: options.catalog,
            library: library,
            loader: loading,
            downloads: downloads,
            broadcast: broadcast,
            metrics: metrics,
            links: links,
            faults: faults,
            connections: registry,
            capacity: work,
            workers: workers,
            reader: LibraryReader(work, thread: readers),
            presentations: sources.trustedPresentations,
            owner: owner,
            secret: options.admitsOnlySignedAddresses ? secret : nil,
            signer: SegmentSigner(secret),
            breaks: breaks
        ).add(to: router)
        options.routeObserver?(router.routes.map { (method: $0.method.rawValue, path: $0.path.description) })
        router.refuseOtherMethods()
        let plain = HTTPServerBuilder.limited(
            by: registry,
            responses: responses,
            requestLogger: options.requestLogger
        )
        let application = Application(
            router: router,
            server: try options.certificate.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain,
            configuration: .init(address: .hostname(options.host, port: options.port), serverName: Self.serverName),
            services: [
                downloads, uses, LibraryObserver(library: library, downloads: downloads, broadcast: broadcast),
            ],
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? options.port) },
            logger: logger
        )
        do {
            try await application.serve(host: options.host, port: options.port)
        } catch {
            try await readers.shutdown()
            try await workers.shutdown()
            throw error
        }
        try await readers.shutdown()
        try await workers.shutdown()
    }
}
