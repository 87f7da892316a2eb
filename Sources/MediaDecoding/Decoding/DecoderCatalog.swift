import CFFmpeg

/// The codecs that can be decoded, looked up by RFC 6381 name.
enum DecoderCatalog {
    /// Returns whether a decoder is available for each of the given codecs (RFC 6381).
    ///
    /// Subtitle codecs count as decodable if a subtitle parser exists for them. The result is true for an empty list,
    /// because a playlist need not name its codecs, and false for an unknown codec.
    static func canDecode(_ codecs: [String]) -> Bool {
        codecs.allSatisfy { canDecode(codec: $0) }
    }

    private static func canDecode(codec name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        guard let first = parts.first else { return false }
        switch first {
        // Subtitles are parsed without FFmpeg.
        case "stpp", "wvtt": return true
        case "mp4a", "mp4v": return canDecode(objectTypeParts: parts)
        default:
            guard let codec = codecs[first] else { return false }
            return unsafe avcodec_find_decoder(codec) != nil
        }
    }

    private static let codecs: [String: AVCodecID] = [
        "avc1": AV_CODEC_ID_H264, "avc2": AV_CODEC_ID_H264, "avc3": AV_CODEC_ID_H264, "avc4": AV_CODEC_ID_H264,
        "hvc1": AV_CODEC_ID_HEVC, "hev1": AV_CODEC_ID_HEVC,
        // Dolby Vision with a base layer that an H.264 or HEVC decoder can decode. Profile 5 has no compatible base
        // layer, so its colors are wrong.
        "dvh1": AV_CODEC_ID_HEVC, "dvhe": AV_CODEC_ID_HEVC, "dva1": AV_CODEC_ID_H264, "dvav": AV_CODEC_ID_H264,
        "av01": AV_CODEC_ID_AV1, "vp08": AV_CODEC_ID_VP8, "vp8": AV_CODEC_ID_VP8,
        "vp09": AV_CODEC_ID_VP9, "vp9": AV_CODEC_ID_VP9,
        "ac-3": AV_CODEC_ID_AC3, "ec-3": AV_CODEC_ID_EAC3, "mp3": AV_CODEC_ID_MP3,
        "opus": AV_CODEC_ID_OPUS, "Opus": AV_CODEC_ID_OPUS, "flac": AV_CODEC_ID_FLAC, "fLaC": AV_CODEC_ID_FLAC,
        "vorbis": AV_CODEC_ID_VORBIS, "alac": AV_CODEC_ID_ALAC,
        "dtsc": AV_CODEC_ID_DTS, "dtse": AV_CODEC_ID_DTS, "dtsh": AV_CODEC_ID_DTS, "dtsl": AV_CODEC_ID_DTS,
        "mjpg": AV_CODEC_ID_MJPEG, "samr": AV_CODEC_ID_AMR_NB, "sawb": AV_CODEC_ID_AMR_WB,
    ]

    /// Returns whether a decoder is available for a codec with an object type indication (ISO/IEC 14496-1) and, for
    /// AAC, an audio object type (RFC 6381 §3.3).
    private static func canDecode(objectTypeParts parts: [String]) -> Bool {
        guard parts.count > 1 else { return false }
        let codec: AVCodecID
        switch (parts[0], parts[1].lowercased()) {
        case ("mp4a", "40"):
            // AAC Main, LC and LTP, HE-AAC, HE-AAC v2, AAC-LD and AAC-ELD; MPEG-1 audio layers as audio object types.
            // Not xHE-AAC (42).
            guard parts.count > 2, let type = Int(parts[2]) else { return false }
            switch type {
            case 1, 2, 4, 5, 29, 23, 39: codec = AV_CODEC_ID_AAC
            case 32, 33, 34: codec = AV_CODEC_ID_MP3
            default: return false
            }
        case ("mp4a", "66"), ("mp4a", "67"), ("mp4a", "68"): codec = AV_CODEC_ID_AAC
        case ("mp4a", "69"), ("mp4a", "6b"): codec = AV_CODEC_ID_MP3
        case ("mp4a", "a5"): codec = AV_CODEC_ID_AC3
        case ("mp4a", "a6"): codec = AV_CODEC_ID_EAC3
        case ("mp4v", "20"): codec = AV_CODEC_ID_MPEG4
        case ("mp4v", "60"), ("mp4v", "61"), ("mp4v", "62"), ("mp4v", "63"), ("mp4v", "64"), ("mp4v", "65"):
            codec = AV_CODEC_ID_MPEG2VIDEO
        case ("mp4v", "6a"): codec = AV_CODEC_ID_MPEG1VIDEO
        default: return false
        }
        return unsafe avcodec_find_decoder(codec) != nil
    }
}
