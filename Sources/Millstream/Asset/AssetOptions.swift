public import Foundation
public import MediaTransport

/// The options for loading an asset: header fields, cookies, network restrictions and its MIME type.
public struct AssetOptions: Sendable, Hashable {
    /// A cookie that is sent with each request that it matches (RFC 6265 §5.4).
    public struct Cookie: Sendable, Hashable {
        /// The name of the cookie.
        public var name: String
        /// The value of the cookie, exactly as it is sent.
        public var value: String
        /// The host that the cookie belongs to, including its subdomains; `nil` for the host of the asset alone.
        public var domain: String?
        /// The path that the cookie belongs to, including the paths below it.
        public var path: String
        /// A Boolean value that indicates whether the cookie is sent over `https` only; `nil`, the default, follows the
        /// scheme of the asset.
        public var isSecure: Bool?

        /// Creates a cookie; by default it applies to all paths of the host of the asset.
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
    /// Header fields for requests to other hosts that the asset refers to; none by default.
    public var headerFieldsByHost: [HeaderFieldScope: [String: String]] = [:]
    /// The cookies that are present before the first request; none by default.
    public var cookies: [Cookie]
    /// The value of the `User-Agent` header field; `nil` for the default of the transport.
    public var userAgent: String?
    /// A Boolean value that indicates whether the asset may be loaded over a cellular network.
    ///
    /// The default is `true`.
    public var allowsCellularAccess = true
    /// A Boolean value that indicates whether the asset may be loaded over an expensive network, such as a cellular
    /// network or a personal hotspot.
    ///
    /// The default is `true`.
    public var allowsExpensiveNetworkAccess = true
    /// A Boolean value that indicates whether the asset may be loaded while the network is constrained, that is, while
    /// the user has asked for low data usage.
    ///
    /// The default is `true`.
    public var allowsConstrainedNetworkAccess = true
    /// The MIME type of the asset, used instead of its first bytes; `nil`, the default, detects the type from those
    /// bytes.
    ///
    /// An asset with a MIME type of playlists (RFC 8216 §4) must be a playlist; with any other type it is read as a
    /// file.
    public var overrideMIMEType: String?
    /// A Boolean value that indicates whether a DASH presentation is translated to HLS, so that it can be played and
    /// downloaded.
    ///
    /// The default is `true`. Otherwise a DASH manifest fails with the error of AVFoundation, -11850.
    public var translatesDASH = true
    /// The references between resources that are not followed; none by default.
    ///
    /// References from remote resources to local resources are never followed.
    public var referenceRestrictions: ReferenceRestrictions = []
    /// The cache in which responses are stored and from which later requests are answered; `nil`, the default, stores
    /// nothing.
    ///
    /// Assets can share a cache. Keys and responses to requests with credentials are not stored; see `DiskCache`. An
    /// asset with an ``authorizer`` does not use it.
    public var cache: DiskCache?
    /// The directory of a library that may contain a download of the asset; `nil`, the default, uses no library.
    ///
    /// ``Asset/assetCache`` then describes the stored part of the asset. Stored playlists and media are read from the
    /// disk, and everything else from the origin, so that all variants and renditions of the source are offered; call
    /// ``PlayerItem/pinVariant(_:switching:)`` to play a stored variant without a network. Edited and recorded
    /// downloads are not used, because their playlists differ from those of the origin; play their packages instead.
    /// The library is never changed.
    public var library: URL?
    /// An object that signs the requests of the asset and renews its credentials; `nil`, the default, sends the requests
    /// as they are.
    public var authorizer: (any RequestAuthorizer)? {
        get { authorizerReference?.authorizer }
        set { authorizerReference = newValue.map { AuthorizerReference(authorizer: $0) } }
    }
    /// The custom URL schemes of the asset in lowercase, each with the scheme that replaces it in requests that the
    /// delegate of ``Asset/resourceLoader`` does not answer, such as `["custom": "https"]`; none by default.
    ///
    /// Header fields and cookies for the origin of the asset are those for the URL with the original scheme.
    public var originalSchemes: [String: String] = [:]
    private var authorizerReference: AuthorizerReference?
    /// The session identifier in logs; `nil`, the default, creates a new one each time an item is played.
    public var primarySessionID: String?

    /// Creates options for loading an asset.
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
