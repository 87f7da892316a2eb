public import ResourceAddressing

/// An error that prevents bytes from being parsed as a playlist.
///
/// Mistakes in a playlist do not throw an error: the parser is as lenient as a player, and ``Playlist/diagnostics``
/// lists the mistakes.
public enum PlaylistParsingError: MillstreamError, Hashable {
    /// The bytes contain neither `#EXTM3U` nor any playlist tag (RFC 8216bis §4.1); `content` is their actual format,
    /// if known. Players and downloads also throw this error for a text with tags that does not begin with `#EXTM3U`.
    case notAPlaylist(content: UnexpectedContent?)
    /// The playlist is of the other kind than the expected one.
    case unexpectedKind(found: Playlist.Kind)
    /// The input exceeds a limit of ``PlaylistLimits``.
    case limitExceeded(PlaylistLimits.Limit, line: Int)
    /// A media playlist imports a variable with this name that no multivariant playlist defines (RFC 8216bis §4.4.2.3).
    ///
    /// Only players and downloads throw this error; the parser is lenient, and `inspect` and `validate` report it.
    case undeclaredImport(String)
    /// The URL of a multivariant playlist does not have the parameter with this name, which a variable of the playlist
    /// needs (`EXT-X-DEFINE` with `QUERYPARAM`, RFC 8216bis §4.4.2.3).
    ///
    /// Only players, downloads and edits throw this error, as for ``undeclaredImport(_:)``.
    case missingQueryParameter(String)

    /// The maximum number of Unicode scalars of the name of a variable in a message.
    ///
    /// A single character can have any number of combining marks.
    private static let maximumNameLength = 64

    private static func shortened(_ name: String) -> String { String(name.unicodeScalars.prefix(maximumNameLength)) }
}

extension PlaylistParsingError {
    /// The error as a message for display.
    public var description: String {
        switch self {
        case .notAPlaylist(let content):
            content.map { "\($0.rawValue), not an HLS playlist" }
                ?? "not an HLS playlist: it does not begin with #EXTM3U"
        case .unexpectedKind(let found): "a \(found.rawValue) playlist, but the other kind was expected"
        case .limitExceeded(let limit, let line): "line \(line): \(limit)"
        case .undeclaredImport(let name):
            "the playlist imports the variable \"\(Self.shortened(name))\", "
                + "which no multivariant playlist defines"
        case .missingQueryParameter(let name):
            "the URL of the multivariant playlist has no parameter \"\(Self.shortened(name))\", "
                + "which EXT-X-DEFINE:QUERYPARAM needs"
        }
    }

    /// A suggestion for the user; `nil` if there is none.
    package var hint: String? {
        guard case .missingQueryParameter(let name) = self else { return nil }
        let parameter = "\(Self.shortened(name))=VALUE"
        return "add ?\(parameter) to the URL; name a local file as file:///PATH?\(parameter)"
    }

    /// The kind of the error.
    public enum Code: String, ErrorCode {
        /// The bytes are a DASH manifest, which must be translated first.
        case dashManifest = "dash"
        /// The bytes are not a playlist.
        case notAPlaylist = "not-a-playlist"
        /// The playlist is of the other kind than the expected one.
        case unexpectedKind = "unexpected-playlist-kind"
        /// The input exceeds a limit.
        case limitExceeded = "limit-exceeded"
        /// A media playlist imports a variable that no multivariant playlist defines.
        case undeclaredImport = "import-undeclared"
        /// The URL of a multivariant playlist does not have a parameter that a variable of the playlist needs.
        case missingQueryParameter = "query-parameter-missing"

        /// The code of the corresponding error of AVFoundation.
        public var number: Int? {
            switch self {
            case .dashManifest: -11_850
            case .notAPlaylist: -11_828
            case .unexpectedKind, .limitExceeded, .undeclaredImport, .missingQueryParameter: -11_853
            }
        }
    }

    /// The kind of the error.
    public var code: Code {
        switch self {
        case .notAPlaylist(.dashManifest): .dashManifest
        case .notAPlaylist: .notAPlaylist
        case .unexpectedKind: .unexpectedKind
        case .limitExceeded: .limitExceeded
        case .undeclaredImport: .undeclaredImport
        case .missingQueryParameter: .missingQueryParameter
        }
    }

    /// The description of the error.
    public var message: String { description }
}

/// A format, recognized by its first bytes, that was received in place of a playlist.
public enum UnexpectedContent: String, Sendable, Hashable {
    /// An empty document, or one that consists of white space.
    case empty = "empty"
    /// An MPEG-DASH manifest.
    case dashManifest = "a DASH manifest"
    /// An HTML page, often an error page that a server sends with a success status.
    case webPage = "a web page"
    /// A file in the ISO base media file format.
    case mp4 = "an MP4 file"
    /// MPEG-2 transport stream packets.
    case transportStream = "an MPEG transport stream"

    /// Creates the format of content from its first 4096 bytes; `nil` if it is none of these.
    public init?(_ bytes: [UInt8]) {
        let head = bytes.prefix(4096)
        guard head.contains(where: { !" \t\r\n".utf8.contains($0) }) else {
            self = .empty
            return
        }
        if bytes.count >= 8,
            ["ftyp", "styp", "moof", "moov", "sidx"].contains(where: { head[4..<8].elementsEqual($0.utf8) })
        {
            self = .mp4
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
