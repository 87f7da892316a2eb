/// The tags that RFC 8216bis §4.4 defines; other tags are preserved as unknown tags.
package enum TagName: String, CaseIterable, Sendable {
    // Basic tags (§4.4.1) and tags for both kinds of playlist (§4.4.2).
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

    /// The kind of playlist that may contain a tag, and what the tag applies to.
    package enum Scope {
        /// Both kinds of playlist; the tag applies to the entire playlist.
        case any
        /// Media playlists; the tag applies to the entire playlist.
        case mediaPlaylist
        /// Media playlists; the tag applies to the segments after it.
        case segment
        /// Media playlists; the tag describes the timeline or the playlist's updates rather than a segment.
        case metadata
        /// Multivariant playlists.
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

    /// Creates a tag from its name; names are case-sensitive (§4.1).
    init?(_ bytes: Span<UInt8>, in name: Range<Int>) {
        guard name.count >= 6, let tag = Self.candidate(name.count, bytes[name.lowerBound + (name.count > 6 ? 6 : 3)]),
            bytes.matches(tag.rawValue, in: name)
        else { return nil }
        self = tag
    }

    /// Returns the only tag with a name of this length and this letter.
    ///
    /// The letter is the first after `EXT-X-`, or after `EXT` for names of six bytes.
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

/// A line with a tag: the ranges of its name and value.
struct TagLine {
    let line: Line
    /// The range of the name, without the number sign.
    let name: Range<Int>
    /// The range after the colon without trailing white space, or `nil` if there is no colon.
    let value: Range<Int>?

    /// Creates a tag line from a line, or returns `nil` for comments, URIs and blank lines.
    init?(_ line: Line, in bytes: [UInt8]) {
        let text = line.trimmed(in: bytes.span)
        guard let name = Self.name(in: text, bytes.span) else { return nil }
        self.line = line
        self.name = name
        value = name.upperBound < text.upperBound ? (name.upperBound + 1)..<text.upperBound : nil
    }

    /// Returns the range of the tag name in the text of a line, or `nil` if the line has no tag.
    static func name(in text: Range<Int>, _ bytes: Span<UInt8>) -> Range<Int>? {
        guard bytes.hasPrefix("#EXT", at: text.lowerBound, before: text.upperBound) else { return nil }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: text)
        return (text.lowerBound + 1)..<(colon ?? text.upperBound)
    }

    func tag(in bytes: [UInt8]) -> TagName? { TagName(bytes.span, in: name) }
}
