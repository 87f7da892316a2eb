public import MediaTiming
import ResourceAddressing
import Synchronization

/// A list of media segments (RFC 8216bis §4.4.3), every byte of it kept.
///
/// ``segments`` is a lazy collection: a segment is read from the bytes when it is asked for. Two playlists of a hundred
/// thousand segments cost little more than their text.
public struct MediaPlaylist: Sendable {
    /// What a playlist consists of, shared by the playlist, its segments and its copies.
    final class Storage: Sendable {
        let bytes: [UInt8]
        let context: PlaylistContext
        let index: PlaylistIndex
        let header: MediaPlaylistHeader
        /// What was read last of the tags that hold for many segments.
        let held = Mutex(HeldValues())

        init(bytes: [UInt8], index: PlaylistIndex, context: PlaylistContext) {
            self.bytes = bytes
            self.index = index
            self.context = context
            header = MediaPlaylistHeader(bytes, index, context: context)
        }
    }

    let storage: Storage

    /// The bytes of the playlist.
    public var bytes: [UInt8] { storage.bytes }
    /// Where it came from.
    public var context: PlaylistContext { storage.context }
    var index: PlaylistIndex { storage.index }
    var header: MediaPlaylistHeader { storage.header }

    /// Parses a media playlist as a lenient player would; see ``Playlist/parse(_:context:limits:)``.
    ///
    /// - Throws: ``PlaylistParsingError`` where nothing can be made of the bytes or they are a multivariant playlist.
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

    /// Parses a newer version of a media playlist; the result is the same as without the older one.
    ///
    /// Where segments went at the front and came at the back, as in a live playlist, only what changed is read; the rest is
    /// compared byte for byte and taken over.
    ///
    /// - Parameters:
    ///   - bytes: The newer version, whole; for a delta update see ``applying(_:limits:)``.
    ///   - previous: The older version.
    ///   - context: Where the newer version came from.
    ///   - limits: What is too large.
    /// - Throws: ``PlaylistParsingError`` where nothing can be made of the bytes or they are a multivariant playlist.
    /// - Complexity: O(*c* + *n*) for a change of *c* bytes, with an *n* that is compared and copied at the speed of memory.
    public init(
        parsing bytes: [UInt8],
        after previous: MediaPlaylist,
        context: PlaylistContext = PlaylistContext(),
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistParsingError) {
        // The numbers say which segments went; where they mislead, nothing is the same and all is read.
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

    /// Its segments in their order.
    public var segments: MediaSegments { MediaSegments(storage: storage) }

    /// The protocol version it declares, 1 where it declares none (§4.4.1.2).
    public var version: Int { header.version ?? 1 }
    /// The version as declared, `nil` where it declares none.
    public var declaredVersion: Int? { header.version }
    /// The upper bound on the rounded duration of any segment (§4.4.3.1); `nil` where the required tag is missing.
    public var targetDuration: MediaTime? { header.targetDuration }
    /// The number of the first segment, 0 where it is not declared (§4.4.3.2).
    public var mediaSequence: Int64 { header.mediaSequence ?? 0 }
    /// The number of the first segment as declared.
    public var declaredMediaSequence: Int64? { header.mediaSequence }
    /// The discontinuity number of the first segment, 0 where it is not declared (§4.4.3.3).
    public var discontinuitySequence: Int64 { header.discontinuitySequence ?? 0 }
    /// Whether no segment will be added: `EXT-X-ENDLIST` stands in it (§4.4.3.4).
    public var hasEndMarker: Bool { header.hasEndMarker }
    /// What may change in it (§4.4.3.5), `nil` where it does not say.
    public var playlistType: PlaylistType? { header.playlistType }
    /// Whether each segment is one I-frame (§4.4.3.6).
    public var isIFramesOnly: Bool { header.isIFramesOnly }
    /// Whether every segment can be decoded by itself (§4.4.2.1).
    public var hasIndependentSegments: Bool { header.hasIndependentSegments }
    /// Where to begin (§4.4.2.2).
    public var start: PlaylistStart? { header.start }
    /// Whether segments may still be added, so that it has to be loaded again.
    public var isLive: Bool { !hasEndMarker && playlistType != .vod }
    /// The longest partial segment (§4.4.3.7).
    public var partTargetDuration: MediaTime? { header.partTargetDuration }
    /// What the server offers for low latency (§4.4.3.8).
    public var serverControl: ServerControl? { header.serverControl }
    /// Its variables with their values (§4.4.2.3).
    public var variables: [String: String] { header.variables.values }
    /// How many segments a delta update leaves out (§4.4.5.2).
    public var skippedSegmentCount: Int64 { header.skippedSegmentCount }

    /// The IDs of date ranges that a delta update says are gone; `nil` where it leaves no date ranges out (§4.4.5.2).
    public var recentlyRemovedDateRanges: [String]? { header.recentlyRemovedDateRanges }

    /// The sum of all durations, exact to nine digits.
    public var duration: MediaTime { storage.time(index.endTicks) }

    /// The date ranges in their order (§4.4.5.1); parts of one that is written several times are merged by its ID.
    public var dateRanges: [DateRange] {
        DateRange.merged(tags(.dateRange), context: context, variables: header.variables)
    }
    /// What will come next (§4.4.5.3).
    public var preloadHints: [PreloadHint] {
        tags(.preloadHint).compactMap { PreloadHint($0, context: context) }
    }
    /// How far the other renditions are (§4.4.5.4).
    public var renditionReports: [RenditionReport] {
        tags(.renditionReport).compactMap { RenditionReport($0, context: context) }
    }
    /// The parts behind the last whole segment (§4.4.4.9).
    public var trailingParts: [PartialSegment] { storage.parts(ofSegment: index.segments.count) }
    /// The tags that the standard does not know, in their places.
    public var unknownTags: [UnknownTag] { UnknownTag.all(in: bytes, index) }

    private func tags(_ tag: TagName) -> [AttributeList] {
        storage.index.tags.filter { $0.tag == tag }.map { storage.attributes(at: $0) }
    }
}

/// What a media playlist's `EXT-X-PLAYLIST-TYPE` promises (RFC 8216bis §4.4.3.5).
public enum PlaylistType: String, Sendable, Hashable {
    /// Segments are only ever added at the end.
    case event = "EVENT"
    /// Nothing changes.
    case vod = "VOD"
}

/// Where a player should begin (RFC 8216bis §4.4.2.2).
public struct PlaylistStart: Sendable, Hashable {
    /// Seconds from the beginning; negative, seconds from the end.
    public let offset: MediaTime
    /// Whether media before that time in its segment should not be shown.
    public let isPrecise: Bool

    init?(_ attributes: AttributeList) {
        guard let offset = attributes.decimal("TIME-OFFSET") else { return nil }
        self.offset = offset
        isPrecise = attributes.isYes("PRECISE")
    }
}

/// What a server offers for low latency (RFC 8216bis §4.4.3.8).
public struct ServerControl: Sendable, Hashable {
    /// Segments older than this may be left out of a delta update.
    public let canSkipUntil: MediaTime?
    /// Whether old date ranges may be left out too.
    public let canSkipDateRanges: Bool
    /// How far from the end to play, at least.
    public let holdBack: MediaTime?
    /// The same for a player that loads parts.
    public let partHoldBack: MediaTime?
    /// Whether the server holds a request until the segment asked for is there.
    public let canBlockReload: Bool

    init(_ attributes: AttributeList) {
        canSkipUntil = attributes.decimal("CAN-SKIP-UNTIL")
        canSkipDateRanges = attributes.isYes("CAN-SKIP-DATERANGES")
        holdBack = attributes.decimal("HOLD-BACK")
        partHoldBack = attributes.decimal("PART-HOLD-BACK")
        canBlockReload = attributes.isYes("CAN-BLOCK-RELOAD")
    }
}
