public import ResourceAddressing

extension HTTPTransport {
    /// The options of an HTTP transport.
    public struct Options: Sendable {
        /// The value of the `User-Agent` header field.
        public var userAgent: String
        /// The header fields with the hosts that they are sent to; empty by default.
        public var headers: [ScopedHeaderField]
        /// The cookie jar; `nil` to neither send nor store cookies.
        public var cookies: CookieJar?
        /// A closure that returns whether ``cookies`` is used for a URL, to send and to store; by default, it is used
        /// for all URLs.
        ///
        /// A server that fetches resources on behalf of others must not use the cookies of its owner for them.
        public var usesCookies: @Sendable (ResourceAddress) -> Bool = { _ in true }
        /// The maximum time to establish a connection, or to wait for one while all 16 to a server are in use, without name
        /// resolution; 10 seconds by default.
        public var connectTimeout: Duration
        /// The maximum time from a request to the head of its response, and then without bytes of the body while they are
        /// wanted, up to the end of the response; 20 seconds by default.
        public var idleTimeout: Duration
        /// A Boolean value that indicates whether certificates are accepted without verification.
        public var acceptsAnyCertificate: Bool
        /// The host and the port of an HTTP proxy; `nil` for direct connections.
        public var proxy: (host: String, port: Int)?
        /// The maximum number of consecutive redirects; 10 by default.
        public var redirectLimit: Int
        /// The maximum number of bytes that are read from an HTTP/1.1 connection at once; 64 KiB by default.
        ///
        /// Larger reads need less processor time for fast connections, and more memory for each.
        public var readSize = 64 << 10
        /// A closure that returns whether a URL may be requested, given the resolved addresses of its host.
        ///
        /// The closure is called for every request and redirect. A server that fetches resources on behalf of others
        /// must refuse some URLs. Connections are made only to the addresses that were checked. With a proxy, the list
        /// of addresses is empty.
        public var allowsLoading: @Sendable (ResourceAddress, [HostAddress]) -> Bool
        /// The queue for host name lookups; transports with the same queue share its limits.
        package var lookups = HostLookupQueue.shared

        /// Creates options; the default values are suitable for a player.
        public init(
            userAgent: String = "Millstream/0.1",
            headers: [ScopedHeaderField] = [],
            cookies: CookieJar? = nil,
            connectTimeout: Duration = .seconds(10),
            idleTimeout: Duration = .seconds(20),
            acceptsAnyCertificate: Bool = false,
            proxy: (host: String, port: Int)? = nil,
            redirectLimit: Int = 10,
            allowsLoading: @escaping @Sendable (ResourceAddress, [HostAddress]) -> Bool = { _, _ in true }
        ) {
            self.userAgent = userAgent
            self.headers = headers
            self.cookies = cookies
            self.connectTimeout = connectTimeout
            self.idleTimeout = idleTimeout
            self.acceptsAnyCertificate = acceptsAnyCertificate
            self.proxy = proxy
            self.redirectLimit = redirectLimit
            self.allowsLoading = allowsLoading
        }

        /// A copy of the options without anything that identifies the user: no header fields and no cookies.
        ///
        /// Each property is copied explicitly, so that a new property is not included by mistake.
        public var withoutSecrets: Options {
            var options = Options(
                userAgent: userAgent,
                connectTimeout: connectTimeout,
                idleTimeout: idleTimeout,
                acceptsAnyCertificate: acceptsAnyCertificate,
                proxy: proxy,
                redirectLimit: redirectLimit,
                allowsLoading: allowsLoading
            )
            options.lookups = lookups
            options.readSize = readSize
            return options
        }
    }
}
