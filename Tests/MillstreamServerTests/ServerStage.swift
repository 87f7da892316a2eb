import AssetStorage
import Foundation
import Logging
import MediaTransport
import MillstreamServer
import MillstreamTesting
import ResourceAddressing
import Testing

/// A running server with secrets, and a recording origin that represents a private host and, as a proxy, the public
/// Internet.
struct ServerStage {
    /// The value of the `Authorization` field in the options of the server.
    static let token = "Bearer of-the-owner"
    /// A public IP address, for which the proxy responds.
    static let publicHost = "http://8.8.8.8"

    let port: Int
    let origin: MisbehavingServer
    let library: URL

    /// The address of a playlist on a private host that the catalog contains.
    var privateSource: String { origin.address("/private.m3u8") }
    /// The address of a playlist on a public host that receives the header fields in the options.
    var publicSource: String { Self.publicHost + "/public.m3u8" }

    /// Runs a server.
    ///
    /// - Parameters:
    ///   - connections: The connection limits.
    ///   - usesProxy: A Boolean value that indicates whether the server reaches all hosts through the recording origin.
    ///   - secret: The secret, or `nil` for one that is stored in the library.
    ///   - folder: The directory of the library, or `nil` for a new directory.
    ///   - isReadOnly: A Boolean value that indicates whether the library is opened for reading only.
    ///   - logger: The logger of the server.
    ///   - configure: A function that changes the options of the server and the resources of the origin before the
    ///     server starts.
    ///   - body: A function that uses the server.
    /// - Throws: The errors of `body`.
    static func run(
        connections: ConnectionLimits = ConnectionLimits(),
        usesProxy: Bool = true,
        secret: ServerSecret? = nil,
        library folder: URL? = nil,
        isReadOnly: Bool = false,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        configure: (inout LocalOrigin.Options, MisbehavingServer) throws -> Void = { _, _ in },
        _ body: (ServerStage) async throws -> Void
    ) async throws {
        let segment = MisbehavingServer.Resource(Array("segment".utf8), contentType: "video/mp2t")
        let library = folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { if folder == nil { try? FileManager.default.removeItem(at: library) } }
        try await MisbehavingServer.withServer(["/private.ts": segment, "/public.ts": segment]) { origin in
            let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n%\n#EXT-X-ENDLIST\n"
            let type = "application/vnd.apple.mpegurl"
            origin.set("/private.m3u8", .text(media.replacing("%", with: "private.ts"), contentType: type))
            origin.set("/public.m3u8", .text(media.replacing("%", with: "public.ts"), contentType: type))
            origin.set(
                "/mixed.m3u8",
                .text(media.replacing("%", with: origin.address("/private.ts")), contentType: type)
            )
            let catalog = """
                [{"name": "private", "url": "\(origin.address("/private.m3u8"))", "poster": "\(origin.address("/p.png"))"},
                 {"name": "public", "url": "\(publicHost)/public.m3u8"}]
                """
            origin.set("/p.png", .init([1, 2, 3], contentType: "image/png"))
            // As a proxy, the origin accepts CONNECT, and responds to the tunneled requests itself.
            origin.behave("*", .status(200))
            let paths = ["/private.m3u8", "/public.m3u8", "/mixed.m3u8", "/private.ts", "/public.ts", "/p.png"]
            for path in paths { origin.behave(path, .proper) }
            let jar = CookieJar()
            let future = UnixSeconds(Int64(Date().timeIntervalSince1970) + 3_600)
            for address in [origin.address("/"), publicHost + "/"] {
                jar.store(setCookie: "session=of-the-owner; Path=/", from: ResourceAddress(address), now: future)
            }
            var options = LocalOrigin.Options(
                port: 0,
                catalog: try StreamCatalog(Data(catalog.utf8), at: ResourceAddress(origin.address("/catalog"))),
                names: ["media.example"],
                secret: secret,
                connections: connections
            )
            options.sourceHeaders = [HeaderField("Authorization", token)]
            try configure(&options, origin)
            let server = LocalOrigin(
                options,
                library: try isReadOnly
                    ? AssetLibrary(reading: library) : AssetLibrary(directory: library),
                http: HTTPTransport.Options(
                    cookies: jar,
                    proxy: usesProxy ? ("127.0.0.1", origin.port) : nil
                ),
                policy: RecoveryPolicy(retries: 0),
                logger: logger
            )
            let (ports, continuation) = AsyncStream<Int>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { continuation.finish() }
                    try await server.run { continuation.yield($0) }
                }
                var iterator = ports.makeAsyncIterator()
                guard let port = await iterator.next() else { return try await group.waitForAll() }
                do {
                    try await body(ServerStage(port: port, origin: origin, library: library))
                } catch {
                    group.cancelAll()
                    while (try? await group.next()) != nil {}
                    throw error
                }
                group.cancelAll()
                try? await group.waitForAll()
            }
        }
    }

    /// Sends a request and reads the whole response.
    ///
    /// - Parameters:
    ///   - target: The request target, which is sent byte for byte.
    ///   - method: The method.
    ///   - fields: Header fields; `%` is replaced by the host and port of the server.
    ///   - host: The value of `Host`, or `nil` for the host and port of the server.
    ///   - body: The bytes after the head.
    /// - Returns: The response.
    /// - Throws: ``RawConnection/Failure``.
    func ask(
        _ target: String,
        method: String = "GET",
        fields: [String] = [],
        host: String? = nil,
        body: String = ""
    ) async throws -> RawResponse {
        let own = "127.0.0.1:\(port)"
        let head = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? own)"]
        let lines = head + fields.map { $0.replacing("%", with: own) } + ["Connection: close"]
        let connection = try RawConnection(port: port)
        connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
        return RawResponse(try await connection.readToEnd())
    }

    /// Returns the address of the only segment in an edited playlist.
    func segment(of source: String, query: String = "", fields: [String] = []) async throws -> String {
        let playlist = try await ask("/play.m3u8?url=\(source)\(query)", fields: fields)
        try #require(playlist.status == 200, "\(playlist.head) \(playlist.body)")
        let line = playlist.body.split(separator: "\n").first { !$0.hasPrefix("#") }
        return String(try #require(line))
    }

    /// The requests for resources, without those for tunnels.
    var requests: [MisbehavingServer.Request] { origin.requests.filter { $0.method != "CONNECT" } }

    /// Returns, for each request of a path that reached the origin, a Boolean value that indicates whether it contained
    /// the secrets.
    func secrets(at path: String) -> [Bool] {
        requests.filter { $0.path.hasSuffix(path) }.map { request in
            let hasToken = request.header("Authorization") == Self.token
            let hasCookie = request.header("Cookie")?.contains("of-the-owner") == true
            return hasToken || hasCookie
        }
    }
}
