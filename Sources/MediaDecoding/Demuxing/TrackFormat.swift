import CFFmpeg
import MediaTiming
import SegmentFormat

/// The format of a track: its media type, codec and decoder parameters.
struct TrackFormat: Sendable {
    /// The track identifier in an ISO base media file, the packet identifier (PID) in a transport stream, otherwise 0.
    let id: Int
    let kind: MediaTrack.MediaType
    /// The FFmpeg name of the codec, such as `h264` or `aac`.
    let codecName: String
    /// The RFC 6381 name of the codec as far as the media declares it; otherwise ``codecName``.
    var codec: String
    var language: String?
    /// The width of the visible area, in pixels; 0 if unknown before decoding.
    var width = 0
    /// The height of the visible area, in pixels; 0 if unknown before decoding.
    var height = 0
    /// The orientation in which the video is shown; ``width`` and ``height`` are the values before the orientation is
    /// applied.
    var orientation = VideoOrientation.upright
    /// The audio sample rate, in hertz; 0 if unknown before decoding.
    var sampleRate = 0
    /// The number of audio channels; 0 if unknown before decoding.
    var channelCount = 0
    /// The unit of the packet timestamps, in seconds: `timeBase.num / timeBase.den`.
    let timeBase: AVRational
    /// The maximum number of frames that precede a frame in decoding order but follow it in presentation order.
    var reorderDepth = 0
    /// The encryption scheme of the samples; `nil` if they are clear.
    ///
    /// Packets that a demuxer returns are always decrypted.
    var encryptionScheme: String?
    let parameters: CodecParameters

    /// A Boolean value that indicates whether the track is compressed video or audio, whose samples are never all zeros.
    var isCompressed: Bool {
        switch kind {
        case .video: parameters.codec != AV_CODEC_ID_RAWVIDEO
        case .audio: av_get_exact_bits_per_sample(parameters.codec) == 0
        case .subtitles, .metadata, .other: false
        }
    }

    /// Returns whether a decoder for this format also accepts packets of another format without being drained.
    ///
    /// In transport streams and packed audio, the samples themselves signal changes of size and sample rate. The
    /// decoder delays frames, and each frame must have the orientation of its own packet.
    func canContinue(with other: TrackFormat) -> Bool {
        let (left, right) = unsafe (parameters.pointer, other.parameters.pointer)
        return unsafe kind == other.kind && left.pointee.codec_id == right.pointee.codec_id
            && orientation == other.orientation
            && timeBase.num == other.timeBase.num && timeBase.den == other.timeBase.den
            && (parameters === other.parameters || parameters.extraData == other.parameters.extraData)
    }

    init(id: Int, kind: MediaTrack.MediaType, timeBase: AVRational, parameters: CodecParameters) {
        self.id = id
        self.kind = kind
        self.timeBase = timeBase.num > 0 && timeBase.den > 0 ? timeBase : AVRational(num: 1, den: 90_000)
        self.parameters = parameters
        codecName = parameters.codecName
        codec = codecName
        let values = unsafe parameters.pointer.pointee
        width = unsafe Int(values.width)
        height = unsafe Int(values.height)
        sampleRate = unsafe Int(values.sample_rate)
        channelCount = unsafe Int(values.ch_layout.nb_channels)
        reorderDepth = unsafe Int(values.video_delay)
    }

    /// Converts a packet timestamp to a media time.
    func mediaTime(ofTimestamp timestamp: Int64) -> MediaTime { MediaTime(timestamp, in: timeBase) }
}

extension MediaTime {
    /// Creates a time from a number of units of a time base, whose numerator and denominator are positive.
    init(_ units: Int64, in base: AVRational) {
        let (value, overflow) = units.multipliedReportingOverflow(by: Int64(base.num))
        self.init(value: overflow ? (units < 0 ? .min +| 1 : .max) : value, timescale: max(1, Int64(base.den)))
    }

    /// Returns the nearest number of units of a time base.
    func units(in base: AVRational) -> Int64 {
        let top = Int128(value) *| Int128(base.den)
        let bottom = Int128(timescale) *| Int128(max(1, base.num))
        let half = bottom / 2
        return Int64(clamping: (top < 0 ? top -| half : top +| half).dividedSaturated(by: bottom))
    }
}

extension MediaTrack.MediaType {
    init(_ type: AVMediaType) {
        switch type {
        case AVMEDIA_TYPE_VIDEO: self = .video
        case AVMEDIA_TYPE_AUDIO: self = .audio
        case AVMEDIA_TYPE_SUBTITLE: self = .subtitles
        case AVMEDIA_TYPE_DATA: self = .metadata
        default: self = .other
        }
    }
}

extension AVRational {
    /// The clock of transport streams.
    static let ninetyKilohertz = AVRational(num: 1, den: 90_000)
}
