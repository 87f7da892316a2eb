/// The declared codecs of a variant, grouped by media type (RFC 8216bis §4.4.6.2, RFC 6381).
public struct CodecList: Sendable, Hashable {
    /// The video codecs, such as `avc1.4d401f`.
    public private(set) var video: [String] = []
    /// The audio codecs, such as `mp4a.40.2`.
    public private(set) var audio: [String] = []
    /// The subtitle codecs, such as `wvtt` or `stpp.ttml.im1t`.
    public private(set) var subtitles: [String] = []
    /// The codecs whose media type is not known here.
    public private(set) var other: [String] = []

    /// All codecs in the order of the playlist.
    public let all: [String]

    /// A Boolean value that indicates whether the playlist declares no codecs, so that they are known only after media
    /// was loaded.
    public var isEmpty: Bool { all.isEmpty }

    /// A Boolean value that indicates whether a codec is lossless audio, which has several times the bit rate of lossy
    /// audio.
    package var hasLosslessAudio: Bool {
        all.contains { Self.lossless.contains($0.prefix { $0 != "." }.lowercased()) }
    }

    private static let lossless: Set<String> = ["alac", "flac", "mlpa", "ipcm", "fpcm"]

    /// Creates a list of codecs in the order of the playlist.
    public init(_ names: [String]) {
        all = names
        for name in names {
            switch Self.mediaType(of: name) {
            case .video: video.append(name)
            case .audio: audio.append(name)
            case .subtitles: subtitles.append(name)
            case nil: other.append(name)
            }
        }
    }

    /// The media types that codecs have.
    package enum MediaType: Sendable, Hashable { case video, audio, subtitles }

    /// Returns the media type of a codec, or of the part of it before the first period; `nil` if it is not known here.
    package static func mediaType(of codec: String) -> MediaType? {
        mediaTypes[codec.prefix { $0 != "." }.lowercased()]
    }

    /// Returns the media types of the codecs that begin with a text; `nil` stands for codecs that are not known here.
    package static func mediaTypes(ofCodecsBeginningWith text: String) -> Set<MediaType?> {
        let kind = text.prefix { $0 != "." }.lowercased()
        if let type = mediaTypes[kind] { return [type] }
        let types = mediaTypes.filter { $0.key.hasPrefix(kind) }.values
        return types.isEmpty ? [nil] : Set(types.map { Optional($0) })
    }

    /// The media types by sample entry type, the part of a codec before the first period.
    private static let mediaTypes: [String: MediaType] = {
        let video = [
            "avc1", "avc2", "avc3", "avc4", "hvc1", "hev1", "dvh1", "dvhe", "dav1", "dva1", "dvav", "av01", "vp08",
            "vp09", "vp8", "vp9", "mp4v", "vvc1", "vvi1", "mjpg", "s263",
        ]
        let audio = [
            "mp4a", "ac-3", "ec-3", "ac-4", "apac", "alac", "flac", "opus", "vorbis", "mp3", "dtsc", "dtse", "dtsh",
            "dtsl", "dtsx", "mha1", "mhm1", "mhm2", "samr", "sawb", "iamf",
        ]
        let subtitles = ["wvtt", "stpp", "vtt", "ttml", "tx3g"]
        let pairs =
            video.map { ($0, MediaType.video) } + audio.map { ($0, MediaType.audio) }
            + subtitles.map { ($0, MediaType.subtitles) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()
}
