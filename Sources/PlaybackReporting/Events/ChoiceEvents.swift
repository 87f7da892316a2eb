public import MediaTiming

/// Another variant, and why.
public struct VariantSwitch: Sendable, Hashable {
    /// The variant before; `nil` for the first.
    public let from: VariantDescription?
    /// The variant from now on.
    public let to: VariantDescription
    /// Why, in a short spelling that does not change between versions.
    public let cause: String
    /// What the decision stood on.
    public let numbers: Numbers
    /// What is buffered.
    public let loadedTimeRanges: [MediaTimeRange]
    /// What goes with the variant from playlists of their own, by what it carries.
    public var renditions: [MediaType: RenditionDescription] = [:]

    /// What a decision stood on.
    public struct Numbers: Sendable, Hashable {
        /// What the network is thought to carry.
        public var throughput: BitRate?
        /// The time that could be played without another byte.
        public var bufferLevel: Duration
        /// What the buffer would have been at the end of the next segment, where that was reckoned.
        public var predictedBufferLevel: Duration?

        /// Makes the numbers.
        public init(throughput: BitRate?, bufferLevel: Duration, predictedBufferLevel: Duration? = nil) {
            self.throughput = throughput
            self.bufferLevel = bufferLevel
            self.predictedBufferLevel = predictedBufferLevel
        }
    }

    /// Makes a report of a switch.
    public init(
        from: VariantDescription?,
        to: VariantDescription,
        cause: String,
        numbers: Numbers,
        loadedTimeRanges: [MediaTimeRange] = []
    ) {
        self.from = from
        self.to = to
        self.cause = cause
        self.numbers = numbers
        self.loadedTimeRanges = loadedTimeRanges
    }
}

/// A rendition, as events name it.
public struct RenditionDescription: Sendable, Hashable {
    /// What names it from one load of the playlist to the next; `nil` where the playlist does not say.
    public let stableID: String?
    /// The address of its playlist.
    public let address: String

    /// Makes a description.
    public init(stableID: String?, address: String) {
        self.stableID = stableID
        self.address = address
    }
}

/// Another choice among renditions.
public struct SelectionChange: Sendable, Hashable {
    /// What kind of rendition.
    public let mediaType: MediaType
    /// The name of the option; `nil` for none.
    public let option: String?
    /// Whether a person or the application asked for it.
    public let isExplicit: Bool

    /// Makes a report.
    public init(mediaType: MediaType, option: String?, isExplicit: Bool) {
        self.mediaType = mediaType
        self.option = option
        self.isExplicit = isExplicit
    }
}

/// A track of what is played.
public struct PlaybackTrack: Sendable, Hashable {
    /// What tells it from others of the item.
    public let id: Int
    /// What it carries.
    public let mediaType: MediaType
    /// The codec as RFC 6381 spells it, where it is known.
    public let codec: String?
    /// Its language as RFC 5646 spells it.
    public let language: String?

    /// Makes a track.
    public init(id: Int, mediaType: MediaType, codec: String? = nil, language: String? = nil) {
        self.id = id
        self.mediaType = mediaType
        self.codec = codec
        self.language = language
    }
}

/// Something that failed.
public struct PlaybackErrorRecord: Sendable, Hashable {
    /// The status or code: that of HTTP where it was a request, else one of ours below zero.
    public let statusCode: Int
    /// Who says so: `HTTP`, `Network`, `Playlist`, `Media`, `Millstream`.
    public let domain: String
    /// What happened, for a person.
    public let comment: String
    /// The address that it is about.
    public let address: String?
    /// The numeric address of the server.
    public let serverAddress: String?
    /// The header fields of the answer, name and value in turn; not part of the text of a log.
    public let responseHeaders: [String: String]
    /// Whether playing goes on.
    public let didRecover: Bool

    /// Makes a record.
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
