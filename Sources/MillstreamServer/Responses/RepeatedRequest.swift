import HTTPTypes

/// A request for an edited playlist with all properties on which its response can depend: two equal requests have the
/// same response while the sources of the playlist are unchanged.
struct RepeatedRequest: Hashable, Sendable {
    /// The target, the authority and all header fields.
    private let text: String

    /// The maximum number of bytes of a request that is remembered.
    private static let maximumSize = 8_192
    /// The path of the route of edited playlists.
    static let path = "/play.m3u8"
    private static let targetPrefix = path + "?"

    /// Creates the key of a request; `nil` if it is not a plain request for an edited playlist.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - isForwarded: A Boolean value that indicates whether a trusted proxy forwarded the request.
    init?(_ head: HTTPRequest, isForwarded: Bool) {
        guard head.method == .get, let target = head.path, target.hasPrefix(Self.targetPrefix) else { return nil }
        var text = isForwarded ? "forwarded " : "direct "
        text.reserveCapacity(1_024)
        text += target
        text += "\n"
        text += head.authority ?? ""
        for field in head.headerFields {
            switch field.name.canonicalName {
            case "connection": guard field.value.lowercased() == "keep-alive" else { return nil }
            case "content-length", "transfer-encoding", "expect", "upgrade": return nil
            default: break
            }
            text += "\n"
            text += field.name.canonicalName
            text += ":"
            text += field.value
        }
        guard text.utf8.count <= Self.maximumSize else { return nil }
        self.text = text
    }

    /// The number of bytes of the key.
    var size: Int { text.utf8.count }
}
