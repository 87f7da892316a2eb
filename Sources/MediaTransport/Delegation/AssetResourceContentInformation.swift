public import ResourceAddressing

/// The description of a resource that a delegate loads (`AVAssetResourceLoadingContentInformationRequest`).
public struct AssetResourceContentInformation: Sendable, Hashable {
    /// The media type, such as `application/vnd.apple.mpegurl`; `nil`, the default, to recognize the content by its
    /// first bytes.
    public var contentType: String?
    /// The length of the entire resource in bytes, whatever range is requested; `nil`, the default, if it is unknown.
    public var contentLength: Int64?
    /// A Boolean value that indicates whether an interrupted response can be continued with a request for the rest;
    /// `false` by default.
    ///
    /// Requests for byte ranges are made in any case if the playlist contains them.
    public var isByteRangeAccessSupported = false
    /// The time after the end of the loading after which the resource has to be renewed when it is requested again;
    /// `nil`, the default, if it stays valid.
    public var renewalDelay: Duration?

    /// Creates an empty description.
    public init() {}
}

/// The HTTP response to a loading request, as far as it differs from a successful one.
public struct AssetResourceResponse: Sendable, Hashable {
    /// The HTTP status.
    ///
    /// With 301, 302, 303, 307 or 308, the request is redirected. Any other status outside 200 to 299 fails the
    /// request as it would fail for a server, so that 403 and 410 renew expired URLs, and 404 skips a segment.
    public var status: Int
    /// The header fields.
    public var headers: [HeaderField]
    /// The URL of the resource, which is the base of relative URLs in it; `nil`, the default, for that of the request.
    public var address: ResourceAddress?

    /// Creates a response.
    public init(status: Int, headers: [HeaderField] = [], address: ResourceAddress? = nil) {
        self.status = status
        self.headers = headers
        self.address = address
    }

    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
}
