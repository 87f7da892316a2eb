public import MediaTiming

/// What a stretch of a stream carries.
public enum MediaType: String, Sendable, Hashable, CaseIterable {
    /// Picture, and nothing besides.
    case video
    /// Sound.
    case audio
    /// Text.
    case subtitles
    /// Picture and sound in one.
    case muxed
}

/// A request for a resource, from its beginning to its end.
public struct ResourceRequest: Sendable, Hashable {
    /// What the resource is to the item.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The playlist of all variants.
        case multivariantPlaylist
        /// The playlist of one rendition.
        case mediaPlaylist
        /// Media.
        case mediaSegment
        /// What a decoder needs before media.
        case initialization
        /// An encryption key.
        case contentKey
        /// Anything else.
        case other
    }

    /// What it is.
    public var kind: Kind
    /// Its address, as requested.
    public var address: String
    /// What it carries, where that is known.
    public var mediaType: MediaType?
    /// The variant it belongs to.
    public var variant: VariantDescription?
    /// The part of the resource that was asked for; `nil` for all.
    public var byteRange: ByteRange?
    /// When it was asked for, on the clock of the session.
    public var requestStart: Duration
    /// When the first byte of the answer came.
    public var responseStart: Duration?
    /// When the last one came, or when it failed.
    public var responseEnd: Duration
    /// How many bytes came over the network or out of the cache.
    public var bytes: ByteCount
    /// The numeric address of the server with its port.
    public var serverAddress: String?
    /// Whether no network was needed.
    public var wasReadFromCache: Bool
    /// The status of HTTP.
    public var status: Int?
    /// How much media time it carries.
    public var segmentDuration: MediaTime?
    /// The address of the playlist that named it.
    public var indexAddress: String?
    /// Why it failed; `nil` where it did not.
    public var failure: String?
    /// Whether it was given up for a smaller one.
    public var wasAbandoned = false
    /// Whether it went over a cellular network (`sc-wwan-count` of the access log); `nil` where nobody can tell.
    public var usedCellularNetwork: Bool?

    /// Makes a request that has ended.
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

/// A segment that went to the decoder.
public struct LoadedSegment: Sendable, Hashable {
    /// Its address.
    public let address: String
    /// What it carries.
    public let mediaType: MediaType
    /// The variant it belongs to; `nil` for a rendition that is shared by several.
    public let variant: VariantDescription?
    /// Where it lies on the timeline of the item.
    public let range: MediaTimeRange
    /// Its bytes.
    public let bytes: ByteCount
    /// How long it took, from the request to the last byte.
    public let transferDuration: Duration
    /// Whether it took longer than it plays, so that the buffer shrank (`c-overdue` of the access log).
    public let isOverdue: Bool

    /// Makes a report of a segment.
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

/// A segment that is left out.
public struct SkippedSegment: Sendable, Hashable {
    /// Why a segment is left out.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The playlist says that there is none (`EXT-X-GAP`).
        case gap
        /// It could not be loaded.
        case notLoaded
        /// It could not be decrypted or decoded.
        case notDecodable
        /// The server no longer has it.
        case outOfWindow
    }

    /// Its address.
    public let address: String
    /// What it would have carried.
    public let mediaType: MediaType
    /// Where it lies on the timeline of the item.
    public let range: MediaTimeRange
    /// Why it is left out.
    public let reason: Reason

    /// Makes a report of a segment that is missing.
    public init(address: String, mediaType: MediaType, range: MediaTimeRange, reason: Reason) {
        self.address = address
        self.mediaType = mediaType
        self.range = range
        self.reason = reason
    }
}

/// That what is buffered suffices.
public struct KeepUp: Sendable, Hashable {
    /// Whether it is the first time in the session.
    public let isInitial: Bool
    /// The variant that is fetched.
    public let variant: VariantDescription?
    /// How long it took, from the start of the session or since it last was not so.
    public let timeTaken: Duration
    /// What is buffered.
    public let loadedTimeRanges: [MediaTimeRange]
    /// The requests that it took, of the first time in the session; the first 64 of them.
    public let requests: [ResourceRequest]

    /// Makes a report.
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

/// How a seek ended.
public struct SeekOutcome: Sendable, Hashable {
    /// Where the play head was to be.
    public let target: MediaTime
    /// Where it is; `nil` where another seek came first.
    public let landed: MediaTime?
    /// Whether what was needed was buffered already.
    public let didSeekInBuffer: Bool

    /// Makes a report.
    public init(target: MediaTime, landed: MediaTime?, didSeekInBuffer: Bool) {
        self.target = target
        self.landed = landed
        self.didSeekInBuffer = didSeekInBuffer
    }
}
