/// The container or document format of a file or segment, detected from its first bytes.
///
/// The raw value is a stable short name for logs and metrics.
package enum MediaContainer: String, Sendable, Hashable, CaseIterable {
    /// ISO base media file format: MP4, fragmented MP4, CMAF and QuickTime.
    case isoBaseMedia = "mp4"
    /// MPEG-2 transport stream with packets of 188, 192 or 204 bytes; ``TransportPacketLayout`` detects the packet
    /// size.
    case transportStream = "mpeg-ts"
    /// AAC audio in ADTS frames.
    case aac
    /// MPEG audio, layers 1 to 3.
    case mpegAudio = "mp3"
    /// AC-3 audio frames.
    case ac3 = "ac-3"
    /// Enhanced AC-3 audio frames.
    case enhancedAC3 = "e-ac-3"
    /// An ID3 tag that extends beyond the given bytes, so that the format of the data after it is unknown.
    case id3 = "id3"
    /// FLAC audio in its native container.
    case flac
    /// Ogg.
    case ogg
    /// RIFF or RF64 with a `WAVE` form type.
    case wave = "wav"
    /// Matroska.
    case matroska
    /// WebM, the profile of Matroska with the document type `webm`.
    case webM = "webm"
    /// A WebVTT file.
    case webVTT = "webvtt"
    /// A TTML document in XML; includes the IMSC profiles.
    case ttml
    /// An HLS playlist.
    case hlsPlaylist = "hls"
    /// A DASH media presentation description (MPD).
    case mediaPresentation = "dash"
    /// An HTML page, usually an error page that a server returned in place of media.
    case html

    /// A Boolean value that indicates whether the format is packed audio (RFC 8216bis §3.1.4).
    ///
    /// Packed audio consists of audio frames only, optionally preceded by an ID3 tag.
    package var isPackedAudio: Bool {
        switch self {
        case .aac, .mpegAudio, .ac3, .enhancedAC3: true
        default: false
        }
    }

    /// A Boolean value that indicates whether a file in this format can be played alone: it is no document, such as a
    /// playlist or subtitles.
    package var isMediaFile: Bool {
        switch self {
        case .isoBaseMedia, .transportStream, .aac, .mpegAudio, .ac3, .enhancedAC3, .id3, .flac, .ogg, .wave, .matroska,
            .webM:
            true
        case .webVTT, .ttml, .hlsPlaylist, .mediaPresentation, .html: false
        }
    }

    /// The name with an article, for messages.
    package var nameWithArticle: String {
        switch self {
        case .isoBaseMedia: "an MP4 file"
        case .transportStream: "an MPEG transport stream"
        case .aac: "an AAC file"
        case .mpegAudio: "an MP3 file"
        case .ac3: "an AC-3 file"
        case .enhancedAC3: "an Enhanced AC-3 file"
        case .id3: "an ID3 tag"
        case .flac: "a FLAC file"
        case .ogg: "an Ogg file"
        case .wave: "a WAVE file"
        case .matroska: "a Matroska file"
        case .webM: "a WebM file"
        case .webVTT: "a WebVTT file"
        case .ttml: "a TTML document"
        case .hlsPlaylist: "an HLS playlist"
        case .mediaPresentation: "a DASH manifest"
        case .html: "a web page"
        }
    }

    /// Creates the format that the first bytes of a file or segment indicate, or `nil` if they match no known format.
    ///
    /// A few hundred bytes are enough for most formats. A transport stream is detected reliably from 565 bytes on.
    /// Packed audio after an ID3 tag needs all bytes up to its first audio frame; with fewer bytes the result is
    /// ``id3``.
    package init?(_ bytes: Span<UInt8>) {
        if let text = Self.textFormat(bytes) {
            self = text
        } else if Self.isISOBaseMedia(bytes) {
            self = .isoBaseMedia
        } else if bytes.hasBytes("OggS", at: 0) {
            self = .ogg
        } else if bytes.hasBytes("WAVE", at: 8), bytes.hasBytes("RIFF", at: 0) || bytes.hasBytes("RF64", at: 0) {
            self = .wave
        } else if let matroska = Self.matroskaFormat(bytes) {
            self = matroska
        } else if let layout = TransportPacketLayout(bytes), layout.firstSync == 0 || !Self.beginsWithAudio(bytes) {
            self = .transportStream
        } else {
            let start = ID3Tag.endOffset(in: bytes)
            guard start < bytes.count else {
                guard start > 0 else { return nil }
                self = .id3
                return
            }
            if bytes.hasBytes("fLaC", at: start) {
                self = .flac
            } else if let frame = AudioFrameHeader.firstFrame(in: bytes, from: start, within: start > 0 ? 4_096 : 0)?
                .header
            {
                self = frame.container
            } else {
                return nil
            }
        }
    }
}

extension MediaContainer {
    /// The box types with which files and segments may begin.
    private static let firstBoxes: Set<FourCharacterCode> = [
        "ftyp", "styp", "moov", "moof", "sidx", "ssix", "prft", "emsg", "mdat", "free", "skip", "wide", "pnot", "uuid",
        "mfra", "pdin", "meta",
    ]

    /// Returns whether bytes begin with frames of audio, in which the sync byte of transport packets can occur at a regular
    /// distance: frames of 192 bytes are common.
    private static func beginsWithAudio(_ bytes: Span<UInt8>) -> Bool {
        AudioFrameHeader.firstFrame(in: bytes, from: 0, within: 0) != nil
    }

    private static func isISOBaseMedia(_ bytes: Span<UInt8>) -> Bool {
        guard let box = BoxHeader(bytes, at: 0) else { return false }
        return firstBoxes.contains(box.type)
    }

    /// Returns `.webM` or `.matroska` according to the document type in the EBML header (RFC 8794 §11.2.6).
    private static func matroskaFormat(_ bytes: Span<UInt8>) -> MediaContainer? {
        guard bytes.hasBytes("\u{1A}", at: 0), bytes.count >= 4, bytes[1] == 0x45, bytes[2] == 0xDF, bytes[3] == 0xA3
        else { return nil }
        for offset in 4..<max(4, min(bytes.count, 128)) where bytes.hasBytes("webm", at: offset) { return .webM }
        return .matroska
    }

    private static func textFormat(_ bytes: Span<UInt8>) -> MediaContainer? {
        var offset = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
        if bytes.hasBytes("WEBVTT", at: offset) {
            guard offset + 6 < bytes.count else { return .webVTT }
            return [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset + 6]) ? .webVTT : nil
        }
        if bytes.hasBytes("#EXTM3U", at: offset) { return .hlsPlaylist }
        // XML and HTML documents may begin with white space; WebVTT files and playlists may not.
        let end = min(bytes.count, 4_096)
        while offset < end, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
        guard offset < end, bytes[offset] == UInt8(ascii: "<") else { return nil }
        return markupFormat(bytes, from: offset)
    }

    /// Returns the format that the root element or document type declaration of an XML or HTML document indicates.
    private static func markupFormat(_ bytes: Span<UInt8>, from start: Int) -> MediaContainer? {
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

    /// Returns the local name at the given offset in lowercase; only the first 32 bytes, including a prefix, are read.
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
