import CFFmpeg
import SegmentFormat

/// Derives the codec name and the audio parameters of a track from its samples, for containers that do not declare
/// them.
enum TrackFormatCompletion {
    /// Completes the codec name of a track format from the configuration that the container stores outside of the samples.
    ///
    /// - Returns: `false` if the container has none, and the samples must be tried.
    static func complete(_ format: inout TrackFormat, fromConfiguration bytes: [UInt8]) -> Bool {
        let type: FourCharacterCode
        switch format.parameters.codec {
        case AV_CODEC_ID_H264: type = "avc1"
        case AV_CODEC_ID_HEVC: type = "hvc1"
        case AV_CODEC_ID_AV1: type = "av01"
        case AV_CODEC_ID_AAC: type = "mp4a"
        default: return false
        }
        guard let codec = DecoderConfiguration.codec(type, bytes.span) else { return false }
        format.codec = codec
        return true
    }

    /// Completes a track format from one of its samples, which are not length-prefixed.
    ///
    /// - Returns: `false` if the sample lacks the required header and another one must be tried.
    static func complete(_ format: inout TrackFormat, fromSample sample: UnsafeRawBufferPointer) -> Bool {
        switch format.parameters.codec {
        case AV_CODEC_ID_H264:
            guard let profile = unsafe profile(sample) else { return false }
            format.codec = "avc1.\(profile)"
            return true
        case AV_CODEC_ID_AAC, AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3:
            guard let header = unsafe AudioFrameHeader(sample.bindMemory(to: UInt8.self).span) else { return false }
            format.codec = header.codec
            if format.sampleRate == 0 { format.sampleRate = header.sampleRate }
            if format.channelCount == 0 { format.channelCount = header.channelCount ?? 0 }
            return true
        case AV_CODEC_ID_HEVC: format.codec = "hvc1"
        case AV_CODEC_ID_AV1: format.codec = "av01"
        case AV_CODEC_ID_VP8: format.codec = "vp08"
        case AV_CODEC_ID_VP9: format.codec = "vp09"
        case AV_CODEC_ID_OPUS: format.codec = "Opus"
        case AV_CODEC_ID_FLAC: format.codec = "fLaC"
        default: break
        }
        return true
    }

    /// Returns the profile, constraint and level bytes of a sequence parameter set in a byte stream, in hexadecimal
    /// digits (ITU-T H.264 §7.3.2.1.1).
    ///
    /// Only the first 4 KiB of the sample are searched.
    private static func profile(_ sample: UnsafeRawBufferPointer) -> String? {
        var index = 0
        let end = min(sample.count, 4_096) - 7
        while index < end {
            if unsafe sample[index] == 0, unsafe sample[index + 1] == 0, unsafe sample[index + 2] == 1,
                unsafe sample[index + 3] & 0x1F == 7
            {
                return (index + 4..<index + 7).map { position in
                    let digits = unsafe String(sample[position], radix: 16)
                    return digits.count == 1 ? "0" + digits : digits
                }.joined()
            }
            index += 1
        }
        return nil
    }
}
