import ArgumentParser
import Foundation
import MediaTiming
import MediaTransport
import NetworkConditioning
import ResourceAddressing

/// The options for HTTP, shared by all commands that load resources.
struct HTTPFlags: ParsableArguments {
    /// The default of `--timeout`, in seconds.
    private static let defaultTimeout = 20.0

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Send a header field to the origin (scheme, host, and port) of the source, and to no other origin, even after a \
            redirect; may be repeated.
            """,
            valueName: "Name: value"
        )
    )
    var header: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Send a header field to another host: HOST, HOST:PORT, http://HOST[:PORT], or * for every host; may be repeated. \
            Without a scheme, the field is sent over https; it is sent over http only to this machine, or if the source is \
            loaded over http.
            """,
            valueName: "HOST Name: value"
        )
    )
    var headerFor: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Start this program with the URL of a request as its argument. The program must print the signed URL, query \
            parameters, or JSON with a token, which are then used for the request.
            """,
            valueName: "PROGRAM"
        )
    )
    var tokenProgram: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Request this URL with the URL of a request as the parameter url, and use the token in the response.",
            valueName: "URL"
        )
    )
    var tokenURL: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Use tokens for another host too: HOST, HOST:PORT, http://HOST[:PORT], or *; may be repeated.",
            valueName: "HOST"
        )
    )
    var tokenFor: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "If a resource under the first URL cannot be loaded, load the same path under the second URL; may be repeated.",
            valueName: "URL URL"
        )
    )
    var alternate: [String] = []

    @Option(name: .long, help: "The value of the User-Agent header field.")
    var userAgent: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Fail a request if no data arrives for this number of seconds, above 0 and at most 3600. The time applies both \
            before the response header and within the body. Playlists, keys and other documents must also be complete within \
            60 seconds, plus one second for each 16 KiB.
            """
        )
    )
    var timeout: Double = HTTPFlags.defaultTimeout

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The maximum number of retries of a failed request, 0 to 100 (default: 3). If the option is not given, playback \
            continues to request segments for a while after the last retry if their server is busy or unreachable.
            """
        )
    )
    var retries: Int?

    @Flag(name: .long, help: "Accept any TLS certificate.")
    var insecure = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Send requests through this HTTP proxy. The default is the proxy that the environment variable http_proxy, \
            HTTPS_PROXY or ALL_PROXY names; hosts in NO_PROXY are requested directly. The command millstream serve uses the \
            default only to load its catalog.
            """,
            valueName: "HOST:PORT"
        )
    )
    var proxy: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Load cookies from a file in the Netscape format, which curl also uses, and save all cookies to it (default: cookies are kept while the command runs).",
            valueName: "FILE"
        )
    )
    var cookieJar: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Store responses in a directory (at most 512 MiB), and answer later requests from it as long as they are fresh \
            (RFC 9111). Commands can share the directory. Keys and responses to requests with credentials are not stored.
            """,
            valueName: "DIR"
        )
    )
    var cache: String?

    @OptionGroup var network: ConditionsFlag

    func validate() throws {
        for line in header where HeaderField(line: line) == nil {
            throw ValidationError("--header must be 'Name: value', not \"\(line)\"")
        }
        for line in headerFor where ScopedHeaderField(line: line) == nil {
            throw ValidationError("--header-for must be 'HOST Name: value', not \"\(line)\"")
        }
        guard tokenProgram == nil || tokenURL == nil else {
            throw ValidationError("--token-program and --token-url cannot be combined")
        }
        guard tokenFor.isEmpty || tokenProgram != nil || tokenURL != nil else {
            throw ValidationError("--token-for requires --token-program or --token-url")
        }
        if let tokenURL, !ResourceAddress(tokenURL).isHTTP {
            throw ValidationError("--token-url must be an http URL, not \"\(tokenURL)\"")
        }
        for host in tokenFor where HeaderFieldScope(host) == nil {
            throw ValidationError("--token-for must be HOST, HOST:PORT, an origin, or *, not \"\(host)\"")
        }
        for pair in alternate where Self.alternates(pair) == nil {
            throw ValidationError("--alternate must be two http URLs, separated by a space, not \"\(pair)\"")
        }
        guard timeout > 0, timeout <= 3600 else {
            throw ValidationError("--timeout must be above 0 and at most 3600 seconds")
        }
        if insecure, cache != nil {
            throw ValidationError("--cache cannot be used with --insecure: forged responses would be stored")
        }
        guard (0...100).contains(retries ?? 0) else { throw ValidationError("--retries must be between 0 and 100") }
        if let proxy, Self.hostAndPort(proxy) == nil {
            throw ValidationError("--proxy must be HOST:PORT, with a port from 1 to 65535")
        }
    }

    /// A Boolean value that indicates whether an option is given that is not the default.
    var isUsed: Bool {
        let texts = [tokenProgram, tokenURL, userAgent, proxy, cookieJar, cache, network.conditions]
        return texts.contains { $0 != nil } || ![header, headerFor, tokenFor, alternate].allSatisfy(\.isEmpty)
            || timeout != Self.defaultTimeout || retries != nil || insecure
    }

    /// The header fields of `--header`.
    var headerFields: [HeaderField] { header.compactMap { HeaderField(line: $0) } }

    /// Creates the options of the transport.
    ///
    /// - Parameter sources: The addresses to whose origins the header fields of `--header` are sent.
    /// - Returns: The options.
    func options(sources: [ResourceAddress] = []) -> HTTPTransport.Options {
        // Header fields that are given for a stream over https are never sent unencrypted.
        let allowsHTTP = !sources.isEmpty && sources.allSatisfy { $0.normalizedScheme == "http" }
        var options = HTTPTransport.Options(
            headers: headerFor.compactMap { ScopedHeaderField(line: $0, allowsHTTP: allowsHTTP) }
                + [ScopedHeaderField](headerFields, forOriginsOf: sources),
            connectTimeout: .seconds(min(timeout, 10)),
            idleTimeout: .seconds(timeout),
            acceptsAnyCertificate: insecure,
            proxy: proxy.flatMap(Self.hostAndPort)
        )
        if let userAgent { options.userAgent = userAgent }
        return options
    }

    /// Returns the sources of tokens of `--token-program` and `--token-url`.
    ///
    /// - Parameters:
    ///   - scopes: The hosts for which tokens are requested, besides those of `--token-for`.
    ///   - loader: The loader of the responses of a server.
    /// - Returns: The sources; empty without these options.
    func tokenSources(for scopes: [HeaderFieldScope], loader: ResourceLoader) -> [ScopedTokenSource] {
        let source: any AccessTokenSource
        if let tokenProgram {
            source = ProgramTokenSource([tokenProgram])
        } else if let tokenURL {
            source = ServerTokenSource(ResourceAddress(tokenURL), loader: loader)
        } else {
            return []
        }
        return (scopes + tokenFor.compactMap { HeaderFieldScope($0) }).map { ScopedTokenSource(source, for: $0) }
    }

    /// The groups of folders of `--alternate`.
    var alternates: [[ResourceAddress]] { alternate.compactMap(Self.alternates) }

    private static func alternates(_ pair: String) -> [ResourceAddress]? {
        let addresses = pair.split(separator: " ").map { ResourceAddress(String($0)) }
        return addresses.count == 2 && addresses.allSatisfy(\.isHTTP) ? addresses : nil
    }

    /// Returns a transport that adds tokens, and loads from other origins what cannot be loaded.
    private func authorized(
        _ transport: any Transport,
        _ sources: [ResourceAddress],
        by http: any Transport
    ) -> any Transport {
        let tokens = tokenSources(
            for: sources.compactMap { HeaderFieldScope(originOf: $0) },
            loader: ResourceLoader(http, policy: policy)
        )
        let signed = tokens.isEmpty ? transport : TokenTransport(transport, sources: tokens, now: { Self.now })
        return alternate.isEmpty ? signed : AlternateTransport(signed, groups: alternates)
    }

    /// The policy for retrying failed requests.
    var policy: RecoveryPolicy {
        retries.map { RecoveryPolicy(retries: $0) } ?? RecoveryPolicy(rule: RecoveryPolicy.Rule(), rules: [:])
    }

    /// Runs `body` with a resource loader, and closes its connections afterward.
    ///
    /// The header fields of `--header` are sent only to the origin of the source, so that a remote playlist cannot
    /// direct secrets to another origin. Files are read only if a source is a file, so that a remote playlist cannot
    /// refer to local files. If a source is a file, the files that remote documents name are refused nevertheless,
    /// because `ResourceAddress.resolving(_:)` makes them addresses that no transport loads.
    ///
    /// - Parameters:
    ///   - source: The source of the command.
    ///   - base: The origin of a source that is not an HTTP address: a base URL, or the origin of a downloaded package.
    ///   - others: Additional sources, such as appended playlists; the header fields of `--header` are not sent to
    ///     them.
    ///   - body: The closure to run.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or ``Failure`` if a source or the cookie file cannot be read.
    func withLoading<Result>(
        source: String,
        base: String? = nil,
        others: [String] = [],
        _ body: (ResourceLoader) async throws -> Result
    ) async throws -> Result {
        let named = try [source, base].compactMap { $0 }.map(Self.address)
        let addresses = try named + others.map(Self.address)
        var options = options(sources: named.first(where: \.isHTTP).map { [$0] } ?? [])
        // A command has a few connections, which can be as fast as the disk.
        options.readSize = 256 << 10
        if options.proxy == nil { options.proxy = try EnvironmentProxy().proxy(for: named) }
        let texts = [source, base].compactMap { $0 } + others
        let passwords = texts.compactMap {
            ScopedHeaderField(userInformationOf: AssumedScheme.address($0) ?? ResourceAddress($0))
        }
        // Fields of --header have precedence.
        options.headers = passwords + options.headers
        // Without a file, cookies are kept while the command runs, as a browser does: some servers set a cookie with the
        // playlist and refuse segments without it.
        let jar = try openCookieJar() ?? CookieJar()
        options.cookies = jar
        let conditions = try network.profile
        let cache = try openCache()
        let http = HTTPTransport(options)
        // What the user gives for a site is never sent unencrypted without being asked for.
        let assumed = options.headers.isEmpty && cookieJar == nil ? texts.compactMap(AssumedScheme.address) : []
        let link = conditions.map { ConditionedLink($0, stallTimeout: .seconds(timeout)) }
        let readsFiles = addresses.contains { !$0.isHTTP }
        // What is stored has the URLs without tokens.
        let authorized = authorized(
            link.map { ConditionedTransport(http, over: $0) } ?? http,
            named.first(where: \.isHTTP).map { [$0] } ?? [],
            by: http
        )
        let cached = Self.caching(authorized, of: http, in: cache)
        let loader = ResourceLoader(
            SchemeTransport(
                http: assumed.isEmpty ? cached : AssumedScheme.Fallback(cached, for: assumed),
                file: readsFiles ? FileTransport() : nil
            ),
            policy: policy
        )
        do {
            let result = try await body(loader)
            try await http.shutdown()
            try save(jar)
            return result
        } catch {
            // The first error is reported, not one that follows from it.
            try? await http.shutdown()
            try? save(jar)
            throw error
        }
    }

    /// Opens the cache of `--cache`; `nil` without this option.
    func openCache() throws -> DiskCache? {
        try cache.map { try DiskCache(directory: URL(fileURLWithPath: $0, isDirectory: true)) }
    }

    /// Returns a transport with a cache in front of the connections of `http`.
    private static func caching(
        _ transport: any Transport,
        of http: HTTPTransport,
        in cache: DiskCache?
    ) -> any Transport {
        guard let cache else { return transport }
        return CachedTransport(transport, cache: cache) { http.carriesCredentials($0) }
    }

    private static func address(_ source: String) throws -> ResourceAddress {
        source == "-" ? ResourceAddress(filePath: "/") : try PlaylistSource.address(source)
    }

    private static var now: UnixSeconds { UnixSeconds(Int64(saturating: Date().timeIntervalSince1970)) }

    func openCookieJar() throws -> CookieJar? {
        guard let cookieJar else { return nil }
        let jar = CookieJar()
        try jar.load(from: cookieJar, now: Self.now)
        return jar
    }

    func save(_ jar: CookieJar?) throws {
        if let jar, let cookieJar { try jar.save(to: cookieJar, now: Self.now) }
    }

    /// Returns the host and the port of a proxy; `nil` if the text is not `HOST:PORT`.
    static func hostAndPort(_ text: String) -> (host: String, port: Int)? {
        let bare = text.hasPrefix("http://") ? String(text.dropFirst(7)) : text
        let address = ResourceAddress("http://\(bare)")
        // Without a valid port in the text, the port of the address would be the default of its scheme.
        guard let host = address.host, !host.isEmpty, let digits = bare.split(separator: ":").last, bare.contains(":"),
            let port = Int(digits), (1...65_535).contains(port), address.port == port
        else { return nil }
        return (host, port)
    }
}
