/// The formats of a variant, sorted by what they hold (RFC 8216bis §4.4.6.2, RFC 6381).
public struct CodecList: Sendable, Hashable {
    /// The names of picture formats, such as `avc1.4d401f`.
    public private(set) var video: [String] = []
    /// The names of sound formats, such as `mp4a.40.2`.
    public private(set) var audio: [String] = []
    /// The names of text formats, such as `wvtt` or `stpp.ttml.im1t`.
    public private(set) var subtitles: [String] = []
    /// Names that are none of those that are known here.
    public private(set) var other: [String] = []

    /// All of them, in the order of the playlist.
    public let all: [String]

    /// Whether the playlist names no formats, so that only the media can tell.
    public var isEmpty: Bool { all.isEmpty }

    /// Whether sound is kept bit by bit, which takes several times the bit rate.
    var hasLosslessAudio: Bool {
        all.contains { Self.lossless.contains($0.prefix { $0 != "." }.lowercased()) }
    }

    private static let lossless: Set<String> = ["alac", "flac", "mlpa", "ipcm", "fpcm"]

    /// Sorts names as a playlist writes them.
    public init(_ names: [String]) {
        all = names
        for name in names {
            switch Self.kinds[name.prefix { $0 != "." }.lowercased()] {
            case .video: video.append(name)
            case .audio: audio.append(name)
            case .subtitles: subtitles.append(name)
            case nil: other.append(name)
            }
        }
    }

    private enum Kind { case video, audio, subtitles }

    /// What stands before the first point of a name.
    private static let kinds: [String: Kind] = {
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
            video.map { ($0, Kind.video) } + audio.map { ($0, Kind.audio) } + subtitles.map { ($0, Kind.subtitles) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()
}
