public import MediaTransport

/// How an asset is reached.
public struct AssetOptions: Sendable, Hashable {
    /// A cookie that is sent with every request it fits (RFC 6265 §5.4).
    public struct Cookie: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its value, as it is sent.
        public var value: String
        /// The host that it belongs to, and those below it; `nil` for the host of the asset alone.
        public var domain: String?
        /// The paths that it belongs to.
        public var path: String
        /// A Boolean value that indicates whether it is sent over `https` only; `nil`, the default, follows the asset's scheme.
        public var isSecure: Bool?

        /// Makes a cookie; by default for all paths of the host of the asset.
        public init(name: String, value: String, domain: String? = nil, path: String = "/") {
            self.name = name
            self.value = value
            self.domain = domain
            self.path = path
        }
    }

    /// Header fields for requests to the origin of the asset: to its scheme, host, and port; none by default.
    ///
    /// Segments and keys at other origins, and redirects to them, do not get these fields; see ``headerFieldsByHost``.
    public var headerFields: [String: String]
    /// Header fields for requests to other hosts that the asset leads to; none by default.
    public var headerFieldsByHost: [HeaderFieldScope: [String: String]] = [:]
    /// Cookies to begin with; none by default.
    public var cookies: [Cookie]
    /// What a server is told of who asks; `nil` for the default of the transport.
    public var userAgent: String?
    /// Whether it may be loaded over a cellular network; it may by default.
    public var allowsCellularAccess = true
    /// Whether it may be loaded over a network that is paid for; it may by default.
    public var allowsExpensiveNetworkAccess = true
    /// Whether it may be loaded while the user wants little to be transferred; it may by default.
    public var allowsConstrainedNetworkAccess = true
    /// What it is, whatever its first bytes say: `nil`, the default, to go by those.
    ///
    /// Of a type of playlists (RFC 8216 §4) it must be a playlist, of any other it is a file.
    public var overrideMIMEType: String?
    /// Which references are not followed, besides those from elsewhere to this machine, which never are; none by default.
    public var referenceRestrictions: ReferenceRestrictions = []
    /// The name of the session in logs; `nil`, the default, for a new one each time that an item is played.
    public var primarySessionID: String?

    /// Makes options.
    public init(
        headerFields: [String: String] = [:],
        cookies: [Cookie] = [],
        userAgent: String? = nil,
        primarySessionID: String? = nil
    ) {
        self.headerFields = headerFields
        self.cookies = cookies
        self.userAgent = userAgent
        self.primarySessionID = primarySessionID
    }
}
