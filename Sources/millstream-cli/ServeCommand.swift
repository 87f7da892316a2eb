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

/// The command `millstream serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve edited streams, kept assets and the web console.",
        discussion: """
            With --conditions, players get their media as if they were behind that network; the console can change it while
            they play, and conditions=NAME in an address sets it for one stream.

            Sources are loaded from the catalogue's hosts and from public ones; name others with --allow-host, and then only
            those count. Ctrl-C ends it.

            Header fields of --header go to the origins of the catalog's streams and to the hosts of --allow-host, those of \
            --header-for to the hosts that they name. The cookies of --cookie-jar are used for the sites of these streams and hosts.

            Pages of other sites get public sources only, and never the header fields and cookies that are given here. Behind a
            reverse proxy, name it with --trusted-proxy, and the name that it forwards with --server-name.

            Example: millstream serve --catalog https://example.com/streams.json --open
            """
    )

    @Option(name: .long, help: "The address to listen at.")
    var host: String = "127.0.0.1"

    @Option(name: .long, help: "The port to listen at; 0 takes a free one.")
    var port: Int = 8080

    @Option(name: .long, help: "The catalogue, a Streams.plist or JSON: a file or an address.")
    var catalog: String?

    @OptionGroup var library: LibraryFlags

    @Option(name: .long, help: "Let sources be loaded from HOST or HOST:PORT; may be repeated.")
    var allowHost: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Sign addresses of segments with the secret in a file of at least 16 bytes. Default: a random secret in the library.",
            valueName: "FILE"
        )
    )
    var secret: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Accept requests for the host name NAME too; may be repeated.", valueName: "NAME")
    )
    var serverName: [String] = []

    @OptionGroup(title: "Connections") var connections: ConnectionFlags

    @Flag(name: .long, help: "Open the console in a browser.")
    var open = false

    @OptionGroup(title: "Limits") var limits: LimitFlags

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port wants 0 to 65535") }
        for host in allowHost where !SourcePolicy.isHost(host) {
            throw ValidationError("--allow-host must be HOST or HOST:PORT with a port from 1 to 65535, not \"\(host)\"")
        }
        for name in serverName where ResourceAddress("http://\(name)/").host != name.lowercased() {
            throw ValidationError("--server-name must be a host name without a port, not \"\(name)\"")
        }
    }

    mutating func run() async throws {
        let secret = try readSecret()
        let catalogue = try await loadCatalogue()
        var options = LocalOrigin.Options(
            host: host,
            port: port,
            catalogue: catalogue,
            allowedHosts: allowHost,
            conditions: try http.network.profile ?? .off,
            names: serverName,
            secret: secret,
            connections: connections.limits,
            limits: limits.limits
        )
        options.sourceHeaders = http.headerFields
        let jar = try http.openCookieJar()
        var httpOptions = http.options()
        httpOptions.cookies = jar
        let origin = LocalOrigin(
            options,
            library: try library.open(),
            http: httpOptions,
            policy: http.policy,
            logger: ServerLog.make("millstream")
        )
        let (host, opens) = (host, open)
        try await origin.run { port in
            let address = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
            // A failure of the output cancels the server.
            try? StandardOutput.writeLine("Millstream serves at \(address)")
            if opens { Browser.open(address) }
        }
        try http.save(jar)
    }

    private func readSecret() throws -> ServerSecret? {
        guard let path = secret else { return nil }
        let secret = try ServerSecret(file: URL(fileURLWithPath: path))
        if secret.isReadableByOthers {
            StandardError.write("millstream: warning: other users can read the secret \(path); use chmod 600\n")
        }
        return secret
    }

    private func loadCatalogue() async throws -> StreamCatalogue {
        guard let catalog else { return StreamCatalogue([]) }
        // The conditions apply to players, not to what the server itself loads.
        var http = http
        http.network.conditions = nil
        return try await http.withLoading(source: catalog) { loading in
            let loaded = try await loading.load(TransportRequest(try PlaylistSource.address(catalog), kind: .other))
            return try StreamCatalogue(Data(loaded.bytes), at: loaded.address)
        }
    }
}

/// The options that limit the work of the server.
struct LimitFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Refuse a request that loads more than MIB mebibytes of playlists (default: 32).",
            valueName: "mib"
        )
    )
    var maxPlaylistSize: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Refuse an edited playlist or a report larger than MIB mebibytes (default: 64).",
            valueName: "mib"
        )
    )
    var maxAnswerSize: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Edit and inspect on at most COUNT threads (default: the number of processors less one, at least 1).",
            valueName: "count"
        )
    )
    var maxConcurrentEdits: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Answer with 503 while COUNT requests load, edit or inspect playlists (default: 64).",
            valueName: "count"
        )
    )
    var maxPendingEdits: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Answer with 503 while the playlists of these requests fill MIB mebibytes of memory (default: 256).",
            valueName: "mib"
        )
    )
    var maxPendingSize: Int?

    func validate() throws {
        let sizes = [
            ("--max-playlist-size", maxPlaylistSize, 4_095), ("--max-answer-size", maxAnswerSize, 4_095),
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
        func size(_ mebibytes: Int) -> ByteCount { ByteCount(Int64(mebibytes) << 20) }
        var limits = ServerLimits()
        if let maxPlaylistSize { limits.playlistBytes = size(maxPlaylistSize) }
        if let maxAnswerSize { limits.answerBytes = size(maxAnswerSize) }
        if let maxConcurrentEdits { limits.concurrentEdits = maxConcurrentEdits }
        if let maxPendingEdits { limits.pendingEdits = maxPendingEdits }
        if let maxPendingSize { limits.pendingBytes = size(maxPendingSize) }
        return limits
    }
}

/// The command `millstream origin`.
struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin",
        abstract: "Serve a folder of media as an origin does, for tests and demonstrations.",
        discussion: "Example: millstream origin ~/streams --port 8081"
    )

    @Argument(help: "The folder.")
    var folder: String

    @Option(name: .long, help: "The address to listen at.")
    var host: String = "127.0.0.1"

    @Option(name: .long, help: "The port to listen at; 0 takes a free one.")
    var port: Int = 8081

    @OptionGroup var network: ConditionsFlag

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port wants 0 to 65535") }
    }

    mutating func run() async throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw Failure(.failed, "file-not-found", "there is no folder \(folder)")
        }
        let origin = FolderOrigin(
            URL(fileURLWithPath: folder),
            host: host,
            port: port,
            conditions: try network.profile ?? .off,
            logger: ServerLog.make("millstream-origin")
        )
        let host = host
        try await origin.run { port in
            // A failure of the output cancels the server.
            try? StandardOutput.writeLine(
                "Serving the folder at http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
            )
        }
    }
}

/// The log of a server.
enum ServerLog {
    static func make(_ label: String) -> Logger {
        var logger = Logger(label: label) { TerminalLogHandler(label: $0) }
        logger.logLevel = .warning
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
