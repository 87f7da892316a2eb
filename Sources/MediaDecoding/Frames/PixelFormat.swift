import CFFmpeg

/// The layout of pixels in memory.
public enum PixelFormat: Sendable, Hashable {
    /// Planar YUV 4:2:0 with 8 bits per sample, the format of most streams.
    case yuv420p
    /// YUV 4:2:0 with 8 bits per sample in two planes, with interleaved chroma; a common output of hardware decoders.
    case nv12
    /// Planar YUV 4:2:0 with 10 bits per sample, each in 16 bits, little-endian.
    case yuv420p10
    /// Planar YUV 4:2:2 with 8 bits per sample.
    case yuv422p
    /// Planar YUV 4:4:4 with 8 bits per sample.
    case yuv444p
    /// Packed red, green and blue with 8 bits each.
    case rgb24
    /// Packed blue, green, red and alpha with 8 bits each.
    case bgra
    /// Any other format, with its FFmpeg name.
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

    /// The FFmpeg pixel format; `AV_PIX_FMT_NONE` if FFmpeg does not know the name.
    var ffmpegFormat: AVPixelFormat {
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
