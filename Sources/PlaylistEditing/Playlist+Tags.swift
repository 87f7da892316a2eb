public import HLSPlaylist

extension Playlist {
    /// Returns the playlist without the tags of the given names.
    ///
    /// - Parameters:
    ///   - names: The names without the number sign; also of tags that the standard does not define.
    ///   - edit: The name of the edit, for the error message.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/unreadableResult(edit:reason:)`` if the result is not a playlist of the same kind.
    public func removingTags(
        _ names: [String],
        edit: String = "strip-tags",
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> Playlist {
        let removed = Set(names)
        var patch = PlaylistPatch()
        for entry in tagEntries where removed.contains(entry.name) { patch.remove(entry.line) }
        return try patched(patch, edit: edit, limits: limits)
    }

    /// Returns the playlist with a tag that applies to all of it.
    ///
    /// An existing tag of the name gets the value, and further ones are removed. A new tag follows `EXTM3U`, and a new
    /// `EXT-X-ENDLIST` is the last line. A playlist of the kind that cannot have the tag is unchanged.
    ///
    /// - Parameters:
    ///   - assignment: The tag and its value.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/unreadableResult(edit:reason:)`` if the result is not a playlist of the same kind.
    public func settingTag(
        _ assignment: TagAssignment,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> Playlist {
        guard assignment.applies(to: kind) else { return self }
        let text = "#" + assignment.name + (assignment.value.map { ":" + $0 } ?? "")
        let entries = tagEntries
        let existing = entries.filter { $0.name == assignment.name }
        var patch = PlaylistPatch()
        if let first = existing.first {
            if String(decoding: bytes[first.text], as: UTF8.self) != text { patch.replace(first.text, with: text) }
            for entry in existing.dropFirst() { patch.remove(entry.line) }
        } else {
            let header = entries.first { $0.tag == .header }?.line
            let position = TagName(assignment.name) == .endList ? bytes.count : header?.upperBound ?? 0
            let isAfterLineEnd = position == 0 || bytes[position - 1] == UInt8(ascii: "\n")
            patch.replace(position..<position, with: (isAfterLineEnd ? "" : lineEnd) + text + lineEnd)
        }
        return try patched(patch, edit: "set-tag", limits: limits)
    }
}
