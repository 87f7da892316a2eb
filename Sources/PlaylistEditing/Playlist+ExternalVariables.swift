package import HLSPlaylist

extension Playlist {
    /// Returns the playlist with the value of each variable that it imports from the multivariant playlist or takes
    /// from its URL, so that it depends on neither of them (RFC 8216bis §4.4.2.3).
    ///
    /// The tags of variables whose values are not known stay.
    ///
    /// - Parameter limits: The maximum sizes of the result.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed.
    package func definingExternalVariables(
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> Playlist {
        var patch = PlaylistPatch()
        for variable in externalVariables { variable.define(in: &patch) }
        return try patched(patch, edit: "the variables", limits: limits)
    }
}

extension MediaPlaylist {
    /// Returns the playlist with absolute URIs and the values of the variables that it imports, so that it can be
    /// stored without the multivariant playlist.
    ///
    /// The values of imported variables can be secret parameters of a URL. The value of a variable is not written if
    /// only URIs referred to it, which have no references any more.
    ///
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` if the result cannot be parsed.
    package func standalone() throws(PlaylistEditError) -> MediaPlaylist {
        let playlist = try Playlist.media(self).withAbsoluteAddresses()
        let referenced = playlist.referencedVariables
        var patch = PlaylistPatch()
        for variable in playlist.externalVariables where variable.isImported {
            if referenced.contains(variable.name) { variable.define(in: &patch) } else { patch.remove(variable.line) }
        }
        return try playlist.patched(patch, edit: "the variables").asMedia(after: "the variables")
    }
}
