import ArgumentParser
import MillstreamServer

/// The options for the limits of server connections.
struct ConnectionFlags: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The maximum number of simultaneous connections.", valueName: "N"))
    var maxConnections = ConnectionLimits().maximumConnections

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum number of simultaneous connections of one client; an IPv6 network of 64 bits is one client.",
            valueName: "N"
        )
    )
    var maxConnectionsPerClient = ConnectionLimits().maximumConnectionsPerClient

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The address or network of a reverse proxy in front of the server; may be repeated. The client of a request from \
            this proxy is the one that the header field X-Forwarded-For or Forwarded names, and not the proxy itself.
            """,
            valueName: "ADDRESS|CIDR"
        )
    )
    var trustedProxy: [String] = []

    func validate() throws {
        guard (1...100_000).contains(maxConnections) else {
            throw ValidationError("--max-connections must be between 1 and 100000")
        }
        guard (1...100_000).contains(maxConnectionsPerClient) else {
            throw ValidationError("--max-connections-per-client must be between 1 and 100000")
        }
        for text in trustedProxy where TrustedProxy(text) == nil {
            throw ValidationError("--trusted-proxy must be an address or a network such as 10.0.0.0/8, not \"\(text)\"")
        }
    }

    /// The limits from the options.
    var limits: ConnectionLimits {
        ConnectionLimits(
            maximumConnections: maxConnections,
            maximumConnectionsPerClient: maxConnectionsPerClient,
            trustedProxies: trustedProxy.compactMap { TrustedProxy($0) }
        )
    }
}
