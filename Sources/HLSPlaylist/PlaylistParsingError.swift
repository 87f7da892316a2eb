/// Why nothing could be made of the bytes of a playlist.
///
/// A playlist with mistakes is not an error: it is parsed as a lenient player would, and its ``Playlist/diagnostics``
/// say what is wrong.
public enum PlaylistParsingError: Error, Sendable, Hashable {
    /// Neither an `#EXTM3U` nor any tag of a playlist was found (RFC 8216bis §4.1); `content` says what it is instead.
    case notAPlaylist(content: ForeignContent?)
    /// A media playlist was expected and a multivariant playlist found, or the other way round.
    case unexpectedKind(found: Playlist.Kind)
    /// The input passes a limit that ``PlaylistLimits`` sets.
    case limitExceeded(PlaylistLimits.Limit, line: Int)
}

extension PlaylistParsingError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        switch self {
        case .notAPlaylist(let content):
            content.map { "\($0.rawValue), not an HLS playlist" }
                ?? "not an HLS playlist: there is no #EXTM3U and no tag of one"
        case .unexpectedKind(let found): "a \(found.rawValue) playlist where the other kind was expected"
        case .limitExceeded(let limit, let line): "line \(line): \(limit)"
        }
    }

    /// A stable short spelling for logs and exit messages.
    public var code: String {
        switch self {
        case .notAPlaylist(.dashManifest): "dash"
        case .notAPlaylist: "not-a-playlist"
        case .unexpectedKind: "unexpected-playlist-kind"
        case .limitExceeded: "limit-exceeded"
        }
    }
}

/// What came where a playlist was expected, as far as its first bytes tell.
public enum ForeignContent: String, Sendable, Hashable {
    /// Nothing.
    case nothing = "empty"
    /// A manifest of MPEG-DASH.
    case dashManifest = "a DASH manifest"
    /// A web page: an error that a server calls a success, often.
    case webPage = "a web page"
    /// A file of the ISO base media file format.
    case movie = "an MP4 file"
    /// MPEG-2 transport stream packets.
    case transportStream = "an MPEG transport stream"

    /// Looks at the beginning of some bytes; `nil` where it is none of these.
    public init?(_ bytes: [UInt8]) {
        let head = bytes.prefix(4096)
        guard head.contains(where: { !" \t\r\n".utf8.contains($0) }) else {
            self = .nothing
            return
        }
        if bytes.count >= 8,
            ["ftyp", "styp", "moof", "moov", "sidx"].contains(where: { head[4..<8].elementsEqual($0.utf8) })
        {
            self = .movie
        } else if bytes.count > 188, bytes[0] == 0x47, bytes[188] == 0x47 {
            self = .transportStream
        } else if head.firstRange(of: Array("<MPD".utf8)) != nil {
            self = .dashManifest
        } else if String(decoding: head, as: UTF8.self).lowercased().contains(/<(!doctype html|html|head|body)\b/) {
            self = .webPage
        } else {
            return nil
        }
    }
}
