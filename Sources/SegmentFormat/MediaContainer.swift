/// What a file or a segment is, by its first bytes.
///
/// The raw value is a stable short name for logs and metrics.
public enum MediaContainer: String, Sendable, Hashable, CaseIterable {
    /// ISO base media: MP4, fragmented MP4, CMAF, QuickTime.
    case isoBaseMedia = "mp4"
    /// An MPEG-2 transport stream, of packets of 188, 192 or 204 bytes (``TransportPacketLayout`` says which).
    case transportStream = "mpeg-ts"
    /// AAC in ADTS frames.
    case aac
    /// MPEG audio, layers 1 to 3.
    case mpegAudio = "mp3"
    /// AC-3 frames.
    case ac3 = "ac-3"
    /// Enhanced AC-3 frames.
    case enhancedAC3 = "e-ac-3"
    /// An ID3 tag that does not end in the bytes read, so that what it stands before is not known yet.
    case id3 = "id3"
    /// FLAC in its own container.
    case flac
    /// Ogg.
    case ogg
    /// RIFF or RF64 with a `WAVE` form.
    case wave = "wav"
    /// Matroska.
    case matroska
    /// WebM, which is Matroska with another document type.
    case webM = "webm"
    /// A WebVTT file.
    case webVTT = "webvtt"
    /// TTML in XML, of which IMSC is a profile.
    case ttml
    /// An HLS playlist.
    case hlsPlaylist = "hls"
    /// A DASH media presentation description.
    case mediaPresentation = "dash"
    /// A page for browsers: mostly an error page where media was expected.
    case html

    /// Whether it is nothing but audio frames, perhaps behind an ID3 tag ("packed audio", RFC 8216bis §3.1.4).
    public var isPackedAudio: Bool {
        switch self {
        case .aac, .mpegAudio, .ac3, .enhancedAC3: true
        default: false
        }
    }

    /// Looks at the first bytes of a file or segment; `nil` where they are none of these.
    ///
    /// A few hundred bytes are enough for most; a transport stream is certain from 565 bytes on, and packed audio
    /// behind an ID3 tag needs the bytes up to its first frame, else it is ``id3``.
    public init?(_ bytes: Span<UInt8>) {
        if let text = Self.text(bytes) {
            self = text
        } else if Self.isISOBaseMedia(bytes) {
            self = .isoBaseMedia
        } else if bytes.hasBytes("OggS", at: 0) {
            self = .ogg
        } else if bytes.hasBytes("WAVE", at: 8), bytes.hasBytes("RIFF", at: 0) || bytes.hasBytes("RF64", at: 0) {
            self = .wave
        } else if let matroska = Self.matroska(bytes) {
            self = matroska
        } else if TransportPacketLayout(bytes) != nil {
            self = .transportStream
        } else {
            let start = ID3Tag.end(bytes)
            guard start < bytes.count else {
                guard start > 0 else { return nil }
                self = .id3
                return
            }
            if bytes.hasBytes("fLaC", at: start) {
                self = .flac
            } else if let frame = AudioFrameHeader.first(bytes, from: start, within: start > 0 ? 4_096 : 0)?.header {
                self = frame.container
            } else {
                return nil
            }
        }
    }
}

extension MediaContainer {
    /// Types of boxes that files and segments begin with.
    private static let firstBoxes: Set<FourCharacterCode> = [
        "ftyp", "styp", "moov", "moof", "sidx", "ssix", "prft", "emsg", "mdat", "free", "skip", "wide", "pnot", "uuid",
        "mfra", "pdin", "meta",
    ]

    private static func isISOBaseMedia(_ bytes: Span<UInt8>) -> Bool {
        guard let box = BoxHeader(bytes, at: 0) else { return false }
        return firstBoxes.contains(box.type)
    }

    /// The document type of an EBML header (RFC 8794 §11.2.6), which names Matroska or WebM.
    private static func matroska(_ bytes: Span<UInt8>) -> MediaContainer? {
        guard bytes.hasBytes("\u{1A}", at: 0), bytes.count >= 4, bytes[1] == 0x45, bytes[2] == 0xDF, bytes[3] == 0xA3
        else { return nil }
        for offset in 4..<max(4, min(bytes.count, 128)) where bytes.hasBytes("webm", at: offset) { return .webM }
        return .matroska
    }

    private static func text(_ bytes: Span<UInt8>) -> MediaContainer? {
        var offset = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
        if bytes.hasBytes("WEBVTT", at: offset) {
            guard offset + 6 < bytes.count else { return .webVTT }
            return [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset + 6]) ? .webVTT : nil
        }
        if bytes.hasBytes("#EXTM3U", at: offset) { return .hlsPlaylist }
        // White space is the only thing that documents of both kinds may begin with.
        let end = min(bytes.count, 4_096)
        while offset < end, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
        guard offset < end, bytes[offset] == UInt8(ascii: "<") else { return nil }
        return document(bytes, from: offset)
    }

    /// The root element of an XML or HTML document.
    private static func document(_ bytes: Span<UInt8>, from start: Int) -> MediaContainer? {
        var offset = start
        let end = min(bytes.count, 4_096)
        while offset + 1 < end {
            guard bytes[offset] == UInt8(ascii: "<") else {
                offset += 1
                continue
            }
            switch bytes[offset + 1] {
            case UInt8(ascii: "!") where bytes.hasBytes("<!--", at: offset):
                offset += 4
                while offset < end, !bytes.hasBytes("-->", at: offset) { offset += 1 }
            case UInt8(ascii: "?"), UInt8(ascii: "!"):
                if lowercasedName(bytes, at: offset + 2) == "doctype", documentTypeIsHTML(bytes, at: offset + 9) {
                    return .html
                }
                while offset < end, bytes[offset] != UInt8(ascii: ">") { offset += 1 }
            default:
                let name = lowercasedName(bytes, at: offset + 1)
                switch name {
                case "mpd": return .mediaPresentation
                case "tt": return .ttml
                case "html", "head", "body": return .html
                default: return nil
                }
            }
        }
        return nil
    }

    private static func documentTypeIsHTML(_ bytes: Span<UInt8>, at start: Int) -> Bool {
        var offset = start
        while offset < bytes.count, bytes[offset] == 0x20 { offset += 1 }
        return lowercasedName(bytes, at: offset) == "html"
    }

    /// The local name that stands at a place, in small letters; names of more than 32 bytes are cut.
    private static func lowercasedName(_ bytes: Span<UInt8>, at start: Int) -> String {
        var name: [UInt8] = []
        for offset in start..<max(start, min(bytes.count, start + 32)) {
            let byte = bytes[offset]
            if byte == UInt8(ascii: ":") {
                name.removeAll()
                continue
            }
            let letter = byte | 0x20
            guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else { break }
            name.append(letter)
        }
        return String(decoding: name, as: UTF8.self)
    }
}
