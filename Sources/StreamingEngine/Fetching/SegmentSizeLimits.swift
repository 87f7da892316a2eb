import MediaTiming
import MediaTransport
import ResourceAddressing

/// The maximum sizes of the segments that are loaded into memory, by track.
///
/// Each track loads one segment at a time, so that ``total`` limits the bytes of all transfers of an engine.
struct SegmentSizeLimits: Sendable, Hashable {
    /// The maximum size of a segment of a variant; 192 MiB by default, 15 seconds at 100 Mbit/s.
    var main = ByteCount(192 << 20)
    /// The maximum size of a segment of separate audio; 48 MiB by default, a minute of lossless audio in eight channels.
    var audio = ByteCount(48 << 20)
    /// The maximum size of a segment of subtitles; 16 MiB by default, which is more than the text of a film.
    var subtitles = ByteCount(16 << 20)

    /// Returns the limits of the segments of a media file, all of whose tracks are in one segment.
    ///
    /// A segment reaches from its first sample to its last one in the file, which is far if the tracks are not interleaved. A local file
    /// is one that the user has chosen.
    static func segments(ofFileAt address: ResourceAddress) -> SegmentSizeLimits {
        var limits = SegmentSizeLimits()
        limits.main = address.filePath == nil ? limits.total : ResourceFetcher.maximumSegmentSize
        return limits
    }

    /// The maximum number of bytes of the transfers of all tracks together; 256 MiB by default.
    var total: ByteCount { main + audio + subtitles }

    /// Returns the maximum size of a segment of a track.
    subscript(kind: TrackKind) -> ByteCount {
        switch kind {
        case .main: main
        case .audio: audio
        case .subtitles: subtitles
        }
    }
}
