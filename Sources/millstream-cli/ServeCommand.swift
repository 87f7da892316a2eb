import ArgumentParser
import AssetStorage
import Foundation
import Logging
import MediaTiming
import MediaTransport
import MillstreamServer
import NetworkConditioning
import ReportFormat
import ResourceAddressing

#if Playback
import MediaDecoding
#endif

/// The command `millstream serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve edited streams, downloaded assets and the web console.",
        discussion: """
            With --conditions, responses to players are sent under these network conditions. The console can change them during \
            playback, and the query parameter conditions=NAME sets them for one stream.

            The query parameter redundant=available removes redundant variants that are unavailable or stale from the \
            multivariant playlist.

            Sources are loaded from the hosts of the catalog and from public hosts. With --allow-host, they are loaded only from \
            the named hosts and those of the catalog. Ctrl-C stops the server.

            The header fields of --header are sent to the origins of the streams in the catalog and to the hosts of --allow-host. \
            The header fields of --header-for are sent to the hosts that they name. The cookies of --cookie-jar are sent to the \
            sites of the streams in the catalog and of the hosts of --allow-host.

            Web pages of other sites can load only public sources, and without these header fields and cookies. Behind a \
            reverse proxy, specify its address with --trusted-proxy, and the host name that clients use with --server-name.

            Streams are loaded directly, even if environment variables name a proxy, because the server cannot verify \
            that a host behind a proxy is public. With --proxy, they are loaded through that proxy, and only from the \
            hosts that --allow-host or the catalog names, and from numeric public addresses.

            If others can reach the server, use --secret: it then plays only URLs that millstream sign has signed. \
            Behind a proxy on the same machine, also use --console-credentials.

            \(FaultFlags.introduction)

            \(FaultFlags.parameters)

            Example: millstream serve --catalog https://example.com/streams.json --open
            """
    )

    @Option(name: .long, help: "The IP address or host name to listen on.")
    var host: String = "127.0.0.1"

    @Option(name: .long, help: "The port to listen on, 0 to 65535; 0 selects a free port.")
    var port: Int = 8080

    @Option(name: .long, help: "The file or URL of the catalog of streams, in the format of Streams.plist or in JSON.")
    var catalog: String?

    @OptionGroup var library: LibraryFlags

    @Option(
        name: .long,
        help: "Load sources only from this HOST or HOST:PORT and the hosts of the catalog; may be repeated."
    )
    var allowHost: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Play only URLs that millstream sign has signed with the secret in this file. The secret has at least 16 bytes. The \
            console, its API and downloaded assets are then available only on this machine, or to clients that send the \
            credentials of --console-credentials.
            """,
            valueName: "FILE"
        )
    )
    var secret: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Require the credentials in this file for the console, its API, the metrics and downloaded assets: NAME:PASSWORD or a token, of at least 12 bytes.",
            valueName: "FILE"
        )
    )
    var consoleCredentials: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Serve HTTPS with the certificate in this PEM file, followed by the certificates of its issuers.",
            valueName: "FILE"
        )
    )
    var tlsCertificate: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The PEM file with the private key of the certificate.", valueName: "FILE")
    )
    var tlsKey: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Accept requests to this host name too; may be repeated.", valueName: "NAME")
    )
    var serverName: [String] = []

    @OptionGroup(title: "Connections") var connections: ConnectionFlags

    @Flag(name: .long, help: "Open the web console in a browser.")
    var open = false

    @Flag(name: .long, help: "Print a line for each answered request on standard error.")
    var verbose = false

    @OptionGroup var faults: FaultFlags

    @OptionGroup(title: "Limits") var limits: LimitFlags

    @OptionGroup(title: "DASH") var dash: DASHFlags

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Store the sequence numbers of live DASH presentations and edited live playlists, so that they continue after a restart: in a file, or in redis://HOST for the edited playlists of several servers.",
            valueName: "FILE|redis://HOST"
        )
    )
    var state: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "If the origin of a playlist is unavailable, respond with its last version for this time in seconds.",
            valueName: "SECONDS"
        )
    )
    var staleIfError: Int = 0

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Load this number of segments, 0 to 10, ahead of a player, if segments pass through the server (segments=proxy).",
            valueName: "COUNT"
        )
    )
    var fetchAhead: Int = 0

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum rate of all downloads of the server together in bits per second, such as 20M (default: no limit).",
            valueName: "rate"
        )
    )
    var limitRate: String?

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    func validate() throws {
        _ = try DownloadRate.parse(limitRate)
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
        guard (0...10).contains(fetchAhead) else { throw ValidationError("--fetch-ahead must be between 0 and 10") }
        guard (0...86_400).contains(staleIfError) else {
            throw ValidationError("--stale-if-error must be between 0 and 86400")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key must be given together")
        }
        for host in allowHost where !SourcePolicy.isHost(host) {
            throw ValidationError("--allow-host must be HOST or HOST:PORT with a port from 1 to 65535, not \"\(host)\"")
        }
        for name in serverName where ResourceAddress("http://\(name)/").host != name.lowercased() {
            throw ValidationError("--server-name must be a host name without a port, not \"\(name)\"")
        }
    }

    mutating func run() async throws {
        let secret = try readSecret()
        noteDirectConnections()
        let catalog = try await loadCatalog()
        var options = LocalOrigin.Options(
            host: host,
            port: port,
            catalog: catalog,
            allowedHosts: allowHost,
            conditions: try http.network.profile ?? .off,
            names: serverName,
            secret: secret,
            connections: connections.limits,
            limits: limits.limits
        )
        options.sourceHeaders = http.headerFields
        let tokenTransport = HTTPTransport(http.options())
        options.tokens = http.tokenSources(
            for: catalog.streams.flatMap(\.sources).compactMap { HeaderFieldScope(originOf: $0) }
                + allowHost.compactMap { HeaderFieldScope($0) },
            loader: ResourceLoader(tokenTransport, policy: http.policy)
        )
        options.alternates = http.alternates
        options.admitsOnlySignedAddresses = secret != nil
        options.credentials = try readCredentials()
        if let tlsCertificate, let tlsKey {
            options.certificate = try ServerCertificate(
                certificate: URL(fileURLWithPath: tlsCertificate),
                key: URL(fileURLWithPath: tlsKey)
            )
        }
        options.faults = faults.faults
        options.cache = try http.openCache()
        options.translatesDASH = dash.translates
        options.staleIfError = .seconds(staleIfError)
        options.segmentsAhead = fetchAhead
        options.maximumDownloadRate = try DownloadRate.parse(limitRate)
        if verbose { options.requestLogger = ServerLog.make("millstream", level: .info) }
        #if Playback
        options.repackager = MovieFragmentRepackager()
        options.canDecode = { DecodingPipeline.canDecode($0) }
        #endif
        if let state, state.hasPrefix("redis:") {
            guard let address = RedisAddress(state) else {
                throw ValidationError("--state must be a file or redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE]")
            }
            options.redis = address
        } else {
            options.stateFile = state.map { URL(fileURLWithPath: $0) }
        }
        let jar = try http.openCookieJar()
        var httpOptions = http.options()
        httpOptions.cookies = jar
        let origin = LocalOrigin(
            options,
            library: try library.openForServing(),
            http: httpOptions,
            policy: http.policy,
            logger: ServerLog.make("millstream")
        )
        let (host, opens, scheme) = (host, open, tlsCertificate == nil ? "http" : "https")
        try await origin.run { port in
            let address = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
            // A failure of the output cancels the server.
            try? StandardOutput.writeLine("Listening on \(address)")
            if opens { Browser.open(address) }
        }
        try await tokenTransport.shutdown()
        try http.save(jar)
    }

    /// Notes that streams are loaded without the proxy that environment variables name.
    private func noteDirectConnections() {
        guard http.proxy == nil, let variable = EnvironmentProxy().variable else { return }
        StandardError.write(
            "note: streams are loaded without the proxy of \(variable); --proxy HOST:PORT uses one for streams\n"
        )
    }

    private func readSecret() throws -> ServerSecret? {
        guard let path = secret else { return nil }
        let secret = try ServerSecret(file: URL(fileURLWithPath: path))
        if secret.isReadableByOthers {
            StandardError.write("millstream: warning: other users can read the secret in \(path); use chmod 600\n")
        }
        return secret
    }

    private func readCredentials() throws -> OwnerCredentials? {
        guard let path = consoleCredentials else { return nil }
        let credentials = try OwnerCredentials(file: URL(fileURLWithPath: path))
        if credentials.isReadableByOthers {
            StandardError.write("millstream: warning: other users can read the credentials in \(path); use chmod 600\n")
        }
        if tlsCertificate == nil, !["127.0.0.1", "::1", "localhost"].contains(host) {
            StandardError.write(
                "millstream: warning: the credentials are sent without encryption; use --tls-certificate, or a proxy with TLS\n"
            )
        }
        return credentials
    }

    /// The maximum size of a catalog, enough for more than 10,000 streams.
    private static let maximumCatalogSize = ByteCount(4 << 20)

    private func loadCatalog() async throws -> StreamCatalog {
        guard let catalog else { return StreamCatalog([]) }
        // The conditions apply to players, not to what the server itself loads.
        var http = http
        http.network.conditions = nil
        return try await http.withLoading(source: catalog) { loading in
            let loaded = try await loading.load(
                TransportRequest(try PlaylistSource.address(catalog), kind: .other),
                limit: Self.maximumCatalogSize
            )
            // Relative addresses of streams require the password of the catalog, if it has one.
            let given = ResourceAddress(catalog)
            let isSameOrigin = HeaderFieldScope(originOf: given)?.contains(loaded.address) ?? false
            let base =
                isSameOrigin ? loaded.address.replacingUserInformation(with: given.userInformation) : loaded.address
            return try StreamCatalog(Data(loaded.bytes), at: base)
        }
    }
}

/// The options that limit the work of the server.
struct LimitFlags: ParsableArguments {
    @OptionGroup var editing: EditLimitOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum number of threads that edit and inspect playlists (default: the number of processors minus one, at least 1).",
            valueName: "count"
        )
    )
    var maxConcurrentEdits: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The maximum number of requests that load, edit or inspect playlists at the same time (default: 256). One client \
            can have a quarter of them. Further requests are answered with status 429 if the client has too many, and with \
            status 503 if the server has too many.
            """,
            valueName: "count"
        )
    )
    var maxPendingEdits: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum total size of the playlists of these requests in memory, in MiB; further requests are answered with 503 (default: 256).",
            valueName: "mib"
        )
    )
    var maxPendingSize: Int?

    func validate() throws {
        let sizes = [
            ("--max-concurrent-edits", maxConcurrentEdits, 1_024), ("--max-pending-edits", maxPendingEdits, 1_000_000),
            ("--max-pending-size", maxPendingSize, 1 << 20),
        ]
        for (name, value, most) in sizes {
            guard let value, !(1...most).contains(value) else { continue }
            throw ValidationError("\(name) must be between 1 and \(most)")
        }
    }

    /// The limits from the options.
    var limits: ServerLimits {
        var limits = ServerLimits(editing: editing.limits)
        if let maxConcurrentEdits { limits.concurrentEdits = maxConcurrentEdits }
        if let maxPendingEdits { limits.pendingEdits = maxPendingEdits }
        if let maxPendingSize { limits.pendingBytes = ByteCount(Int64(maxPendingSize) << 20) }
        return limits
    }
}

/// The command `millstream origin`.
struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin",
        abstract: "Serve a folder of media or a single file as an origin server, for tests and demonstrations.",
        discussion: """
            The URL of a folder returns a page that lists its contents.

            \(FaultFlags.introduction)

            \(FaultFlags.parameters)

            Example: millstream origin ~/streams --port 8081
            Example: millstream origin ~/streams --fault "path=*.ts&requests=3...5&status=503" --fault "delay=0.5"
            """
    )

    @Argument(help: "The folder or the file to serve.")
    var source: String

    @Option(name: .long, help: "The IP address or host name to listen on.")
    var host: String = "127.0.0.1"

    @Option(name: .long, help: "The port to listen on, 0 to 65535; 0 selects a free port.")
    var port: Int = 8081

    @Flag(name: .long, help: "Print a line for each request on standard error.")
    var verbose = false

    @OptionGroup var network: ConditionsFlag

    @OptionGroup var faults: FaultFlags

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
    }

    mutating func run() async throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder) else {
            throw Failure(.failed, "file-not-found", "the folder or file \(source) does not exist")
        }
        let url = URL(fileURLWithPath: source)
        let file = isFolder.boolValue ? nil : url.lastPathComponent
        let origin = FolderOrigin(
            file == nil ? url : url.deletingLastPathComponent(),
            onlyFile: file,
            host: host,
            port: port,
            conditions: try network.profile ?? .off,
            faults: faults.faults,
            logger: ServerLog.make("millstream-origin")
        )
        let (host, verbose) = (host, verbose)
        let name = file.map { PercentEncoding.encode($0, allowing: PercentEncoding.pathBytes) } ?? ""
        try await origin.run(
            onResponse: { exchange in if verbose { StandardError.write("\(exchange)\n") } },
            onRunning: { port in
                // A failure of the output cancels the server.
                try? StandardOutput.writeLine(
                    "Serving the \(file == nil ? "folder" : "file") at http://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(name)"
                )
            }
        )
    }
}

/// The log of a server.
enum ServerLog {
    static func make(_ label: String, level: Logger.Level = .warning) -> Logger {
        var logger = Logger(label: label) { TerminalLogHandler(label: $0) }
        logger.logLevel = level
        return logger
    }
}

/// The web browser of the user.
enum Browser {
    static func open(_ address: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        #if os(macOS)
        process.arguments = ["open", address]
        #else
        process.arguments = ["xdg-open", address]
        #endif
        process.standardOutput = InputFile.discarded
        process.standardError = InputFile.discarded
        try? process.run()
    }
}
