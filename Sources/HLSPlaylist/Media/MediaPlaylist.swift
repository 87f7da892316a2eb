public import MediaTiming
import ResourceAddressing
import Synchronization

/// A media playlist, which lists media segments (RFC 8216bis §4.4.3), with all of its bytes.
///
/// ``segments`` is a lazy collection: a segment is read from the bytes when it is accessed. Two playlists of a hundred
/// thousand segments need little more memory than their text.
public struct MediaPlaylist: Sendable {
    /// The contents of a playlist, shared by the playlist, its segments and its copies.
    final class Storage: Sendable {
        let bytes: [UInt8]
        let context: PlaylistContext
        let index: PlaylistIndex
        let header: MediaPlaylistHeader
        /// The cached values of tags that apply to many segments.
        let cache = Mutex(TagValueCache())

        init(bytes: [UInt8], index: PlaylistIndex, context: PlaylistContext) {
            self.bytes = bytes
            self.index = index
            self.context = context
            header = MediaPlaylistHeader(bytes, index, context: context)
        }

        /// The text of the playlist, with what its values depend on.
        var text: PlaylistText { PlaylistText(bytes: bytes, context: context, variables: header.variables) }
    }

    let storage: Storage

    /// The bytes of the playlist.
    public var bytes: [UInt8] { storage.bytes }
    /// The origin of the playlist.
    public var context: PlaylistContext { storage.context }
    var index: PlaylistIndex { storage.index }
    var header: MediaPlaylistHeader { storage.header }

    /// Creates a media playlist by parsing it as leniently as a player; see ``Playlist/parse(_:context:limits:)``.
    ///
    /// - Throws: ``PlaylistParsingError`` if the bytes are not a playlist, are a multivariant playlist, or exceed a
    ///   limit.
    public init(
        parsing bytes: [UInt8],
        context: PlaylistContext = PlaylistContext(),
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistParsingError) {
        guard case .media(let playlist) = try Playlist.parse(bytes, context: context, limits: limits) else {
            throw .unexpectedKind(found: .multivariant)
        }
        self = playlist
    }

    /// Creates a media playlist by parsing a newer version of another one; the result is the same as without the older
    /// one.
    ///
    /// If segments were removed at the front and added at the end, as in a live playlist, only the changed lines are
    /// parsed; the rest is compared byte for byte and reused.
    ///
    /// - Parameters:
    ///   - bytes: The full newer version; for a delta update see ``applying(_:limits:)``.
    ///   - previous: The older version.
    ///   - context: The origin of the newer version.
    ///   - limits: The maximum sizes of the playlist and its parts.
    /// - Throws: ``PlaylistParsingError`` if the bytes are not a playlist, are a multivariant playlist, or exceed a
    ///   limit.
    /// - Complexity: O(*c* + *n*) for a change of *c* bytes in *n* bytes; unchanged bytes are only compared and copied.
    public init(
        parsing bytes: [UInt8],
        after previous: MediaPlaylist,
        context: PlaylistContext = PlaylistContext(),
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistParsingError) {
        // The media sequence numbers tell which segments were removed. If they are wrong, no lines match and all are
        // parsed.
        let declared = MediaPlaylistHeader.mediaSequence(in: bytes) ?? 0
        let dropped = declared -| previous.mediaSequence
        guard dropped >= 0, dropped < previous.segments.count else {
            try self.init(parsing: bytes, context: context, limits: limits)
            return
        }
        let index = try PlaylistIndex(
            bytes,
            after: previous.index,
            of: previous.bytes,
            dropping: Int(dropped),
            limits: limits
        )
        guard index.hasHeader, index.kind == .media else {
            try self.init(parsing: bytes, context: context, limits: limits)
            return
        }
        self.init(bytes: bytes, index: index, context: context)
    }

    init(bytes: [UInt8], index: PlaylistIndex, context: PlaylistContext) {
        storage = Storage(bytes: bytes, index: index, context: context)
    }

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// The media segments in order.
    public var segments: MediaSegments { MediaSegments(storage: storage) }

    /// The protocol version, 1 if it is not declared (§4.4.1.2).
    public var version: Int { header.version ?? 1 }
    /// The declared protocol version, or `nil` if there is none.
    public var declaredVersion: Int? { header.version }
    /// The upper bound on the rounded duration of any segment (§4.4.3.1), or `nil` if the required tag is missing.
    public var targetDuration: MediaTime? { header.targetDuration }
    /// The media sequence number of the first segment, 0 if it is not declared (§4.4.3.2).
    public var mediaSequence: Int64 { header.mediaSequence ?? 0 }
    /// The declared media sequence number of the first segment, or `nil` if there is none.
    public var declaredMediaSequence: Int64? { header.mediaSequence }
    /// The discontinuity sequence number of the first segment, 0 if it is not declared (§4.4.3.3).
    public var discontinuitySequence: Int64 { header.discontinuitySequence ?? 0 }
    /// A Boolean value that indicates whether the playlist has an `EXT-X-ENDLIST` tag: no segments will be added
    /// (§4.4.3.4).
    public var hasEndMarker: Bool { header.hasEndMarker }
    /// The declared mutability of the playlist, or `nil` if it is not declared (§4.4.3.5).
    public var playlistType: PlaylistType? { header.playlistType }
    /// A Boolean value that indicates whether each segment is a single I-frame (§4.4.3.6).
    public var isIFramesOnly: Bool { header.isIFramesOnly }
    /// A Boolean value that indicates whether each segment can be decoded without other segments (§4.4.2.1).
    public var hasIndependentSegments: Bool { header.hasIndependentSegments }
    /// The preferred point at which to start playback (§4.4.2.2).
    public var start: PlaylistStart? { header.start }
    /// A Boolean value that indicates whether segments may still be added, so that the playlist must be reloaded.
    ///
    /// The value is `false` if the playlist has an end marker or its type is `VOD`.
    public var isLive: Bool { !hasEndMarker && playlistType != .vod }
    /// A Boolean value that indicates whether the playlist has a tag that only media playlists may contain (§4.1).
    ///
    /// The value is `false` for a playlist that has only tags of both kinds, or none.
    package var hasMediaTags: Bool { index.kind == .media }
    /// The part target duration: the maximum duration of a partial segment (§4.4.3.7).
    public var partTargetDuration: MediaTime? { header.partTargetDuration }
    /// The delivery directives that the server supports (§4.4.3.8).
    public var serverControl: ServerControl? { header.serverControl }
    /// The variables and their values (§4.4.2.3).
    public var variables: [String: String] { header.variables.values }
    /// The number of segments that a delta update skips (§4.4.5.2).
    public var skippedSegmentCount: Int64 { header.skippedSegmentCount }

    /// The IDs of the date ranges that a delta update reports as removed, or `nil` if it does not skip date ranges
    /// (§4.4.5.2).
    public var recentlyRemovedDateRanges: [String]? { header.recentlyRemovedDateRanges }

    /// The sum of the durations of all segments, exact to nine decimal places.
    public var duration: MediaTime { storage.time(index.endTicks) }

    /// The date ranges in order; tags with the same ID are merged (§4.4.5.1).
    public var dateRanges: [DateRange] {
        DateRange.merged(tags(.dateRange), context: context, variables: header.variables)
    }
    /// The hints about resources that will be needed next (§4.4.5.3).
    public var preloadHints: [PreloadHint] {
        tags(.preloadHint).compactMap { PreloadHint($0, context: context) }
    }
    /// The reports about the ends of other renditions (§4.4.5.4).
    public var renditionReports: [RenditionReport] {
        tags(.renditionReport).compactMap { RenditionReport($0, context: context) }
    }
    /// The partial segments after the last complete segment (§4.4.4.9).
    public var trailingParts: [PartialSegment] { storage.parts(ofSegment: index.segments.count) }
    /// The tags that the standard does not define, with their positions.
    public var unknownTags: [UnknownTag] { UnknownTag.all(in: bytes, index) }

    private func tags(_ tag: TagName) -> [AttributeList] {
        storage.index.tags.filter { $0.tag == tag }.map { storage.attributes(at: $0) }
    }
}

/// The mutability of a media playlist: `EXT-X-PLAYLIST-TYPE` (RFC 8216bis §4.4.3.5).
public enum PlaylistType: String, Sendable, Hashable {
    /// Segments may only be added at the end.
    case event = "EVENT"
    /// The playlist does not change.
    case vod = "VOD"
}

/// The preferred point at which to start playback (RFC 8216bis §4.4.2.2).
public struct PlaylistStart: Sendable, Hashable {
    /// The offset from the beginning in seconds; if negative, from the end.
    public let offset: MediaTime
    /// A Boolean value that indicates whether a player should not render media of the start segment before the offset.
    public let isPrecise: Bool

    init?(_ attributes: AttributeList) {
        guard let offset = attributes.decimal("TIME-OFFSET") else { return nil }
        self.offset = offset
        isPrecise = attributes.isYes("PRECISE")
    }
}

/// The delivery directives that a server supports (RFC 8216bis §4.4.3.8).
public struct ServerControl: Sendable, Hashable {
    /// The skip boundary: a delta update may skip segments that are farther from the end than this.
    public let canSkipUntil: MediaTime?
    /// A Boolean value that indicates whether a delta update may skip older date ranges as well.
    public let canSkipDateRanges: Bool
    /// The recommended minimum distance from the end of the playlist at which to play.
    public let holdBack: MediaTime?
    /// The recommended minimum distance from the end of the playlist at which to play in low-latency mode.
    public let partHoldBack: MediaTime?
    /// A Boolean value that indicates whether the server supports blocking playlist reload.
    public let canBlockReload: Bool

    init(_ attributes: AttributeList) {
        canSkipUntil = attributes.decimal("CAN-SKIP-UNTIL")
        canSkipDateRanges = attributes.isYes("CAN-SKIP-DATERANGES")
        holdBack = attributes.decimal("HOLD-BACK")
        partHoldBack = attributes.decimal("PART-HOLD-BACK")
        canBlockReload = attributes.isYes("CAN-BLOCK-RELOAD")
    }
}
