import AssetStorage
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// An origin in memory whose responses to some requests wait until a gate is opened.
final class GatedOrigin: Transport {
    private struct State {
        var isOpen = false
        var waiting: [String] = []
        var canceled: [String] = []
    }

    private let base: ScriptedTransport
    private let gated: Set<String>
    private let state = Mutex(State())

    /// Creates an origin with a closed gate.
    ///
    /// - Parameters:
    ///   - texts: The resources by their URLs.
    ///   - gated: The URLs of the resources behind the gate.
    init(_ texts: [String: String], behindTheGate gated: Set<String>) {
        base = ScriptedTransport(texts: texts)
        self.gated = gated
    }

    /// The URLs of all requests, in order.
    var requested: [String] { base.requestedAddresses }
    /// The URLs of the requests that have arrived at the gate.
    var waiting: [String] { state.withLock { $0.waiting } }
    /// The URLs of the requests that were canceled at the gate.
    var canceled: [String] { state.withLock { $0.canceled } }

    /// Opens the gate for all requests.
    func open() { state.withLock { $0.isOpen = true } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        let address = request.address.text
        guard gated.contains(address) else { return response }
        state.withLock { $0.waiting.append(address) }
        do {
            while !state.withLock({ $0.isOpen }) { try await Task.sleep(for: .milliseconds(5)) }
        } catch {
            state.withLock { $0.canceled.append(address) }
            throw error
        }
        return response
    }
}

/// A running server with the routes of ``LocalOrigin``, whose origin, capacity and threads a test can observe.
struct RouteStage {
    let port: Int
    let origin: GatedOrigin
    let library: AssetLibrary
    let capacity: ServerCapacity
    /// The threads that edit playlists.
    let workers: EditWorkers
    let metrics: ServerMetrics
    /// The URL of the token that redirects of segments need; `nil` if they need none.
    let token: String?

    /// The metrics of the server as text.
    var metricsText: String { metrics.text(downloads: 0, listeners: 0, connections: 0) }

    /// Runs a server.
    ///
    /// - Parameters:
    ///   - origin: The origin of all sources, whose gate is opened at the end.
    ///   - catalog: The catalog of the console.
    ///   - threads: The number of threads that edit playlists.
    ///   - token: The URL of the token that redirects of segments need; `nil` if they need none.
    ///   - body: A function that uses the server.
    /// - Throws: The errors of `body`.
    static func run(
        _ origin: GatedOrigin,
        catalog: StreamCatalog = StreamCatalog([]),
        threads: Int = 2,
        token: String? = nil,
        _ body: (RouteStage) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let stage = RouteStage(
            port: 0,
            origin: origin,
            library: try AssetLibrary(directory: folder),
            capacity: ServerCapacity(ServerLimits()),
            workers: EditWorkers(threads: threads),
            metrics: ServerMetrics(),
            token: token
        )
        let reading = EditWorkers(threads: 1)
        do {
            try await stage.serve(catalog, reading, body)
        } catch {
            origin.open()
            try await reading.shutdown()
            try await stage.workers.shutdown()
            throw error
        }
        try await reading.shutdown()
        try await stage.workers.shutdown()
    }

    private func serve(
        _ catalog: StreamCatalog,
        _ reading: EditWorkers,
        _ body: (RouteStage) async throws -> Void
    ) async throws {
        let registry = ConnectionRegistry(ConnectionLimits())
        let router = try router(catalog, registry, reading)
        let (ports, found) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router,
            server: .limited(by: registry),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { found.yield($0.localAddress?.port ?? 0) },
            logger: Self.silentLogger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.serve(host: "127.0.0.1", port: 0) }
            var iterator = ports.makeAsyncIterator()
            let number = try #require(await iterator.next())
            let running = RouteStage(
                port: number,
                origin: origin,
                library: library,
                capacity: capacity,
                workers: workers,
                metrics: metrics,
                token: token
            )
            do {
                try await body(running)
            } catch {
                // The server waits for the responses that are due.
                origin.open()
                throw error
            }
            origin.open()
            group.cancelAll()
            try? await group.waitForAll()
        }
    }

    private static let silentLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func router(
        _ catalog: StreamCatalog,
        _ registry: ConnectionRegistry,
        _ reading: EditWorkers
    ) throws -> Router<ServerRequestContext> {
        let loader = ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }
        let access: SourceAccess.Access = (loader, policy, HostCache())
        let signer = SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 1, count: 32)))
        var sources = SourceAccess(trusted: access, foreign: access)
        if let token {
            sources.redirection = { [origin] address in
                _ = try await origin.send(TransportRequest(ResourceAddress(token), kind: .other))
                return address
            }
        }
        let environment = PlaybackEnvironment(
            sources: sources,
            signer: signer,
            capacity: capacity,
            workers: workers,
            metrics: metrics
        )
        let (links, broadcast) = (LinkRegistry(shared: .off), EventBroadcast())
        let router = Router(context: ServerRequestContext.self)
        router.add(middleware: InitiatorClassification(names: ServerNames([]), trustedProxies: []))
        router.add(middleware: ErrorResponses())
        router.add(middleware: ClientRecognition(trustedProxies: []))
        MediaRoutes(environment, library: library, links: links, faults: FaultSettings([])).add(to: router)
        ConsoleRoutes(
            catalog: catalog,
            library: library,
            loader: loader,
            downloads: try DownloadQueue(
                library: library,
                loader: loader,
                broadcast: broadcast,
                logger: Self.silentLogger
            ),
            broadcast: broadcast,
            metrics: metrics,
            links: links,
            connections: registry,
            capacity: capacity,
            workers: workers,
            reader: LibraryReader(capacity, thread: reading),
            signer: signer
        ).add(to: router)
        return router
    }

    /// Sends a request, whose response is not read.
    ///
    /// - Parameter target: The request target.
    /// - Returns: The connection.
    /// - Throws: ``RawConnection/Failure``.
    func request(_ target: String) throws -> RawConnection {
        let connection = try RawConnection(port: port)
        connection.send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
        return connection
    }

    /// Sends a request and reads the whole response.
    ///
    /// - Parameter target: The request target.
    /// - Returns: The response.
    /// - Throws: ``RawConnection/Failure``.
    func ask(_ target: String) async throws -> RawResponse {
        RawResponse(try await request(target).readToEnd())
    }

    /// Occupies all threads that edit playlists until the task is canceled.
    ///
    /// - Parameter threads: The number of threads.
    /// - Returns: The tasks that occupy the threads.
    func occupyThreads(_ threads: Int) async -> [Task<Void, any Error>] {
        let (steps, step) = AsyncStream<Void>.makeStream()
        let tasks: [Task<Void, any Error>] = (0..<threads).map { _ in
            Task { [workers] in
                try await workers.run { check in
                    step.yield()
                    while true { try check() }
                }
            }
        }
        var begun = 0
        for await _ in steps {
            begun += 1
            if begun == threads { break }
        }
        return tasks
    }

    /// Waits until a condition holds.
    func wait(until condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }
}
