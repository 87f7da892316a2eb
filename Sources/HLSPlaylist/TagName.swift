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

    private static let byName: [[UInt8]: TagName] = Dictionary(
        uniqueKeysWithValues: allCases.map { (Array($0.rawValue.utf8), $0) }
    )

    /// The tag of this name, compared byte for byte as §4.1 wants it.
    init?(_ name: ArraySlice<UInt8>) {
        guard let tag = Self.byName[Array(name)] else { return nil }
        self = tag
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
        guard bytes.hasPrefix("#EXT", at: text.lowerBound, before: text.upperBound) else { return nil }
        var index = text.lowerBound + 1
        while index < text.upperBound, bytes[index] != UInt8(ascii: ":") { index += 1 }
        self.line = line
        name = (text.lowerBound + 1)..<index
        value = index < text.upperBound ? (index + 1)..<text.upperBound : nil
    }

    func tag(in bytes: [UInt8]) -> TagName? { TagName(bytes[name]) }
}
