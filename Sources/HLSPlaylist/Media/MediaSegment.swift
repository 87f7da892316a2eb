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
        (playlist.header.mediaSequence ?? 0) +| playlist.header.skippedSegmentCount +| Int64(position)
    }
    /// Its discontinuity sequence number (§4.4.3.3).
    public var discontinuitySequence: Int64 {
        let tags = playlist.header.discontinuities
        let count = tags.partitioningIndex { playlist.index.tags[Int($0)].segment > position }
        return (playlist.header.discontinuitySequence ?? 0) +| Int64(count)
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
    /// Its bit rate, as the playlist announces it; `nil` for a part of a resource, which is never announced (§4.4.4.8).
    public var bitRate: BitRate? { lines.byteRange == nil ? playlist.bitRate(for: position) : nil }
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
