public import MediaTiming
public import ResourceAddressing

/// A part of a segment for low latency: `EXT-X-PART` (RFC 8216bis §4.4.4.9).
public struct PartialSegment: Sendable, Hashable {
    /// Its address as written, with variables replaced.
    public let uri: String
    /// Its address, absolute where that of the playlist is known.
    public let address: ResourceAddress
    /// How long it is.
    public let duration: MediaTime
    /// Whether it begins with a frame that needs no other.
    public let isIndependent: Bool
    /// Whether its media is missing.
    public let isGap: Bool
    /// Which bytes of the resource it is; `nil` for all of them.
    public let byteRange: ByteRange?
}

/// What will come next: `EXT-X-PRELOAD-HINT` (RFC 8216bis §4.4.5.3).
public struct PreloadHint: Sendable, Hashable {
    /// `PART` or `MAP`.
    public let type: String
    /// Its address as written, with variables replaced.
    public let uri: String
    /// Its address, absolute where that of the playlist is known.
    public let address: ResourceAddress
    /// The offset of its first byte.
    public let byteRangeStart: Int64
    /// How many bytes; `nil` for all to the end.
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

/// How far another rendition is: `EXT-X-RENDITION-REPORT` (RFC 8216bis §4.4.5.4).
public struct RenditionReport: Sendable, Hashable {
    /// The address of its playlist as written, with variables replaced.
    public let uri: String
    /// Its address, absolute where that of this playlist is known.
    public let address: ResourceAddress
    /// The media sequence number of its last segment.
    public let lastMediaSequence: Int64?
    /// The index of its last part.
    public let lastPart: Int64?

    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let uri = attributes["URI"] else { return nil }
        self.uri = uri
        address = context.resolve(self.uri)
        lastMediaSequence = attributes.integer("LAST-MSN")
        lastPart = attributes.integer("LAST-PART")
    }
}
