import AssetStorage
public import Foundation
import Hummingbird
public import Logging
import MediaTiming
import MediaTransport
public import NetworkConditioning
import ResourceAddressing

/// An origin server that serves a folder of media, with media types, byte ranges, and CORS for all sites.
///
/// The address of a folder has a page that lists its contents. Symbolic links below the folder are not followed.
///
/// It is intended for demonstrations and tests that need to control an origin.
public struct FolderOrigin: Sendable {
    /// A request that was answered, for logs.
    public struct Exchange: Sendable, CustomStringConvertible {
        /// The method of the request.
        public let method: String
        /// The path of the request as it was received.
        public let path: String
        /// The requested byte range as it was received; `nil` for the whole resource.
        public let range: String?
        /// The status of the response.
        public let status: Int

        /// The exchange on one line.
        public var description: String {
            "\(status) \(method) \(ResourceAddress(path))\(range.map { " \($0.prefix(60))" } ?? "")"
        }
    }

    private let directory: URL
    private let onlyFile: String?
    private let host: String
    private let port: Int
    private let conditions: LinkProfile
    private let faults: [ResponseFault]
    private let connections: ConnectionLimits
    private let logger: Logger

    /// Creates an origin, which does not listen before it runs.
    ///
    /// - Parameters:
    ///   - directory: The folder to serve.
    ///   - onlyFile: The name of the only file of the folder to serve; `nil` to serve all files.
    ///   - host: The address at which the server listens.
    ///   - port: The port; 0 uses a free one.
    ///   - conditions: The conditions of the network between server and clients.
    ///   - faults: The faults that are simulated in responses.
    ///   - connections: The limits for connections.
    ///   - logger: The logger for errors.
    public init(
        _ directory: URL,
        onlyFile: String? = nil,
        host: String = "127.0.0.1",
        port: Int,
        conditions: LinkProfile = .off,
        faults: [ResponseFault] = [],
        connections: ConnectionLimits = ConnectionLimits(),
        logger: Logger
    ) {
        self.directory = directory
        self.onlyFile = onlyFile
        self.host = host
        self.port = port
        self.conditions = conditions
        self.faults = faults
        self.connections = connections
        self.logger = logger
    }

    /// Runs the server until SIGINT or SIGTERM, or until the task is canceled.
    ///
    /// - Parameters:
    ///   - onRequest: Called with the path of each request before the response; it may wait, or throw to refuse the
    ///     request.
    ///   - onResponse: Called with each request that was answered.
    ///   - onRunning: Called with the port once connections are accepted.
    /// - Throws: ``ListeningError`` if the server cannot listen.
    public func run(
        onRequest: @escaping @Sendable (String) async throws -> Void = { _ in },
        onResponse: @escaping @Sendable (Exchange) -> Void = { _ in },
        onRunning: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let router = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ExchangeLogging(report: onResponse))
        router.add(middleware: ProtectiveHeaders())
        router.add(middleware: MediaAccess())
        router.add(middleware: ErrorResponses())
        router.add(middleware: TargetGuard())
        if !conditions.isPerfect {
            let link = LinkRegistry(shared: conditions).shared
            router.add(middleware: LinkConditioning { _ in link })
        }
        router.add(middleware: FaultInjection(FaultSettings(faults)))
        let files = FileResponder()
        router.get("**") { request, context in
            // ``TargetGuard`` has refused empty names, names that cannot be decoded, and names with slashes.
            let parts = context.parameters.getCatchAll().map { PercentEncoding.decode(String($0)) ?? "" }
            guard parts.allSatisfy({ !$0.hasPrefix(".") }) else {
                throw ServerError(.notFound, "not-found", "there is nothing at this address")
            }
            let path = parts.joined(separator: "/")
            guard onlyFile == nil || onlyFile == path else {
                throw ServerError(.notFound, "not-found", "there is nothing at this address")
            }
            try await onRequest(path)
            let url = directory.appendingPathComponent(path)
            let target = request.uri.path
            let (file, page) = try await BlockingOperation.run {
                let file = ContainedFile(parts, in: directory.path)
                return (file, FolderPage(file, at: url, path: target))
            }
            if let page { return page.response }
            return try files.respond(file, named: path, to: request, cacheControl: "no-cache")
        }
        if onlyFile == nil {
            let directory = directory
            router.get("/") { request, _ in
                let target = request.uri.path
                let page = try await BlockingOperation.run {
                    FolderPage(ContainedFile([], in: directory.path), at: directory, path: target)
                }
                guard let page else {
                    throw ServerError(.notFound, "not-found", "there is nothing at this address")
                }
                return page.response
            }
        }
        router.refuseOtherMethods(besides: [.options])
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

/// A middleware that reports each exchange.
private struct ExchangeLogging: RouterMiddleware {
    let report: @Sendable (FolderOrigin.Exchange) -> Void

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        report(
            FolderOrigin.Exchange(
                method: request.method.rawValue,
                path: request.uri.string,
                range: request.headers[.range],
                status: Int(clamping: response.status.code)
            )
        )
        return response
    }
}
