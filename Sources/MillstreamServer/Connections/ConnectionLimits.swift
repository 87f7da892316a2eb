/// The limits for the connections of a server.
public struct ConnectionLimits: Sendable {
    /// The maximum number of connections at the same time.
    public var maximumConnections: Int
    /// The maximum number of simultaneous connections of one client; behind a trusted proxy, of simultaneous requests.
    ///
    /// A client is an IPv4 address or an IPv6 network with a prefix of 64 bits, since each host has many IPv6
    /// addresses.
    public var maximumConnectionsPerClient: Int
    /// The maximum duration for the head of a request, from its first byte.
    public var headTimeout: Duration
    /// The maximum duration for the body of a request, from its head.
    public var bodyTimeout: Duration
    /// The duration after which a connection without a request is closed.
    public var keepAliveTimeout: Duration
    /// The period after which a client is disconnected if it reads too little of a response in it.
    ///
    /// Too little is less than 512 bytes per second on average, or less than 64 KiB if the period is longer than 128 s.
    public var writeTimeout: Duration
    /// The reverse proxies whose forwarded requests are counted by client.
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
