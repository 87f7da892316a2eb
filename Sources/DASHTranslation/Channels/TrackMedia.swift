package import MediaTiming
import SegmentFormat

/// The properties of the media of a track that a manifest contains and a playlist does not contain.
package struct TrackMedia: Sendable, Hashable {
    /// The presentation time at which the first segment starts, on the timeline of the media.
    package var start: MediaTime
    /// The units per second of the timeline of the track.
    package var timescale: Int64
    /// A Boolean value that indicates whether the media has video.
    package var hasVideo: Bool
    /// The codecs of all video and audio in the media, according to RFC 6381.
    package var codecs: [String]
    /// The width of the video in pixels; `nil` if it is unknown.
    package var width: Int?
    /// The height of the video in pixels; `nil` if it is unknown.
    package var height: Int?
    /// The sample rate of the audio in hertz; `nil` if it is unknown.
    package var sampleRate: Int?
    /// The number of audio channels; `nil` if it is unknown.
    package var channelCount: Int?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - start: The presentation time at which the first segment starts.
    ///   - timescale: The units per second of the timeline of the track.
    ///   - hasVideo: Whether the media has video.
    ///   - codecs: The codecs.
    ///   - width: The width of the video.
    ///   - height: The height of the video.
    ///   - sampleRate: The sample rate of the audio.
    ///   - channelCount: The number of audio channels.
    package init(
        start: MediaTime,
        timescale: Int64,
        hasVideo: Bool,
        codecs: [String],
        width: Int? = nil,
        height: Int? = nil,
        sampleRate: Int? = nil,
        channelCount: Int? = nil
    ) {
        self.start = start
        self.timescale = max(1, timescale)
        self.hasVideo = hasVideo
        self.codecs = codecs
        self.width = width
        self.height = height
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// Creates the description of fragmented MP4; `nil` if the bytes have no track of video or audio with a decode time.
    ///
    /// - Parameters:
    ///   - initialization: The media initialization section.
    ///   - segment: The first segment, or the beginning of it with its first movie fragment.
    package init?(initialization: [UInt8], segment: [UInt8]) {
        guard let movie = FragmentedSegment(initialization.span).movie else { return nil }
        let tracks = movie.tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }
        let video = tracks.first { $0.mediaType == .video }
        let audio = tracks.first { $0.mediaType == .audio }
        guard let track = video ?? audio else { return nil }
        let fragments = FragmentedSegment(segment.span, movie: movie).fragments
        guard let time = fragments.lazy.compactMap({ $0.track(track.id)?.presentationTime }).first else { return nil }
        let (videoTrack, audioTrack) = (video?.mediaTrack, audio?.mediaTrack)
        self.init(
            start: time + (track.firstEdit?.offset ?? .zero),
            timescale: Int64(track.timescale),
            hasVideo: video != nil,
            codecs: tracks.compactMap(\.mediaTrack.codec),
            width: videoTrack?.width,
            height: videoTrack?.height,
            sampleRate: audioTrack?.sampleRate,
            channelCount: audioTrack?.channelCount
        )
    }
}
