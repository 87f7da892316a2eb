public import ResourceAddressing

/// A value for the application: `EXT-X-SESSION-DATA` (RFC 8216bis §4.4.6.4).
public struct SessionData: Sendable, Hashable {
    /// How a resource of session data is written.
    public enum Format: String, Sendable, Hashable {
        /// As JSON; what counts where the playlist does not say.
        case json = "JSON"
        /// As plain bytes.
        case raw = "RAW"
    }

    /// What names it, as a reversed domain name.
    public let dataID: String
    /// The value itself, with variables replaced; `nil` where it is a resource.
    public let value: String?
    /// Where it is, as written, with variables replaced; `nil` where the value stands in the playlist.
    public let uri: String?
    /// Where it is, absolute where the playlist's address is known.
    public let address: ResourceAddress?
    /// How the resource is written; `nil` for a format that the standard does not know.
    public let format: Format?
    /// The language of the value (RFC 5646).
    public let language: String?

    /// - Returns: `nil` where the required `DATA-ID` is missing.
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

/// How a server moves its clients between pathways: `EXT-X-CONTENT-STEERING` (RFC 8216bis §4.4.6.6).
public struct ContentSteering: Sendable, Hashable {
    /// Where the steering manifest is, as written, with variables replaced.
    public let serverURI: String
    /// Where the steering manifest is, absolute where the playlist's address is known.
    public let serverAddress: ResourceAddress
    /// The pathway to begin with; `nil` for that of the first variant.
    public let pathwayID: String?

    /// - Returns: `nil` where the required `SERVER-URI` is missing.
    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let uri = attributes["SERVER-URI"] else { return nil }
        serverURI = uri
        serverAddress = context.resolve(serverURI)
        pathwayID = attributes["PATHWAY-ID"]
    }
}
