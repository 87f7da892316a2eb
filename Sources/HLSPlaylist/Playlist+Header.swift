extension Playlist {
    /// A Boolean value that indicates whether the playlist begins with `#EXTM3U` (RFC 8216bis §4.4.1.1), after a byte-order
    /// mark and empty lines if there are any.
    package var beginsWithHeader: Bool {
        let bytes = bytes
        let span = bytes.span
        var start = span.hasPrefix("\u{FEFF}", at: 0, before: bytes.count) ? 3 : 0
        while start < bytes.count, [0x09, 0x0A, 0x0D, 0x20].contains(bytes[start]) { start += 1 }
        return span.hasPrefix("#EXTM3U", at: start, before: bytes.count)
    }

    /// Throws an error if the playlist does not begin with `#EXTM3U`; clients must not accept such a playlist (RFC 8216bis
    /// §4.4.1.1).
    ///
    /// The parser accepts any text with a playlist tag, so that it can be inspected, validated and edited.
    ///
    /// - Throws: ``PlaylistParsingError/notAPlaylist(content:)``.
    package func checkHeader() throws(PlaylistParsingError) {
        guard !beginsWithHeader else { return }
        throw .notAPlaylist(content: UnexpectedContent(bytes))
    }
}
