public import Foundation
import Hummingbird
public import Logging
public import NetworkConditioning
import ResourceAddressing

/// An origin server that serves a folder of media, with media types, byte ranges, and CORS for all sites.
///
/// It is intended for demonstrations and tests that need to control an origin.
public struct FolderOrigin: Sendable {
    private let directory: URL
    private let host: String
    private let port: Int
    private let conditions: LinkProfile
    private let connections: ConnectionLimits
    private let logger: Logger

    /// Creates an origin, which does not listen before it runs.
    ///
    /// - Parameters:
    ///   - directory: The folder to serve.
    ///   - host: The address at which the server listens.
    ///   - port: The port; 0 uses a free one.
    ///   - conditions: The conditions of the network between server and clients.
    ///   - connections: The limits for connections.
    ///   - logger: The logger for errors.
    public init(
        _ directory: URL,
        host: String = "127.0.0.1",
        port: Int,
        conditions: LinkProfile = .off,
        connections: ConnectionLimits = ConnectionLimits(),
        logger: Logger
    ) {
        self.directory = directory
        self.host = host
        self.port = port
        self.conditions = conditions
        self.connections = connections
        self.logger = logger
    }

    /// Runs the server until SIGINT or SIGTERM, or until the task is canceled.
    ///
    /// - Parameters:
    ///   - onRequest: Called with the path of each request before the response; it may wait, or throw to refuse the
    ///     request.
    ///   - onRunning: Called with the port once connections are accepted.
    /// - Throws: ``ListeningError`` if the server cannot listen.
    public func run(
        onRequest: @escaping @Sendable (String) async throws -> Void = { _ in },
        onRunning: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let router = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProtectiveHeaders())
        router.add(middleware: MediaAccess())
        router.add(middleware: ErrorResponses())
        router.add(middleware: TargetGuard())
        if !conditions.isPerfect {
            let link = LinkRegistry(shared: conditions).shared
            router.add(middleware: LinkConditioning { _ in link })
        }
        let files = FileResponder()
        router.get("**") { request, context in
            // ``TargetGuard`` has refused empty names, names that cannot be decoded, and names with slashes.
            let parts = context.parameters.getCatchAll().map { PercentEncoding.decode(String($0)) ?? "" }
            guard parts.allSatisfy({ !$0.hasPrefix(".") }) else {
                throw ServerError(.notFound, "not-found", "there is nothing at this address")
            }
            try await onRequest(parts.joined(separator: "/"))
            return try await files.respond(
                directory.appendingPathComponent(parts.joined(separator: "/")),
                to: request,
                context: context,
                cacheControl: "no-cache"
            )
        }
        let application = Application(
            router: router,
            server: .limited(by: ConnectionRegistry(connections)),
            configuration: .init(address: .hostname(host, port: port), serverName: "Millstream origin"),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? port) },
            logger: logger
        )
        try await application.serve(host: host, port: port)
    }
}
