import HLSPlaylist
public import ResourceAddressing
import SegmentFormat

/// An error that prevents or ends the playback of an item.
public struct StreamingError: MillstreamError, Sendable {
    /// The category of an error.
    ///
    /// The set is open: later versions may add codes.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The spelling of the code for logs and metrics, which never changes.
        public let rawValue: String

        /// Creates a code from its spelling.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The resource is neither a playlist nor a media file in a supported format.
        public static let notRecognized = Code(rawValue: "not-recognized")
        /// The resource is a stream in another format, which must be translated to HLS first.
        public static let needsTranslation = Code(rawValue: "needs-translation")
        /// The playlist cannot be parsed, or lists nothing that can be played.
        public static let unreadablePlaylist = Code(rawValue: "unreadable-playlist")
        /// The device cannot decode any of the media.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The media is protected by a content protection system that is not supported.
        public static let protected = Code(rawValue: "protected")
        /// A resource could not be loaded from the server.
        public static let notLoaded = Code(rawValue: "not-loaded")
        /// The network or the server could not be reached.
        public static let unreachable = Code(rawValue: "unreachable")
        /// A decryption key could not be loaded, or is invalid.
        public static let keyNotLoaded = Code(rawValue: "key-not-loaded")
        /// A live playlist has had no new segments for too long, or no media is available at the position and none can
        /// arrive.
        public static let stuck = Code(rawValue: "stuck")
        /// The media file is damaged, so that its index cannot be parsed.
        public static let unreadableFile = Code(rawValue: "unreadable-file")
        /// The media file can be parsed, but contains no media that can be played.
        public static let invalidFile = Code(rawValue: "invalid-file")
        /// The media file has less media than its index lists, because its end is missing.
        public static let incompleteFile = Code(rawValue: "incomplete-file")
        /// Too many consecutive segments are damaged or missing.
        public static let damaged = Code(rawValue: "damaged")
        /// The decoder or an output device was lost.
        public static let pipelineLost = Code(rawValue: "pipeline-lost")
    }

    /// The category of the error.
    public let code: Code
    /// A description of what happened, and of what to do.
    public let message: String
    /// The address of the resource that the error is about.
    public let address: ResourceAddress?
    /// The status code of the HTTP response, if a response caused the error.
    public let status: Int?
    /// The underlying error.
    public let cause: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code,
        _ message: String,
        address: ResourceAddress? = nil,
        status: Int? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.address = address
        self.status = status
        self.cause = cause
    }

    /// The source of the error for logs: `HTTP`, `Network`, `Playlist`, `Media` or `Millstream`.
    var domain: String {
        guard status == nil else { return "HTTP" }
        return switch code {
        case .notLoaded, .unreachable: "Network"
        case .notRecognized, .needsTranslation, .unreadablePlaylist, .stuck: "Playlist"
        case .unsupported, .protected, .keyNotLoaded, .unreadableFile, .invalidFile, .incompleteFile, .damaged:
            "Media"
        default: "Millstream"
        }
    }

    /// The code of the AVFoundation error that corresponds to this one, for comparison with logs of AVFoundation.
    public var number: Int { code.number ?? -11_800 }
}

extension StreamingError {
    /// The message of the error.
    public var description: String { message }
}

extension StreamingError {
    /// Returns the error of an item that has no variant that can be played.
    static func nothingPlayable(_ presentation: Presentation, at address: ResourceAddress) -> StreamingError {
        let obstacles = presentation.unplayable.flatMap(\.obstacles)
        let isProtected = obstacles.contains { if case .keyFormats = $0 { true } else { false } }
        var seen: Set<String> = []
        let reasons = obstacles.map(\.description).filter { seen.insert($0).inserted }
        guard !reasons.isEmpty else {
            return StreamingError(
                .unreadablePlaylist,
                "the playlist names nothing that could be played",
                address: address
            )
        }
        return StreamingError(
            isProtected ? .protected : .unsupported,
            "none of the variants can be played: " + reasons.joined(separator: "; "),
            address: address
        )
    }

    /// The codecs without the parameters that determine the decoder, as in a transport stream.
    private static let incompleteCodecs: Set<String> = ["mp4a", "mp4a.40", "mp4v"]

    /// Returns the error for media in which no track can be decoded; `nil` if a track can be decoded, or if that is
    /// unknown.
    static func undecodable(
        _ tracks: [MediaTrack],
        at address: ResourceAddress,
        canDecode: (_ codec: String) -> Bool
    ) -> StreamingError? {
        let codecs = tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }.map(\.codec)
        let isUndecodable = codecs.allSatisfy { codec in
            // A codec without its parameters, or one that streams do not have, may be decodable.
            guard let codec, !incompleteCodecs.contains(codec), CodecList([codec]).other.isEmpty else { return false }
            return !canDecode(codec)
        }
        guard !codecs.isEmpty, isUndecodable else { return nil }
        let names = codecs.compactMap { $0 }.map { PlaybackObstacle.codec($0).description }
        return StreamingError(
            .unsupported,
            "none of the tracks can be played: " + names.joined(separator: "; "),
            address: address
        )
    }
}

extension StreamingError.Code: ErrorCode {
    /// The codes of this version.
    public static let allCases: [Self] = [
        .notRecognized, .needsTranslation, .unreadablePlaylist, .unsupported, .protected, .notLoaded, .unreachable,
        .keyNotLoaded, .stuck, .unreadableFile, .invalidFile, .incompleteFile, .damaged, .pipelineLost,
    ]

    /// The code of the corresponding error of AVFoundation.
    public var number: Int? {
        switch self {
        case .notRecognized: -11_828
        case .needsTranslation: -11_850
        case .unreadablePlaylist: -11_853
        case .unsupported: -11_833
        case .protected: -11_831
        case .notLoaded: -11_849
        case .unreachable: -11_863
        case .keyNotLoaded: -11_835
        case .stuck: -11_866
        case .unreadableFile: -11_829
        case .invalidFile: -11_822
        case .incompleteFile: -11_829
        case .damaged: -11_821
        case .pipelineLost: -11_819
        default: nil
        }
    }
}
