public import MediaTiming
public import ResourceAddressing

/// A piece of media with everything that holds for it (RFC 8216bis §3 and §4.4.4).
///
/// It is a view of the playlist: its lines are looked at when it is made, and what they say is read when it is asked for.
/// Keep a property in a constant where it is used often.
public struct MediaSegment: Sendable {
    private let playlist: MediaPlaylist.Storage
    private let lines: SegmentLines
    private let startTicks: Int64
    /// Its position in the playlist, from 0.
    public let position: Int

    init(_ playlist: MediaPlaylist.Storage, at position: Int) {
        self.playlist = playlist
        self.position = position
        lines = playlist.ownLines(of: position)
        startTicks = playlist.index.segments[position].startTicks
    }

    /// Its media sequence number (§4.4.3.2).
    public var sequence: Int64 {
        (playlist.header.mediaSequence ?? 0) + playlist.header.skippedSegmentCount + Int64(position)
    }
    /// Its discontinuity sequence number (§4.4.3.3).
    public var discontinuitySequence: Int64 {
        let tags = playlist.header.discontinuities
        let count = tags.partitioningIndex { playlist.index.tags[Int($0)].segment > position }
        return (playlist.header.discontinuitySequence ?? 0) + Int64(count)
    }
    /// When it begins, counted from the first segment of the playlist.
    public var start: MediaTime { playlist.time(startTicks) }
    /// How long it is, exact to the digits written; zero where they cannot be read.
    public var duration: MediaTime {
        guard let range = lines.information else { return .zero }
        let bytes = playlist.bytes
        let digits = SegmentInformation.digits(bytes.span, in: range)
        return digits.value > 0 ? MediaTime(digits) : .zero
    }
    /// What stands behind the comma of `EXTINF`, `nil` where that is nothing.
    public var title: String? { lines.information.flatMap { SegmentInformation.title(playlist.bytes, in: $0) } }
    /// Its address as written, with variables replaced.
    public var uri: String { playlist.header.variables.substitute(playlist.bytes.text(lines.uri)) }
    /// Its address, absolute where that of the playlist is known.
    public var address: ResourceAddress { playlist.context.resolve(uri) }
    /// Which bytes of the resource it is; `nil` for all of them (§4.4.4.2).
    public var byteRange: ByteRange? { playlist.byteRange(lines.byteRange, of: position) }
    /// What a decoder needs before it (§4.4.4.5).
    public var map: MediaInitialization? { playlist.map(for: position) }
    /// How it is encrypted, one entry for each key format; empty where it is not (§4.4.4.4).
    public var keys: [EncryptionKey] { playlist.keys(for: position) }
    /// When it was recorded; carried forward from the last segment that says so (§4.4.4.6).
    public var programDateTime: ProgramDateTime? { playlist.programDateTime(of: position) }
    /// Whether ``programDateTime`` is written at this segment.
    public var hasOwnProgramDateTime: Bool { playlist.hasOwnDate(position) }
    /// Whether its media is missing (§4.4.4.7).
    public var isGap: Bool { playlist.hasTag(in: playlist.header.gaps, ownedBy: position) }
    /// Whether encoding or timestamps break off before it (§4.4.4.3).
    public var hasDiscontinuity: Bool { playlist.hasTag(in: playlist.header.discontinuities, ownedBy: position) }
    /// Its bit rate, as the playlist announces it (§4.4.4.8).
    public var bitRate: BitRate? { playlist.bitRate(for: position) }
    /// Its parts (§4.4.4.9).
    public var parts: [PartialSegment] { playlist.parts(ofSegment: position) }

    /// The stretch of the playlist's timeline that it fills.
    public var timeRange: MediaTimeRange { MediaTimeRange(start: start, duration: duration) }
}

/// What a decoder needs before the segments that name it: `EXT-X-MAP` (RFC 8216bis §4.4.4.5).
public struct MediaInitialization: Sendable, Hashable {
    /// Its address as written, with variables replaced.
    public let uri: String
    /// Its address, absolute where that of the playlist is known.
    public let address: ResourceAddress
    /// Which bytes of the resource it is; `nil` for all of them.
    public let byteRange: ByteRange?
    /// How it is encrypted itself.
    public let keys: [EncryptionKey]
}

/// How segments are encrypted: `EXT-X-KEY` (RFC 8216bis §4.4.4.4).
public struct EncryptionKey: Sendable, Hashable {
    /// `AES-128`, `SAMPLE-AES` and so on; never `NONE`.
    public let method: String
    /// Where the key is, as written, with variables replaced.
    public let uri: String?
    /// Where the key is, absolute where the playlist's address is known.
    public let address: ResourceAddress?
    /// The initialization vector as written, a hexadecimal number; `nil` where the sequence number serves (§5.2).
    public let initializationVector: String?
    /// How the key is represented; `identity` where the playlist does not say.
    public let keyFormat: String
    /// The versions of the format, as written.
    public let keyFormatVersions: String?

    /// Whether the key is 16 plain octets.
    public var isIdentity: Bool { keyFormat == "identity" }

    /// - Returns: `nil` for `METHOD=NONE` and for a tag without a method.
    init?(_ attributes: AttributeList, context: PlaylistContext, variables: PlaylistVariables) {
        guard let method = attributes["METHOD"], !method.isEmpty, method != "NONE" else { return nil }
        self.method = method
        uri = attributes["URI"].map(variables.substitute)
        address = uri.map(context.resolve)
        initializationVector = attributes["IV"]
        keyFormat = attributes["KEYFORMAT"].flatMap { $0.isEmpty ? nil : $0 } ?? "identity"
        keyFormatVersions = attributes["KEYFORMATVERSIONS"]
    }
}

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

    init?(_ attributes: AttributeList, context: PlaylistContext, variables: PlaylistVariables) {
        guard let type = attributes["TYPE"], let uri = attributes["URI"] else { return nil }
        self.type = type
        self.uri = variables.substitute(uri)
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

    init?(_ attributes: AttributeList, context: PlaylistContext, variables: PlaylistVariables) {
        guard let uri = attributes["URI"] else { return nil }
        self.uri = variables.substitute(uri)
        address = context.resolve(self.uri)
        lastMediaSequence = attributes.integer("LAST-MSN")
        lastPart = attributes.integer("LAST-PART")
    }
}

/// A stretch of time with attributes: `EXT-X-DATERANGE` (RFC 8216bis §4.4.5.1).
public struct DateRange: Sendable {
    /// What names it in the playlist.
    public let id: String
    /// All its attributes, of all tags with this ID; of two with one name the first counts.
    public let attributes: [AttributeList.Attribute]

    /// What clients define for its attributes.
    public var classIdentifier: String? { self["CLASS"] }
    /// When it begins.
    public var startDate: ProgramDateTime? { self["START-DATE"].flatMap { ProgramDateTime($0) } }
    /// When it ends, as written.
    public var endDate: ProgramDateTime? { self["END-DATE"].flatMap { ProgramDateTime($0) } }
    /// How long it is.
    public var duration: MediaTime? { self["DURATION"].flatMap { MediaTime(decimal: $0) } }
    /// How long it is expected to be.
    public var plannedDuration: MediaTime? { self["PLANNED-DURATION"].flatMap { MediaTime(decimal: $0) } }
    /// Whether it ends where the next of its class begins.
    public var endsOnNext: Bool { self["END-ON-NEXT"] == "YES" }

    /// The value of an attribute as text.
    public subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    static func merged(_ tags: [AttributeList]) -> [DateRange] {
        var order: [String] = []
        var byID: [String: [AttributeList.Attribute]] = [:]
        var known: [String: Set<String>] = [:]
        for tag in tags {
            guard let id = tag["ID"] else { continue }
            if byID[id] == nil { order.append(id) }
            for attribute in tag.attributes where known[id, default: []].insert(attribute.name).inserted {
                byID[id, default: []].append(attribute)
            }
        }
        return order.map { DateRange(id: $0, attributes: byID[$0] ?? []) }
    }
}
