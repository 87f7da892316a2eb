public import ResourceAddressing

extension HTTPTransport {
    /// How to ask.
    public struct Options: Sendable {
        /// What we call ourselves.
        public var userAgent: String
        /// Header fields with the hosts that they are sent to; none by default.
        public var headers: [ScopedHeaderField]
        /// Where cookies are kept; `nil` takes none.
        public var cookies: CookieJar?
        /// A closure that returns whether ``cookies`` is used for an address, to send and to store; by default for every one.
        ///
        /// A server that fetches for others must not lend them the cookies of its owner.
        public var usesCookies: @Sendable (ResourceAddress) -> Bool = { _ in true }
        /// How long a connection may take, name resolution apart.
        public var connectTimeout: Duration
        /// How long nothing may come.
        public var idleTimeout: Duration
        /// Whether certificates that nobody vouches for are taken.
        public var acceptsAnyCertificate: Bool
        /// An HTTP proxy, as host and port.
        public var proxy: (host: String, port: Int)?
        /// How many redirects are followed, one after the other.
        public var redirectLimit: Int
        /// Whether an address may be asked for at any of these hosts, redirects among them.
        ///
        /// A server that fetches for others has to refuse some. Connections go to the hosts that were judged; behind a proxy
        /// there are none to judge.
        public var mayVisit: @Sendable (ResourceAddress, [HostAddress]) -> Bool
        /// The queue for look-ups of host names; transports with one queue share its limits.
        package var lookups = HostLookupQueue.shared

        /// Makes options; what is not given is what a player would do.
        public init(
            userAgent: String = "Millstream/0.1",
            headers: [ScopedHeaderField] = [],
            cookies: CookieJar? = nil,
            connectTimeout: Duration = .seconds(10),
            idleTimeout: Duration = .seconds(20),
            acceptsAnyCertificate: Bool = false,
            proxy: (host: String, port: Int)? = nil,
            redirectLimit: Int = 10,
            mayVisit: @escaping @Sendable (ResourceAddress, [HostAddress]) -> Bool = { _, _ in true }
        ) {
            self.userAgent = userAgent
            self.headers = headers
            self.cookies = cookies
            self.connectTimeout = connectTimeout
            self.idleTimeout = idleTimeout
            self.acceptsAnyCertificate = acceptsAnyCertificate
            self.proxy = proxy
            self.redirectLimit = redirectLimit
            self.mayVisit = mayVisit
        }

        /// The same options without anything that identifies the user: no header fields and no cookies.
        ///
        /// Every property is named here, so that a new one is left out until it is known to be harmless.
        public var withoutSecrets: Options {
            var options = Options(
                userAgent: userAgent,
                connectTimeout: connectTimeout,
                idleTimeout: idleTimeout,
                acceptsAnyCertificate: acceptsAnyCertificate,
                proxy: proxy,
                redirectLimit: redirectLimit,
                mayVisit: mayVisit
            )
            options.lookups = lookups
            return options
        }
    }
}
