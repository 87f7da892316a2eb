public import MediaTiming
public import ResourceAddressing

/// A partial segment for low-latency streaming: `EXT-X-PART` (RFC 8216bis §4.4.4.9).
public struct PartialSegment: Sendable, Hashable {
    /// The URI as written, with variables replaced.
    public let uri: String
    /// The resolved URI, which is absolute if the URL of the playlist is known.
    public let address: ResourceAddress
    /// The duration, or zero if it cannot be read.
    public let duration: MediaTime
    /// A Boolean value that indicates whether the part contains an independent frame.
    public let isIndependent: Bool
    /// A Boolean value that indicates whether the part is not available.
    public let isGap: Bool
    /// The byte range of the part in its resource, or `nil` for the entire resource.
    public let byteRange: ByteRange?
}

/// A hint about a resource that will be needed next: `EXT-X-PRELOAD-HINT` (RFC 8216bis §4.4.5.3).
public struct PreloadHint: Sendable, Hashable {
    /// The type of the resource, `PART` or `MAP`.
    public let type: String
    /// The URI as written, with variables replaced.
    public let uri: String
    /// The resolved URI, which is absolute if the URL of the playlist is known.
    public let address: ResourceAddress
    /// The offset of the first byte; 0 by default.
    public let byteRangeStart: Int64
    /// The number of bytes, or `nil` for all bytes up to the end of the resource.
    public let byteRangeLength: Int64?

    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let type = attributes["TYPE"], let uri = attributes["URI"] else { return nil }
        self.type = type
        self.uri = uri
        address = context.resolve(self.uri)
        byteRangeStart = attributes.integer("BYTERANGE-START") ?? 0
        byteRangeLength = attributes.integer("BYTERANGE-LENGTH")
    }
}

/// A report about the end of another rendition: `EXT-X-RENDITION-REPORT` (RFC 8216bis §4.4.5.4).
public struct RenditionReport: Sendable, Hashable {
    /// The URI of the rendition's media playlist as written, with variables replaced.
    public let uri: String
    /// The resolved URI, which is absolute if the URL of this playlist is known.
    public let address: ResourceAddress
    /// The media sequence number of the last segment of the rendition.
    public let lastMediaSequence: Int64?
    /// The index of the last partial segment of that segment.
    public let lastPart: Int64?

    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let uri = attributes["URI"] else { return nil }
        self.uri = uri
        address = context.resolve(self.uri)
        lastMediaSequence = attributes.integer("LAST-MSN")
        lastPart = attributes.integer("LAST-PART")
    }
}
