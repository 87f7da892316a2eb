public import HLSPlaylist

extension MultivariantPlaylist {
    /// Returns the playlist without the audio renditions of other languages.
    ///
    /// Variants whose audio group would be empty are removed with it. If the default rendition of a group is removed, the
    /// first remaining one that may be selected automatically becomes the default. A playlist without audio renditions is
    /// unchanged.
    ///
    /// - Parameter languages: The language ranges (RFC 4647), such as `en`, which includes `en-US`; `und` stands for
    ///   renditions without a language.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no audio rendition or no variant would remain.
    public func limited(toAudioLanguages languages: [String]) throws(PlaylistEditError) -> MultivariantPlaylist {
        let filter = "audio-languages \(languages.joined(separator: ","))"
        let ranges = LanguageRanges(languages)
        guard let emptyGroups = try emptyGroups(of: .audio, in: ranges, filter) else { return self }
        let playable = try filteringVariants(
            filter,
            isIncluded: { variant in variant.groupID(.audio).map { !emptyGroups.contains($0) } ?? true }
        )
        var patch = PlaylistPatch()
        playable.removeRenditions(of: .audio, exceptIn: ranges, &patch)
        playable.selectDefaults(ofAudioIn: ranges, &patch)
        return try playable.patched(patch)
    }

    /// Returns the playlist without the subtitles of other languages.
    ///
    /// Variants whose group of subtitles would be empty no longer refer to it. A playlist without subtitles is unchanged.
    ///
    /// - Parameter languages: The language ranges (RFC 4647), such as `en`, which includes `en-US`; `und` stands for
    ///   renditions without a language.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no subtitles would remain.
    public func limited(toSubtitleLanguages languages: [String]) throws(PlaylistEditError) -> MultivariantPlaylist {
        let filter = "subtitle-languages \(languages.joined(separator: ","))"
        let ranges = LanguageRanges(languages)
        guard let emptyGroups = try emptyGroups(of: .subtitles, in: ranges, filter) else { return self }
        var patch = PlaylistPatch()
        removeRenditions(of: .subtitles, exceptIn: ranges, &patch)
        removeReferences(toSubtitles: { emptyGroups.contains($0) }, &patch)
        return try patched(patch)
    }

    /// Returns the playlist without its subtitle renditions; closed captions, which are part of the video, remain.
    public func withoutSubtitles() throws(PlaylistEditError) -> MultivariantPlaylist {
        var patch = PlaylistPatch()
        removeRenditions(of: .subtitles, exceptIn: LanguageRanges([]), &patch)
        removeReferences(toSubtitles: { _ in true }, &patch)
        return try patched(patch)
    }

    /// Returns the groups without a rendition in the given languages, or `nil` if the playlist has none of the type.
    private func emptyGroups(
        of type: Rendition.MediaType,
        in languages: LanguageRanges,
        _ filter: String
    ) throws(PlaylistEditError) -> Set<String>? {
        let all = renditions.filter { $0.type == type }
        guard !all.isEmpty else { return nil }
        let remaining = all.filter { $0.isIncluded(in: languages) }
        guard !remaining.isEmpty else {
            var known: Set<String> = []
            let available = all.map { $0.language ?? Rendition.undetermined }.filter { known.insert($0).inserted }
            throw .nothingLeft(filter, among: available)
        }
        return Set(all.map(\.groupID)).subtracting(remaining.map(\.groupID))
    }

    private func removeRenditions(
        of type: Rendition.MediaType,
        exceptIn languages: LanguageRanges,
        _ patch: inout PlaylistPatch
    ) {
        for rendition in renditions where rendition.type == type && !rendition.isIncluded(in: languages) {
            patch.remove(rendition.tagLine)
        }
    }

    private func removeReferences(toSubtitles isRemoved: (String) -> Bool, _ patch: inout PlaylistPatch) {
        for variant in variants + iFrameVariants {
            guard let group = variant.groupID(.subtitles), isRemoved(group) else { continue }
            variant.attributes.remove(Rendition.MediaType.subtitles.rawValue, in: &patch)
        }
    }

    /// Selects a default in each group whose default is removed, so that players that choose no language have audio.
    private func selectDefaults(ofAudioIn languages: LanguageRanges, _ patch: inout PlaylistPatch) {
        var groups: [String: [Rendition]] = [:]
        for rendition in renditions where rendition.type == .audio {
            groups[rendition.groupID, default: []].append(rendition)
        }
        for members in groups.values {
            let remaining = members.filter { $0.isIncluded(in: languages) }
            guard members.contains(where: \.isDefault), !remaining.contains(where: \.isDefault),
                let rendition = remaining.first(where: \.isAutoselect) ?? remaining.first
            else { continue }
            rendition.attributes.set("DEFAULT", to: "YES", in: &patch)
            // A default rendition must be selectable automatically (RFC 8216bis §4.4.6.1).
            if !rendition.isAutoselect { rendition.attributes.set("AUTOSELECT", to: "YES", in: &patch) }
        }
    }
}

extension Rendition {
    /// The language that stands for renditions without one (RFC 5646 §4.1).
    fileprivate static let undetermined = "und"

    fileprivate func isIncluded(in languages: LanguageRanges) -> Bool {
        languages.includes(language ?? Self.undetermined)
    }
}
