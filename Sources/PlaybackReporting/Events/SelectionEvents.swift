public import MediaTiming

/// A switch of the variant, with its cause.
public struct VariantSwitch: Sendable, Hashable {
    /// The previous variant, or `nil` for the first one.
    public let from: VariantDescription?
    /// The new variant.
    public let to: VariantDescription
    /// The cause, as an identifier that does not change between versions.
    public let cause: String
    /// The figures on which the decision was based.
    public let evidence: Evidence
    /// The buffered ranges.
    public let loadedTimeRanges: [MediaTimeRange]
    /// The renditions with separate playlists that are played with the variant, by media type.
    public var renditions: [MediaType: RenditionDescription] = [:]

    /// The figures on which a decision was based.
    public struct Evidence: Sendable, Hashable {
        /// The estimated throughput, or `nil` if it is unknown.
        public var throughput: BitRate?
        /// The duration of the media that can be played without further loading.
        public var bufferLevel: Duration
        /// The expected buffer level at the end of the next segment's transfer, or `nil` if it was not computed.
        public var predictedBufferLevel: Duration?

        /// Creates the figures of a decision.
        public init(throughput: BitRate?, bufferLevel: Duration, predictedBufferLevel: Duration? = nil) {
            self.throughput = throughput
            self.bufferLevel = bufferLevel
            self.predictedBufferLevel = predictedBufferLevel
        }
    }

    /// Creates the report of a switch.
    public init(
        from: VariantDescription?,
        to: VariantDescription,
        cause: String,
        evidence: Evidence,
        loadedTimeRanges: [MediaTimeRange] = []
    ) {
        self.from = from
        self.to = to
        self.cause = cause
        self.evidence = evidence
        self.loadedTimeRanges = loadedTimeRanges
    }
}

/// The identification of a rendition in events.
public struct RenditionDescription: Sendable, Hashable {
    /// The stable identifier of the rendition (`STABLE-RENDITION-ID`), or `nil` if the playlist does not contain one.
    public let stableID: String?
    /// The URL of the rendition's playlist.
    public let address: String

    /// Creates a description of a rendition.
    public init(stableID: String?, address: String) {
        self.stableID = stableID
        self.address = address
    }
}

/// A change of the selected media option.
public struct SelectionChange: Sendable, Hashable {
    /// The media type of the rendition.
    public let mediaType: MediaType
    /// The name of the option, or `nil` if none is selected.
    public let option: String?
    /// A Boolean value that indicates whether the viewer or the application made the selection.
    public let isExplicit: Bool

    /// Creates the report of a selection change.
    public init(mediaType: MediaType, option: String?, isExplicit: Bool) {
        self.mediaType = mediaType
        self.option = option
        self.isExplicit = isExplicit
    }
}

/// A track of the item that is played.
public struct PlaybackTrack: Sendable, Hashable {
    /// The identifier of the track within the item.
    public let id: Int
    /// The media type of the track.
    public let mediaType: MediaType
    /// The codec in the format of RFC 6381, or `nil` if it is unknown.
    public let codec: String?
    /// The language tag in the format of RFC 5646, or `nil` if it is unknown.
    public let language: String?

    /// Creates a track.
    public init(id: Int, mediaType: MediaType, codec: String? = nil, language: String? = nil) {
        self.id = id
        self.mediaType = mediaType
        self.codec = codec
        self.language = language
    }
}

/// An error during playback.
public struct PlaybackErrorRecord: Sendable, Hashable {
    /// The HTTP status code of a request, or else a negative error code of Millstream.
    public let statusCode: Int
    /// The domain of the error: `HTTP`, `Network`, `Playlist`, `Media` or `Millstream`.
    public let domain: String
    /// A human-readable description of the error.
    public let comment: String
    /// The URL of the resource.
    public let address: String?
    /// The IP address of the server.
    public let serverAddress: String?
    /// The HTTP header fields of the response by name; not included in the text of a log.
    public let responseHeaders: [String: String]
    /// A Boolean value that indicates whether playback continues.
    public let didRecover: Bool

    /// Creates an error record.
    public init(
        statusCode: Int,
        domain: String,
        comment: String,
        address: String? = nil,
        serverAddress: String? = nil,
        responseHeaders: [String: String] = [:],
        didRecover: Bool
    ) {
        self.statusCode = statusCode
        self.domain = domain
        self.comment = comment
        self.address = address
        self.serverAddress = serverAddress
        self.responseHeaders = responseHeaders
        self.didRecover = didRecover
    }
}
