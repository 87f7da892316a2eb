/// Why nothing could be made of the bytes of a playlist.
///
/// A playlist with mistakes is not an error: it is parsed as a lenient player would, and its ``Playlist/diagnostics``
/// say what is wrong.
public enum PlaylistParsingError: Error, Sendable, Hashable {
    /// Neither an `#EXTM3U` nor any tag of a playlist was found (RFC 8216bis §4.1).
    case notAPlaylist
    /// A media playlist was expected and a multivariant playlist found, or the other way round.
    case unexpectedKind(found: Playlist.Kind)
    /// The input passes a limit that ``PlaylistLimits`` sets.
    case limitExceeded(PlaylistLimits.Limit, line: Int)
}

extension PlaylistParsingError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        switch self {
        case .notAPlaylist: "not a playlist: there is no #EXTM3U and no tag of one"
        case .unexpectedKind(let found): "a \(found.rawValue) playlist where the other kind was expected"
        case .limitExceeded(let limit, let line): "line \(line): \(limit)"
        }
    }

    /// A stable short spelling for logs and exit messages.
    public var code: String {
        switch self {
        case .notAPlaylist: "not-a-playlist"
        case .unexpectedKind: "unexpected-playlist-kind"
        case .limitExceeded: "limit-exceeded"
        }
    }
}
