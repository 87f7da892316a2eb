public import ResourceAddressing

/// A value for the application: `EXT-X-SESSION-DATA` (RFC 8216bis §4.4.6.4).
public struct SessionData: Sendable, Hashable {
    /// The format of a session data resource.
    public enum Format: String, Sendable, Hashable {
        /// JSON, the default.
        case json = "JSON"
        /// Binary data.
        case raw = "RAW"
    }

    /// The identifier of the value, in reverse-DNS notation.
    public let dataID: String
    /// The value with variables replaced, or `nil` if it is in a separate resource.
    public let value: String?
    /// The URI of the resource as written, with variables replaced, or `nil` if the value is in the playlist.
    public let uri: String?
    /// The resolved URI, which is absolute if the URL of the playlist is known.
    public let address: ResourceAddress?
    /// The format of the resource, or `nil` for a format that the standard does not define.
    public let format: Format?
    /// The language of the value (RFC 5646).
    public let language: String?

    /// Creates session data from the attributes of a tag.
    ///
    /// - Returns: `nil` if the required `DATA-ID` is missing.
    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let dataID = attributes["DATA-ID"] else { return nil }
        self.dataID = dataID
        value = attributes["VALUE"]
        uri = attributes["URI"]
        address = uri.map(context.resolve)
        format = Format(rawValue: attributes["FORMAT"] ?? "JSON")
        language = attributes["LANGUAGE"]
    }
}

/// Information about the steering of clients between pathways: `EXT-X-CONTENT-STEERING` (RFC 8216bis §4.4.6.6).
public struct ContentSteering: Sendable, Hashable {
    /// The URI of the steering manifest as written, with variables replaced.
    public let serverURI: String
    /// The resolved URI of the steering manifest, which is absolute if the URL of the playlist is known.
    public let serverAddress: ResourceAddress
    /// The initial pathway, or `nil` for that of the first variant.
    public let pathwayID: String?

    /// Creates steering information from the attributes of a tag.
    ///
    /// - Returns: `nil` if the required `SERVER-URI` is missing.
    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let uri = attributes["SERVER-URI"] else { return nil }
        serverURI = uri
        serverAddress = context.resolve(serverURI)
        pathwayID = attributes["PATHWAY-ID"]
    }
}
