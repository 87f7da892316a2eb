import MediaTiming

extension MediaTrack {
    /// Creates a track from a `TrackEntry` element (RFC 9559 §5.1.4.1).
    init(matroska content: Range<Int>, _ bytes: Span<UInt8>) {
        self.init(id: 0, mediaType: .other)
        var walker = MatroskaElementIterator(content, in: bytes)
        // The default value if no language is specified (RFC 9559 §5.1.4.1.19).
        language = "eng"
        var hasLanguageTag = false
        var configuration = 0..<0
        while let child = walker.next(bytes) {
            switch child.id {
            case 0x63A2: configuration = child.content
            case 0xD7: id = UInt32(truncatingIfNeeded: bytes.matroskaUnsigned(child.content))
            case 0x83:
                switch bytes.matroskaUnsigned(child.content) {
                case 1: mediaType = .video
                case 2: mediaType = .audio
                case 17: mediaType = .subtitles
                case 33: mediaType = .metadata
                default: mediaType = .other
                }
            case 0x536E:
                let text = bytes.matroskaText(child.content.prefix(Self.maximumNameLength))
                if !text.isEmpty { name = text }
            case 0x86: codec = Self.codec(matroska: bytes.matroskaText(child.content))
            case 0x22_B59C:
                // LanguageBCP47 takes precedence (§5.1.4.1.20).
                if !hasLanguageTag { language = bytes.matroskaText(child.content) }
            case 0x22_B59D:
                language = bytes.matroskaText(child.content)
                hasLanguageTag = true
            case 0xE0, 0xE1: readFormat(child.content, bytes)
            default: break
            }
        }
        if language == "und" || language == "" { language = nil }
        codec = codec.map { Self.codec($0, configuration: bytes.extracting(configuration)) }
    }

    /// Returns the name of a codec with the profile of its configuration (RFC 9559 §5.1.4.1.22).
    private static func codec(_ name: String, configuration: Span<UInt8>) -> String {
        let codec: String? =
            switch name {
            case "avc1": DecoderConfiguration.codec("avc1", configuration)
            case "hvc1": DecoderConfiguration.codec("hvc1", configuration)
            case "av01": DecoderConfiguration.codec("av01", configuration)
            case "mp4a.40": DecoderConfiguration.codec("mp4a", configuration)
            default: nil
            }
        return codec ?? name
    }

    private mutating func readFormat(_ content: Range<Int>, _ bytes: Span<UInt8>) {
        var walker = MatroskaElementIterator(content, in: bytes)
        while let child = walker.next(bytes) {
            switch child.id {
            case 0xB0: width = Int(clamping: bytes.matroskaUnsigned(child.content))
            case 0xBA: height = Int(clamping: bytes.matroskaUnsigned(child.content))
            case 0x7670: orientation = Self.orientation(projection: child.content, bytes) ?? .upright
            case 0x9F: channelCount = Int(clamping: bytes.matroskaUnsigned(child.content))
            case 0xB5:
                let rate = bytes.matroskaFloat(child.content)
                if rate >= 1, rate < 10_000_000 { sampleRate = Int(saturating: rate) }
            default: break
            }
        }
    }

    /// The maximum length of the name of a track, in bytes.
    private static let maximumNameLength = 256

    /// Returns the orientation of a `Projection` element (RFC 9559 §5.1.4.1.28.41); `nil` if the video is not shown flat.
    private static func orientation(projection content: Range<Int>, _ bytes: Span<UInt8>) -> VideoOrientation? {
        var walker = MatroskaElementIterator(content, in: bytes)
        var (type, yaw, pitch, roll) = (UInt64(0), 0.0, 0.0, 0.0)
        while let child = walker.next(bytes) {
            switch child.id {
            case 0x7671: type = bytes.matroskaUnsigned(child.content)
            case 0x7673: yaw = bytes.matroskaFloat(child.content)
            case 0x7674: pitch = bytes.matroskaFloat(child.content)
            case 0x7675: roll = bytes.matroskaFloat(child.content)
            default: break
            }
        }
        return type == 0 ? VideoOrientation(yaw: yaw, pitch: pitch, roll: roll) : nil
    }

    /// Returns the RFC 6381 name of a codec, or the Matroska codec ID if there is none.
    private static func codec(matroska id: String) -> String {
        let names = [
            "V_MPEG4/ISO/AVC": "avc1", "V_MPEGH/ISO/HEVC": "hvc1", "V_VP8": "vp08", "V_VP9": "vp09", "V_AV1": "av01",
            "A_AAC": "mp4a.40", "A_AC3": "ac-3", "A_EAC3": "ec-3", "A_OPUS": "Opus", "A_FLAC": "fLaC",
            "A_MPEG/L3": "mp4a.40.34", "A_VORBIS": "vorbis", "S_TEXT/WEBVTT": "wvtt",
        ]
        return names[id] ?? id
    }
}
