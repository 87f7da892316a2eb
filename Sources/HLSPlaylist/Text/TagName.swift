/// The tags of RFC 8216bis §4.4; any other is `nil` here and kept in the playlist as unknown.
package enum TagName: String, CaseIterable, Sendable {
    // Basic tags (§4.4.1) and those of either playlist (§4.4.2).
    case header = "EXTM3U"
    case version = "EXT-X-VERSION"
    case independentSegments = "EXT-X-INDEPENDENT-SEGMENTS"
    case start = "EXT-X-START"
    case define = "EXT-X-DEFINE"

    // Media playlist tags (§4.4.3).
    case targetDuration = "EXT-X-TARGETDURATION"
    case mediaSequence = "EXT-X-MEDIA-SEQUENCE"
    case discontinuitySequence = "EXT-X-DISCONTINUITY-SEQUENCE"
    case endList = "EXT-X-ENDLIST"
    case playlistType = "EXT-X-PLAYLIST-TYPE"
    case iFramesOnly = "EXT-X-I-FRAMES-ONLY"
    case partInformation = "EXT-X-PART-INF"
    case serverControl = "EXT-X-SERVER-CONTROL"

    // Media segment tags (§4.4.4).
    case segmentInformation = "EXTINF"
    case byteRange = "EXT-X-BYTERANGE"
    case discontinuity = "EXT-X-DISCONTINUITY"
    case key = "EXT-X-KEY"
    case map = "EXT-X-MAP"
    case programDateTime = "EXT-X-PROGRAM-DATE-TIME"
    case gap = "EXT-X-GAP"
    case bitRate = "EXT-X-BITRATE"
    case part = "EXT-X-PART"

    // Media metadata tags (§4.4.5).
    case dateRange = "EXT-X-DATERANGE"
    case skip = "EXT-X-SKIP"
    case preloadHint = "EXT-X-PRELOAD-HINT"
    case renditionReport = "EXT-X-RENDITION-REPORT"

    // Multivariant playlist tags (§4.4.6).
    case media = "EXT-X-MEDIA"
    case variant = "EXT-X-STREAM-INF"
    case iFrameVariant = "EXT-X-I-FRAME-STREAM-INF"
    case sessionData = "EXT-X-SESSION-DATA"
    case sessionKey = "EXT-X-SESSION-KEY"
    case contentSteering = "EXT-X-CONTENT-STEERING"

    /// Where a tag may stand.
    package enum Scope {
        /// Either kind of playlist, about all of it.
        case any
        /// A media playlist, about all of it.
        case mediaPlaylist
        /// A media playlist, about the segments that follow.
        case segment
        /// A media playlist, about its timeline rather than a segment.
        case metadata
        /// A multivariant playlist.
        case multivariant
    }

    package var scope: Scope {
        switch self {
        case .header, .version, .independentSegments, .start, .define: .any
        case .targetDuration, .mediaSequence, .discontinuitySequence, .endList, .playlistType, .iFramesOnly,
            .partInformation, .serverControl:
            .mediaPlaylist
        case .segmentInformation, .byteRange, .discontinuity, .key, .map, .programDateTime, .gap, .bitRate, .part:
            .segment
        case .dateRange, .skip, .preloadHint, .renditionReport: .metadata
        case .media, .variant, .iFrameVariant, .sessionData, .sessionKey, .contentSteering: .multivariant
        }
    }

    /// The tag of this name, compared byte for byte as §4.1 wants it.
    init?(_ bytes: Span<UInt8>, in name: Range<Int>) {
        guard name.count >= 6, let tag = Self.candidate(name.count, bytes[name.lowerBound + (name.count > 6 ? 6 : 3)]),
            bytes.holds(tag.rawValue, in: name)
        else { return nil }
        self = tag
    }

    /// The only tag whose name has this length and this letter: the first behind `EXT-X-`, or behind `EXT`.
    private static func candidate(_ length: Int, _ letter: UInt8) -> TagName? {
        switch (length, Unicode.Scalar(letter)) {
        case (6, "M"): .header
        case (6, "I"): .segmentInformation
        case (9, "K"): .key
        case (9, "M"): .map
        case (9, "G"): .gap
        case (10, "P"): .part
        case (10, "S"): .skip
        case (11, "S"): .start
        case (11, "M"): .media
        case (12, "D"): .define
        case (13, "V"): .version
        case (13, "E"): .endList
        case (13, "B"): .bitRate
        case (14, "P"): .partInformation
        case (15, "B"): .byteRange
        case (15, "D"): .dateRange
        case (16, "S"): .variant
        case (17, "S"): .sessionKey
        case (18, "P"): .preloadHint
        case (18, "S"): .sessionData
        case (19, "P"): .playlistType
        case (19, "I"): .iFramesOnly
        case (19, "D"): .discontinuity
        case (20, "T"): .targetDuration
        case (20, "M"): .mediaSequence
        case (20, "S"): .serverControl
        case (22, "R"): .renditionReport
        case (22, "C"): .contentSteering
        case (23, "P"): .programDateTime
        case (24, "I"): .iFrameVariant
        case (26, "I"): .independentSegments
        case (28, "D"): .discontinuitySequence
        default: nil
        }
    }
}

/// A tag line: its name and where its value stands.
struct TagLine {
    let line: Line
    /// The range of the name without the number sign.
    let name: Range<Int>
    /// The range behind the colon, without white space at its end; `nil` where there is no colon.
    let value: Range<Int>?

    /// Reads a line as a tag; `nil` for comments, addresses and blank lines.
    init?(_ line: Line, in bytes: [UInt8]) {
        let text = line.trimmed(in: bytes.span)
        guard let name = Self.name(in: text, bytes.span) else { return nil }
        self.line = line
        self.name = name
        value = name.upperBound < text.upperBound ? (name.upperBound + 1)..<text.upperBound : nil
    }

    /// Where the name of a tag stands in the text of a line; `nil` for anything that is no tag.
    static func name(in text: Range<Int>, _ bytes: Span<UInt8>) -> Range<Int>? {
        guard bytes.hasPrefix("#EXT", at: text.lowerBound, before: text.upperBound) else { return nil }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: text)
        return (text.lowerBound + 1)..<(colon ?? text.upperBound)
    }

    func tag(in bytes: [UInt8]) -> TagName? { TagName(bytes.span, in: name) }
}
