/// The limits for the connections of a server.
public struct ConnectionLimits: Sendable {
    /// The maximum number of connections at the same time.
    public var maximumConnections: Int
    /// The maximum number of connections of one client at the same time; behind a trusted proxy, of its requests.
    ///
    /// A client is an IPv4 address, or a network of IPv6 with a prefix of 64 bits: each host has many addresses there.
    public var maximumConnectionsPerClient: Int
    /// The time that a client has for the head of a request, from its first byte.
    public var headTimeout: Duration
    /// The time that a client has for the body of a request, from its head.
    public var bodyTimeout: Duration
    /// The time after which a connection without a request is closed.
    public var keepAliveTimeout: Duration
    /// The time within which a client must read some of an answer that is ready for it.
    public var writeTimeout: Duration
    /// The reverse proxies that forward requests of others.
    public var trustedProxies: [TrustedProxy]

    /// Creates limits; the defaults suit the players of a household or a small office.
    public init(
        maximumConnections: Int = 512,
        maximumConnectionsPerClient: Int = 128,
        headTimeout: Duration = .seconds(15),
        bodyTimeout: Duration = .seconds(30),
        keepAliveTimeout: Duration = .seconds(75),
        writeTimeout: Duration = .seconds(60),
        trustedProxies: [TrustedProxy] = []
    ) {
        self.maximumConnections = maximumConnections
        self.maximumConnectionsPerClient = maximumConnectionsPerClient
        self.headTimeout = headTimeout
        self.bodyTimeout = bodyTimeout
        self.keepAliveTimeout = keepAliveTimeout
        self.writeTimeout = writeTimeout
        self.trustedProxies = trustedProxies
    }
}
