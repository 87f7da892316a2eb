package import HLSPlaylist
package import MediaTiming
package import ResourceAddressing

/// A media segment with all properties that are required to load, decode and present it.
///
/// It does not depend on its playlist, and remains valid after the playlist no longer contains it.
package struct SegmentReference: Sendable, Hashable {
    /// The media sequence number (RFC 8216bis §4.4.3.2), which is unrelated to those of other playlists.
    package let sequence: Int64
    /// The URL of the segment, resolved against that of the playlist.
    package let address: ResourceAddress
    /// The byte range of the segment in the resource, or `nil` for the entire resource (§4.4.4.2).
    package let byteRange: ByteRange?
    /// The presentation time range.
    package internal(set) var range: MediaTimeRange
    /// The discontinuity domain, which determines its timestamps and encoding.
    package let domain: DiscontinuityDomain
    /// A Boolean value that indicates whether it is the first segment after a discontinuity.
    package let beginsDomain: Bool
    /// The encryption of the segment.
    package let protection: Protection
    /// The media initialization section of the segment (§4.4.4.5).
    package let initialization: InitializationReference?
    /// A Boolean value that indicates whether the media is missing, so that it must not be loaded (§4.4.4.7).
    package let isGap: Bool
    /// The bit rate according to the playlist (§4.4.4.8).
    package let bitRate: BitRate?
    /// The date of the first sample, in the playlist or extrapolated; it never changes media time (§4.4.4.6).
    package let programDate: ProgramDateTime?
    /// The partial segments that are still in the playlist (§4.4.4.9).
    package let parts: [PartReference]

    /// The start, in presentation time.
    package var start: MediaTime { range.start }
    /// The duration.
    package var duration: MediaTime { range.duration }
    /// The end, in presentation time.
    package var end: MediaTime { range.end }
}

/// A media initialization section with all properties that are required to load it (§4.4.4.5).
package struct InitializationReference: Sendable, Hashable {
    /// The URL of the section.
    package let address: ResourceAddress
    /// The byte range of the section in the resource, or `nil` for the entire resource.
    ///
    /// It is independent of the byte ranges of segments.
    package let byteRange: ByteRange?
    /// The encryption of the section itself.
    package let protection: Protection

    init(_ map: MediaInitialization) {
        self.init(address: map.address, byteRange: map.byteRange, keys: map.keys)
    }

    init(address: ResourceAddress, byteRange: ByteRange?, keys: [EncryptionKey]) {
        self.address = address
        self.byteRange = byteRange
        protection = Protection(keys, sequence: nil)
    }
}

/// A partial segment (§4.4.4.9).
package struct PartReference: Sendable, Hashable {
    /// The media sequence number of its parent segment.
    package let sequence: Int64
    /// The index in the parent segment, starting at 0.
    package let index: Int
    /// The URL of the partial segment.
    package let address: ResourceAddress
    /// The byte range of the partial segment in the resource, or `nil` for the entire resource.
    package let byteRange: ByteRange?
    /// The presentation time range.
    package let range: MediaTimeRange
    /// A Boolean value that indicates whether it begins with an independent frame.
    package let isIndependent: Bool
    /// A Boolean value that indicates whether the media is missing.
    package let isGap: Bool
}

/// The incomplete segment at the live edge, of which only partial segments are available.
package struct PendingSegment: Sendable, Hashable {
    /// The media sequence number that the segment will have.
    package let sequence: Int64
    /// The start, in presentation time.
    package let start: MediaTime
    /// The discontinuity domain, which determines its timestamps and encoding.
    package let domain: DiscontinuityDomain
    /// The encryption of the partial segments.
    package let protection: Protection
    /// The media initialization section of the segment.
    package let initialization: InitializationReference?
    /// The available partial segments; may be empty.
    package let parts: [PartReference]

    /// The end of the last partial segment, in presentation time.
    package var end: MediaTime { parts.last?.range.end ?? start }
}

/// A preload hint: a resource that may be requested before it is available (§4.4.5.3).
package struct PreloadReference: Sendable, Hashable {
    /// The type of a hinted resource.
    package enum Kind: String, Sendable, Hashable {
        /// The next partial segment.
        case part = "PART"
        /// A media initialization section for the following segments.
        case map = "MAP"
    }

    /// The type of the hinted resource.
    package let kind: Kind
    /// The URL of the resource.
    package let address: ResourceAddress
    /// The offset of the first byte.
    package let byteRangeStart: Int64
    /// The number of bytes, or `nil` up to the end of the resource.
    package let byteRangeLength: Int64?

    /// Creates a reference for a hint; `nil` if its type is not defined by RFC 8216bis.
    init?(_ hint: PreloadHint) {
        guard let kind = Kind(rawValue: hint.type) else { return nil }
        self.kind = kind
        address = hint.address
        byteRangeStart = hint.byteRangeStart
        byteRangeLength = hint.byteRangeLength
    }
}
