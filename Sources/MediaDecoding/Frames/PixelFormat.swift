import CFFmpeg

/// How pixels lie in memory.
public enum PixelFormat: Sendable, Hashable {
    /// 8 bits, three planes, chroma halved both ways: what most streams are.
    case yuv420p
    /// 8 bits, two planes, chroma halved both ways and interleaved: what hardware gives.
    case nv12
    /// 10 bits in 16, three planes, chroma halved both ways.
    case yuv420p10
    /// 8 bits, three planes, chroma halved sideways.
    case yuv422p
    /// 8 bits, three planes of one size.
    case yuv444p
    /// 8 bits each of red, green, blue.
    case rgb24
    /// 8 bits each of blue, green, red and opacity.
    case bgra
    /// Any other, by FFmpeg's name.
    case other(String)

    init(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: self = .yuv420p
        case AV_PIX_FMT_NV12: self = .nv12
        case AV_PIX_FMT_YUV420P10LE: self = .yuv420p10
        case AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUVJ422P: self = .yuv422p
        case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P: self = .yuv444p
        case AV_PIX_FMT_RGB24: self = .rgb24
        case AV_PIX_FMT_BGRA: self = .bgra
        default: self = unsafe .other(av_get_pix_fmt_name(format).map { unsafe String(cString: $0) } ?? "unknown")
        }
    }

    /// FFmpeg's format; `AV_PIX_FMT_NONE` where it does not know the name.
    var code: AVPixelFormat {
        switch self {
        case .yuv420p: AV_PIX_FMT_YUV420P
        case .nv12: AV_PIX_FMT_NV12
        case .yuv420p10: AV_PIX_FMT_YUV420P10LE
        case .yuv422p: AV_PIX_FMT_YUV422P
        case .yuv444p: AV_PIX_FMT_YUV444P
        case .rgb24: AV_PIX_FMT_RGB24
        case .bgra: AV_PIX_FMT_BGRA
        case .other(let name): unsafe av_get_pix_fmt(name)
        }
    }
}
