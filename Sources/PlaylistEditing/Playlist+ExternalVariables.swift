package import HLSPlaylist

extension Playlist {
    /// Returns the playlist with the value of each variable that it imports from the multivariant playlist or takes
    /// from its URL, so that it depends on neither of them (RFC 8216bis §4.4.2.3).
    ///
    /// The tags of variables whose values are not known stay. If a quoted string cannot contain a value, such as one
    /// with a quotation mark, the URIs that refer to the variable have the value in place of the reference,
    /// percent-encoded.
    ///
    /// - Parameter limits: The maximum sizes of the result.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed, or if an attribute other than
    ///   a URI needs a value that no quoted string can contain.
    package func definingExternalVariables(
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> Playlist {
        try patched(definitions(limit: limits.byteCount), edit: "the variables", limits: limits)
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
        for variable in playlist.externalDefinitions where variable.isImported && variable.value != nil {
            variable.place(in: &patch, isReferenced: referenced.contains(variable.name))
        }
        return try playlist.patched(patch, edit: "the variables").asMedia(after: "the variables")
    }
}

extension MultivariantPlaylist {
    /// Returns the playlist without variables that it takes from the query of its URL, so that it can be stored at
    /// another URL.
    ///
    /// As in ``MediaPlaylist/standalone()``, a value is written only if the text still refers to the variable.
    ///
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` if the result cannot be parsed.
    package func withoutParameters() throws(PlaylistEditError) -> MultivariantPlaylist {
        let playlist = Playlist.multivariant(self)
        let parameters = playlist.externalDefinitions.filter { !$0.isImported }
        guard !parameters.isEmpty else { return self }
        let referenced = playlist.referencedVariables
        var patch = PlaylistPatch()
        for variable in parameters {
            variable.place(in: &patch, isReferenced: referenced.contains(variable.name))
        }
        return try playlist.patched(patch, edit: "the variables").asMultivariant(after: "the variables")
    }
}

extension Playlist.ExternalVariable {
    /// Replaces the tag with the definition if something refers to the variable and it can be written; otherwise
    /// removes it.
    fileprivate func place(in patch: inout PlaylistPatch, isReferenced: Bool) {
        if isReferenced, isWritable { define(in: &patch) } else { patch.remove(line) }
    }
}
