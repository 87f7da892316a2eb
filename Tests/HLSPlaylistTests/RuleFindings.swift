import ResourceAddressing

@testable import HLSPlaylist

/// Functions that return the violations in short playlists, for tables of rules.
enum RuleFindings {
    /// Validates a playlist.
    ///
    /// - Parameters:
    ///   - text: The playlist.
    ///   - sets: The sets of rules to check.
    ///   - address: The URL of the playlist.
    ///   - variables: The variables that the playlist can import.
    /// - Returns: The violations, each as the number of its line and the identifier of the rule.
    /// - Throws: An error if the text is not a playlist.
    static func lines(
        _ text: String,
        _ sets: Set<RuleSet> = [.rfc],
        address: String? = nil,
        variables: [String: String] = [:]
    ) throws -> [String] {
        try diagnostics(text, sets, address: address, variables: variables).map { "\($0.line ?? 0) \($0.code)" }
    }

    /// Returns the identifiers of the violated rules, separated by spaces.
    static func codes(_ text: String, _ sets: Set<RuleSet> = [.rfc]) throws -> String {
        try diagnostics(text, sets).map(\.code).joined(separator: " ")
    }

    static func diagnostics(
        _ text: String,
        _ sets: Set<RuleSet> = [.rfc],
        address: String? = nil,
        variables: [String: String] = [:]
    ) throws -> [Diagnostic] {
        let context = PlaylistContext(address: address.map { ResourceAddress($0) }, importableVariables: variables)
        return try Playlist.parse(Array(text.utf8), context: context).validated(against: sets)
    }

    /// Returns an ended media playlist with one segment after the given lines.
    static func media(_ lines: String) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
    }

    /// Returns a media playlist with a date range, whose attributes follow an identifier and a start date.
    static func dateRange(_ attributes: String) -> String {
        let date = "2030-01-01T00:00:00.000Z"
        return media(
            "#EXT-X-PROGRAM-DATE-TIME:\(date)\n#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(date)\",\(attributes)"
        )
    }

    /// Returns a multivariant playlist with an audio rendition, to whose attributes the given ones are added.
    static func audio(_ attributes: String, version: Int? = nil) -> String {
        multivariant(
            (version.map { "#EXT-X-VERSION:\($0)\n" } ?? "")
                + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",CHANNELS=\"2\",\(attributes)"
        )
    }

    /// Returns a multivariant playlist with one variant, to whose attributes the given ones are added.
    static func variant(_ attributes: String) -> String {
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9,\(attributes)\nv.m3u8\n"
    }

    /// Returns a multivariant playlist with one variant after the given lines.
    static func multivariant(_ lines: String) -> String {
        "#EXTM3U\n\(lines)\n#EXT-X-STREAM-INF:BANDWIDTH=9,CODECS=\"avc1.640028\"\nv.m3u8\n"
    }
}
