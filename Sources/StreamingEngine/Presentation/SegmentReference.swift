public import HLSPlaylist
public import MediaTiming
public import ResourceAddressing

/// A media segment as a player needs it: where it is, when it is shown, and what it takes to decode it.
///
/// It stands by itself, and stays right when its playlist has long forgotten it.
public struct SegmentReference: Sendable, Hashable {
    /// The media sequence number (RFC 8216bis §4.4.3.2); it says nothing about other playlists.
    public let sequence: Int64
    /// Where it is: the playlist's own bytes, resolved against the address of the playlist.
    public let address: ResourceAddress
    /// Which bytes of that resource; `nil` for all of them (§4.4.4.2).
    public let byteRange: ByteRange?
    /// When it is shown, in presentation time.
    public internal(set) var range: MediaTimeRange
    /// Whose timestamps and encoding it has.
    public let domain: DiscontinuityDomain
    /// Whether it is the first segment behind a discontinuity.
    public let beginsDomain: Bool
    /// How it is encrypted.
    public let protection: Protection
    /// What a decoder needs before it (§4.4.4.5).
    public let initialization: InitializationReference?
    /// Whether its media is missing, so that it must not be loaded (§4.4.4.7).
    public let isGap: Bool
    /// Its bit rate as announced (§4.4.4.8).
    public let bitRate: BitRate?
    /// When it was recorded, written or counted on from a date that is; never a reason to shift media time (§4.4.4.6).
    public let programDate: ProgramDateTime?
    /// Its parts for low latency, where they are still listed (§4.4.4.9).
    public let parts: [PartReference]

    /// When it begins, in presentation time.
    public var start: MediaTime { range.start }
    /// How long it is.
    public var duration: MediaTime { range.duration }
    /// When the next one begins, in presentation time.
    public var end: MediaTime { range.end }
}

/// What a decoder needs before the segments that name it: a map with everything that it takes to load it (§4.4.4.5).
public struct InitializationReference: Sendable, Hashable {
    /// Where it is.
    public let address: ResourceAddress
    /// Which bytes of that resource; `nil` for all of them.
    ///
    /// A range of its own, which no segment inherits.
    public let byteRange: ByteRange?
    /// How it is encrypted itself.
    public let protection: Protection

    init(_ map: MediaInitialization) {
        self.init(address: map.address, byteRange: map.byteRange, keys: map.keys)
    }

    init(address: ResourceAddress, byteRange: ByteRange?, keys: [EncryptionKey]) {
        self.address = address
        self.byteRange = byteRange
        protection = Protection(keys, sequence: nil)
    }
}

/// A part of a segment for low latency (§4.4.4.9).
public struct PartReference: Sendable, Hashable {
    /// The media sequence number of its segment.
    public let sequence: Int64
    /// Its position in the segment, from 0.
    public let index: Int
    /// Where it is.
    public let address: ResourceAddress
    /// Which bytes of that resource; `nil` for all of them.
    public let byteRange: ByteRange?
    /// When it is shown, in presentation time.
    public let range: MediaTimeRange
    /// Whether it begins with a frame that needs no other.
    public let isIndependent: Bool
    /// Whether its media is missing.
    public let isGap: Bool
}

/// The segment at the live edge that is not complete: what is known of it are its parts.
public struct PendingSegment: Sendable, Hashable {
    /// The media sequence number that it will have.
    public let sequence: Int64
    /// When it begins, in presentation time.
    public let start: MediaTime
    /// Whose timestamps and encoding it has.
    public let domain: DiscontinuityDomain
    /// How its parts are encrypted.
    public let protection: Protection
    /// What a decoder needs before it.
    public let initialization: InitializationReference?
    /// Its parts so far, possibly none.
    public let parts: [PartReference]

    /// When its last part ends, in presentation time.
    public var end: MediaTime { parts.last?.range.end ?? start }
}

/// What will come next and may be asked for already (§4.4.5.3).
public struct PreloadReference: Sendable, Hashable {
    /// What is announced.
    public enum Kind: String, Sendable, Hashable {
        /// The next part.
        case part = "PART"
        /// The map of what comes next.
        case map = "MAP"
    }

    /// What is announced.
    public let kind: Kind
    /// Where it will be.
    public let address: ResourceAddress
    /// The offset of its first byte.
    public let byteRangeStart: Int64
    /// How many bytes; `nil` for all to the end.
    public let byteRangeLength: Int64?

    /// `nil` for a hint of a kind that the standard does not know.
    init?(_ hint: PreloadHint) {
        guard let kind = Kind(rawValue: hint.type) else { return nil }
        self.kind = kind
        address = hint.address
        byteRangeStart = hint.byteRangeStart
        byteRangeLength = hint.byteRangeLength
    }
}
