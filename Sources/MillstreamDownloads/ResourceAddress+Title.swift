import ResourceAddressing

extension ResourceAddress {
    /// The title of an asset with this URL if the application gives none: the last part of the path that is descriptive.
    package var defaultAssetTitle: String {
        if let source = editedSource { return source.defaultAssetTitle }
        // The title is displayed, so it must not contain a secret; the description of a URL has none.
        let path = ResourceAddress(description).path
        let parts = path.split(separator: "/").map { PercentEncoding.decode(String($0)) ?? String($0) }
        let name = parts.last.map(Self.withoutExtension) ?? host ?? description
        // A name such as "multivariant.m3u8" is not descriptive; the name of its directory or host is used instead.
        guard Self.genericNames.contains(where: { name.lowercased().hasPrefix($0) }) else { return name }
        return parts.dropLast().last ?? host ?? name
    }

    /// The source of an edited stream, whose playlist `millstream serve` has at `/play.m3u8?url=SOURCE`; `nil` for any other
    /// URL.
    private var editedSource: ResourceAddress? {
        guard isHTTP, path.split(separator: "/").last == "play.m3u8", let query else { return nil }
        let prefix = "url="
        return query.split(separator: "&").first { $0.hasPrefix(prefix) }.flatMap { item in
            let text = PercentEncoding.decode(String(item.dropFirst(prefix.count))) ?? ""
            let source = ResourceAddress(text)
            // A stitched stream can contain itself only as often as its URL is long.
            return source.isAbsolute && text.utf8.count < self.text.utf8.count ? source : nil
        }
    }

    /// The beginnings of names that many playlists and manifests have.
    private static let genericNames = [
        "multivariant", "master", "index", "playlist", "main", "manifest", "media", "prog_index", "stream",
    ]

    /// The extensions of playlists, manifests and media files.
    private static let extensions = [
        ".m3u8", ".m3u", ".mpd", ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".m4a", ".mp3", ".aac", ".flac", ".ogg",
        ".wav", ".m2ts", ".ts", ".ac3", ".ec3", ".mka",
    ]

    /// Returns the name of a playlist, a manifest or a media file without its extension.
    private static func withoutExtension(_ name: String) -> String {
        let known = extensions.first { name.lowercased().hasSuffix($0) && name.count > $0.count }
        return known.map { String(name.dropLast($0.count)) } ?? name
    }
}
