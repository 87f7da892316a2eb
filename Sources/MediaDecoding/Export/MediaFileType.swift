/// A type of media file that streams are exported to.
public enum MediaFileType: String, Sendable, Hashable, CaseIterable {
    /// MP4 (ISO/IEC 14496-14), whose index precedes the media, so that it can be played while it is being transferred.
    case mp4
    /// Matroska (RFC 9559).
    case matroska = "mkv"

    /// The FFmpeg name of the muxer.
    var muxerName: String {
        switch self {
        case .mp4: "mp4"
        case .matroska: "matroska"
        }
    }

    /// The name in messages.
    var name: String {
        switch self {
        case .mp4: "MP4"
        case .matroska: "Matroska"
        }
    }

    /// A file of the type, in messages.
    var file: String {
        switch self {
        case .mp4: "an MP4 file"
        case .matroska: "a Matroska file"
        }
    }
}
