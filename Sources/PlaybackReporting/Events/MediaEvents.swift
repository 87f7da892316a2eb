public import MediaTiming

/// The type of media in a segment or track.
public enum MediaType: String, Sendable, Hashable, CaseIterable {
    /// Video without audio.
    case video
    /// Audio.
    case audio
    /// Subtitles.
    case subtitles
    /// Video and audio in the same segments.
    case muxed
}

/// A completed request for a resource.
public struct ResourceRequest: Sendable, Hashable {
    /// The type of a resource.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A multivariant playlist.
        case multivariantPlaylist
        /// A media playlist.
        case mediaPlaylist
        /// A media segment.
        case mediaSegment
        /// A media initialization section.
        case initialization
        /// An encryption key.
        case contentKey
        /// Any other resource.
        case other
    }

    /// The type of the resource.
    public var kind: Kind
    /// The URL of the request.
    public var address: String
    /// The media type of the resource, or `nil` if it is unknown.
    public var mediaType: MediaType?
    /// The variant of the resource, or `nil` if it belongs to none.
    public var variant: VariantDescription?
    /// The requested byte range, or `nil` for the entire resource.
    public var byteRange: ByteRange?
    /// The time at which the request was sent, on the clock of the session.
    public var requestStart: Duration
    /// The time of the first byte of the response, or `nil` if none was received.
    public var responseStart: Duration?
    /// The time of the last byte of the response, or of the failure.
    public var responseEnd: Duration
    /// The number of bytes received over the network or read from the cache.
    public var bytes: ByteCount
    /// The IP address of the server with its port.
    public var serverAddress: String?
    /// A Boolean value that indicates whether the resource was read from a cache without using the network.
    public var wasReadFromCache: Bool
    /// The HTTP status code.
    public var status: Int?
    /// The media duration of the segment.
    public var segmentDuration: MediaTime?
    /// The URL of the playlist that contains the resource.
    public var indexAddress: String?
    /// A description of the failure, or `nil` if the request succeeded.
    public var failure: String?
    /// A Boolean value that indicates whether the transfer was abandoned in favor of a smaller segment.
    public var wasAbandoned = false
    /// A Boolean value that indicates whether the request used a cellular network (`sc-wwan-count` of the access log).
    ///
    /// `nil` if the transport does not report it.
    public var usedCellularNetwork: Bool?

    /// Creates a completed request.
    public init(
        kind: Kind,
        address: String,
        mediaType: MediaType? = nil,
        variant: VariantDescription? = nil,
        byteRange: ByteRange? = nil,
        requestStart: Duration,
        responseStart: Duration?,
        responseEnd: Duration,
        bytes: ByteCount,
        wasReadFromCache: Bool = false
    ) {
        self.kind = kind
        self.address = address
        self.mediaType = mediaType
        self.variant = variant
        self.byteRange = byteRange
        self.requestStart = requestStart
        self.responseStart = responseStart
        self.responseEnd = responseEnd
        self.bytes = bytes
        self.wasReadFromCache = wasReadFromCache
    }
}

/// A segment that was appended to the decoder.
public struct LoadedSegment: Sendable, Hashable {
    /// The URL of the segment.
    public let address: String
    /// The media type of the segment.
    public let mediaType: MediaType
    /// The variant of the segment, or `nil` for a rendition that several variants share.
    public let variant: VariantDescription?
    /// The time range of the segment on the timeline of the item.
    public let range: MediaTimeRange
    /// The size of the segment in bytes.
    public let bytes: ByteCount
    /// The time from the request to the last byte.
    public let transferDuration: Duration
    /// A Boolean value that indicates whether the transfer took longer than the segment's duration (`c-overdue` of the
    /// access log).
    public let isOverdue: Bool

    /// Creates the report of a loaded segment.
    public init(
        address: String,
        mediaType: MediaType,
        variant: VariantDescription?,
        range: MediaTimeRange,
        bytes: ByteCount,
        transferDuration: Duration,
        isOverdue: Bool
    ) {
        self.address = address
        self.mediaType = mediaType
        self.variant = variant
        self.range = range
        self.bytes = bytes
        self.transferDuration = transferDuration
        self.isOverdue = isOverdue
    }
}

/// A segment that was skipped.
public struct SkippedSegment: Sendable, Hashable {
    /// The reason for which a segment is skipped.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The playlist marks the segment as missing (`EXT-X-GAP`).
        case gap
        /// The segment could not be loaded.
        case notLoaded
        /// The segment could not be decrypted or decoded.
        case notDecodable
        /// The segment is no longer available on the server.
        case outOfWindow
    }

    /// The URL of the segment, or an empty string for a time range for which the playlist has no segment.
    public let address: String
    /// The media type of the segment.
    public let mediaType: MediaType
    /// The time range of the segment on the timeline of the item, or of the damaged part of it.
    public let range: MediaTimeRange
    /// The reason for which the segment is skipped.
    public let reason: Reason
    /// The media sequence number of the segment, or `nil` if it is unknown or the segment is a part of a media file.
    public let sequence: Int64?

    /// Creates the report of a skipped segment.
    public init(
        address: String,
        mediaType: MediaType,
        range: MediaTimeRange,
        reason: Reason,
        sequence: Int64? = nil
    ) {
        self.address = address
        self.mediaType = mediaType
        self.range = range
        self.reason = reason
        self.sequence = sequence
    }
}

/// A report that the buffered media suffices to play without stalls.
public struct LikelyToKeepUpReport: Sendable, Hashable {
    /// A Boolean value that indicates whether this is the first such report of the session.
    public let isInitial: Bool
    /// The variant that is being loaded.
    public let variant: VariantDescription?
    /// The time since the start of the session, or since the buffer was last insufficient.
    public let timeTaken: Duration
    /// The buffered ranges.
    public let loadedTimeRanges: [MediaTimeRange]
    /// The first 64 requests of the session, in the initial report; otherwise empty.
    public let requests: [ResourceRequest]

    /// Creates a report.
    public init(
        isInitial: Bool,
        variant: VariantDescription?,
        timeTaken: Duration,
        loadedTimeRanges: [MediaTimeRange],
        requests: [ResourceRequest] = []
    ) {
        self.requests = requests
        self.isInitial = isInitial
        self.variant = variant
        self.timeTaken = timeTaken
        self.loadedTimeRanges = loadedTimeRanges
    }
}

/// The result of a seek.
public struct SeekRecord: Sendable, Hashable {
    /// The requested position.
    public let target: MediaTime
    /// The position after the seek, or `nil` if another seek began before it completed.
    public let landed: MediaTime?
    /// A Boolean value that indicates whether the required media was already buffered.
    public let didSeekInBuffer: Bool

    /// Creates the result of a seek.
    public init(target: MediaTime, landed: MediaTime?, didSeekInBuffer: Bool) {
        self.target = target
        self.landed = landed
        self.didSeekInBuffer = didSeekInBuffer
    }
}
