import CFFmpeg
import MediaTiming
import SegmentFormat

/// What a track of a segment holds, and what its decoder needs.
struct TrackFormat: Sendable {
    /// The track's identifier in an ISO base media file, the packet identifier in a transport stream, else 0.
    let id: Int
    let kind: MediaTrack.Kind
    /// FFmpeg's name of the codec: `h264`, `aac`.
    let codecName: String
    /// RFC 6381's spelling, as far as the bytes say; the codec's name alone where they do not.
    var codec: String
    var language: String?
    /// Visible size of pictures; 0 where it is not known before decoding.
    var width = 0
    var height = 0
    /// Of sound; 0 where it is not known before decoding.
    var sampleRate = 0
    var channelCount = 0
    /// The unit of the packets' own timestamps, in seconds: `timeBase.num / timeBase.den`.
    let timeBase: AVRational
    /// How many pictures at most come earlier in the order of decoding than in that of showing.
    var reorderDepth = 0
    /// How its samples were encrypted, `nil` where they were not; packets that are handed out are in the clear.
    var encryptionScheme: String?
    let parameters: CodecParameters

    /// Whether a decoder made for this format also takes packets of another, without being drained.
    ///
    /// In transport streams and packed audio, changes of size or sample rate are told in the samples themselves.
    func canContinue(with other: TrackFormat) -> Bool {
        let (left, right) = unsafe (parameters.pointer, other.parameters.pointer)
        return unsafe kind == other.kind && left.pointee.codec_id == right.pointee.codec_id
            && timeBase.num == other.timeBase.num && timeBase.den == other.timeBase.den
            && (parameters === other.parameters || parameters.extraData == other.parameters.extraData)
    }

    init(id: Int, kind: MediaTrack.Kind, timeBase: AVRational, parameters: CodecParameters) {
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

    /// A timestamp of a packet as a time.
    func time(_ timestamp: Int64) -> MediaTime { MediaTime(timestamp, in: timeBase) }
}

extension MediaTime {
    /// A number of units of a time base, whose two numbers are positive.
    init(_ units: Int64, in base: AVRational) {
        let (value, overflow) = units.multipliedReportingOverflow(by: Int64(base.num))
        self.init(value: overflow ? (units < 0 ? .min +| 1 : .max) : value, timescale: max(1, Int64(base.den)))
    }

    /// The nearest number of units of a time base.
    func units(in base: AVRational) -> Int64 {
        let top = Int128(value) *| Int128(base.den)
        let bottom = Int128(timescale) *| Int128(max(1, base.num))
        let half = bottom / 2
        return Int64(clamping: (top < 0 ? top -| half : top +| half).dividedSaturated(by: bottom))
    }
}

extension MediaTrack.Kind {
    init(_ type: AVMediaType) {
        switch type {
        case AVMEDIA_TYPE_VIDEO: self = .video
        case AVMEDIA_TYPE_AUDIO: self = .audio
        case AVMEDIA_TYPE_SUBTITLE: self = .text
        case AVMEDIA_TYPE_DATA: self = .metadata
        default: self = .other
        }
    }
}

extension AVRational {
    /// The clock of transport streams.
    static let ninetyKilohertz = AVRational(num: 1, den: 90_000)
}
