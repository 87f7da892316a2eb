import MediaTiming

/// A variant with the parsed attributes that Apple's rules check.
struct InspectedVariant {
    let entry: InspectedEntry
    let codecs: [InspectedCodec]
    /// The resolution, or `nil` if it is missing or invalid.
    let resolution: Resolution?
    let frameRate: MediaTime?
    let peak: BitRate?
    let average: BitRate?
    let isHighDynamicRange: Bool
    /// The entries of `REQ-VIDEO-LAYOUT`, each with its specifiers.
    let layouts: [String]

    init(_ entry: InspectedEntry) {
        self.entry = entry
        codecs = entry.attributes.list("CODECS").compactMap { InspectedCodec($0) }
        resolution = entry["RESOLUTION"].flatMap { Resolution($0) }
        frameRate = entry.attributes.decimal("FRAME-RATE")
        peak = entry.bitRate("BANDWIDTH")
        average = entry.bitRate("AVERAGE-BANDWIDTH")
        isHighDynamicRange = entry["VIDEO-RANGE"] == "PQ" || entry["VIDEO-RANGE"] == "HLG"
        layouts = entry.attributes.list("REQ-VIDEO-LAYOUT")
    }

    var isIFramesOnly: Bool { entry.line.tag == .iFrameVariant }
    /// A Boolean value that indicates whether the variant has video, according to its codecs or its resolution.
    var hasVideo: Bool { resolution != nil || hasVideoCodec }
    var hasVideoCodec: Bool { codecs.contains { $0.mediaType == .video } }
    var hasAudioCodec: Bool { codecs.contains { $0.mediaType == .audio } }
    var hasH264: Bool { codecs.contains { $0.isH264 } }
    var isImmersive: Bool { layouts.contains { $0.contains("PROJ-AIV") } }
    var isStereoscopic: Bool { layouts.contains { $0.contains("CH-STEREO") } }
    /// The average bit rate, or the peak bit rate if there is no average.
    var typicalBitRate: BitRate? { average ?? peak }
}

/// An entry of `CODECS` (RFC 6381).
struct InspectedCodec {
    let name: String
    let parts: [Substring]
    /// The media type; unknown codecs count as audio.
    let mediaType: CodecList.MediaType

    private static let videoCodecs: Set<Substring> = [
        "avc1", "avc3", "hvc1", "hev1", "dvh1", "dvhe", "dav1", "dva1", "dvav", "av01", "mjpg", "vp08", "vp09", "vp8",
        "vp9", "mp4v", "vvc1", "vvi1", "s263",
    ]
    private static let subtitleCodecs: Set<Substring> = ["stpp", "wvtt"]

    /// Creates an entry from text; `nil` for an empty one.
    init?(_ text: String) {
        let trimmed = text[...].trimmingBlanks()
        guard !trimmed.isEmpty else { return nil }
        name = String(trimmed)
        parts = Grammar.parts(name, ".")
        mediaType = Self.mediaType(of: parts[0])
    }

    private static func mediaType(of kind: Substring) -> CodecList.MediaType {
        if videoCodecs.contains(kind) { return .video }
        return subtitleCodecs.contains(kind) ? .subtitles : .audio
    }

    /// The four-character code: the part before the first period.
    var fourCharacterCode: Substring { parts[0] }
    var isH264: Bool { mediaType == .video && fourCharacterCode.hasPrefix("avc") }
    var isHEVC: Bool { fourCharacterCode == "hvc1" || fourCharacterCode == "hev1" }

    /// The profile and level of H.264, from the form `avc1.PPCCLL`.
    var h264: (profile: Int, level: Int)? {
        guard fourCharacterCode == "avc1" || fourCharacterCode == "avc3", parts.count == 2, parts[1].utf8.count == 6,
            Grammar.isHexadecimal("0x\(parts[1])"), let number = Int(parts[1], radix: 16)
        else { return nil }
        return (number >> 16, number & 0xFF)
    }

    /// The profile, tier and level of HEVC, from the form `hvc1.[ABC]P.C.TL.…`.
    var hevc: (profile: Int, isHighTier: Bool, level: Int)? {
        guard isHEVC, parts.count >= 4, Grammar.isHexadecimal("0x\(parts[2])") else { return nil }
        let profile = ["A", "B", "C"].contains(parts[1].prefix(1)) ? parts[1].dropFirst() : parts[1]
        let (tier, level) = (parts[3].prefix(1), parts[3].dropFirst())
        guard Grammar.isDigits(profile), Grammar.isDigits(level), tier == "L" || tier == "H" else { return nil }
        return (Int(profile) ?? .max, tier == "H", Int(level) ?? .max)
    }

    /// The level index of AV1, from the form `av01.P.LLT.…`.
    var av1LevelIndex: Int? {
        guard fourCharacterCode == "av01", parts.count >= 4, parts[1].utf8.count == 1, Grammar.isDigits(parts[1]),
            parts[2].utf8.count == 3, ["M", "H"].contains(parts[2].suffix(1)), Grammar.isDigits(parts[2].dropLast())
        else { return nil }
        return Int(parts[2].dropLast())
    }

    /// A Boolean value that indicates whether the codec is APAC without its profile and level.
    var isBareAPAC: Bool {
        fourCharacterCode == "apac"
            && !(parts.count == 3 && parts.dropFirst().allSatisfy { Grammar.isName($0, with: "") })
    }

    /// A Boolean value that indicates whether the codec is AAC or HE-AAC, which may be stereo.
    var isAAC: Bool {
        ["mp4a.40.2", "mp4a.40.02", "mp4a.40.5", "mp4a.40.05", "mp4a.40.29"].contains(name)
    }
}
