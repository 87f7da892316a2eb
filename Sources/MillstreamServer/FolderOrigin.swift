public import Foundation
import Hummingbird
public import Logging
public import NetworkConditioning
import ResourceAddressing

/// Serves a folder of media as an origin does: media types, byte ranges, CORS for every site.
///
/// For demonstrations and tests, where an origin is needed that can be stopped.
public struct FolderOrigin: Sendable {
    private let directory: URL
    private let host: String
    private let port: Int
    private let conditions: LinkProfile
    private let connections: ConnectionLimits
    private let logger: Logger

    /// Makes an origin; it listens once it runs.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - host: The address to listen at.
    ///   - port: 0 takes a free one.
    ///   - conditions: What the network to the clients does.
    ///   - connections: The limits for connections.
    ///   - logger: Told what goes wrong.
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

    /// Serves until the process is told to end by SIGINT or SIGTERM, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - onRequest: Told the path of each request before it is answered; it may wait, or throw to refuse.
    ///   - onRunning: Told the port once connections are taken.
    /// - Throws: ``ListeningError`` where it could not listen.
    public func run(
        onRequest: @escaping @Sendable (String) async throws -> Void = { _ in },
        onRunning: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let router = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProtectiveHeaders())
        router.add(middleware: MediaAccess())
        router.add(middleware: ErrorAnswers())
        router.add(middleware: TargetGuard())
        if !conditions.isPerfect {
            let link = LinkDesk(shared: conditions).shared
            router.add(middleware: LinkConditioning { _ in link })
        }
        let files = FileResponder()
        router.get("**") { request, context in
            // ``TargetGuard`` has refused empty names, those that cannot be decoded, and slashes in names.
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
