public import HLSPlaylist
import MediaTiming

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
        try filteringRenditions(.languages(languages, of: .audio, name: "audio-languages"))
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
        try filteringRenditions(.languages(languages, of: .subtitles, name: "subtitle-languages"))
    }

    /// Returns the playlist without its subtitle renditions; closed captions, which are part of the video, remain.
    public func withoutSubtitles() throws(PlaylistEditError) -> MultivariantPlaylist {
        try removingRenditions(of: [.subtitles])
    }

    /// Returns the playlist without the subtitles and closed captions of other types.
    ///
    /// If all closed captions are removed, `CLOSED-CAPTIONS=NONE` tells players not to show those in the video
    /// (RFC 8216bis §4.4.6.2).
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if none would remain.
    public func limited(to captionTypes: [CaptionType]) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringRenditions(.captionTypes(captionTypes))
    }

    /// Returns the playlist without the renditions that a filter excludes, and without what only they are needed for.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no rendition of these types or no variant would
    ///   remain.
    func filteringRenditions(_ filter: RenditionFilter) throws(PlaylistEditError) -> MultivariantPlaylist {
        let all = renditions.filter(filter.isAffected)
        let remaining = all.filter(filter.isIncluded)
        guard remaining.count < all.count else { return self }
        guard !remaining.isEmpty else {
            var known: Set<String> = []
            throw .nothingLeft(filter.name, among: all.map(filter.property).filter { known.insert($0).inserted })
        }
        let emptyGroups = RenditionGroups(all).subtracting(RenditionGroups(remaining))
        // Variants without audio would be silent.
        let playable = try filteringVariants(
            VariantFilter(
                name: filter.name,
                isIncluded: { variant in variant.groupID(.audio).map { !emptyGroups.contains(.audio, $0) } ?? true }
            )
        )
        var patch = PlaylistPatch()
        for rendition in playable.renditions where filter.isAffected(rendition) && !filter.isIncluded(rendition) {
            patch.remove(rendition.tagLine)
        }
        let types = [Rendition.MediaType.subtitles, .closedCaptions].filter { filter.types.contains($0) }
        let removed = RenditionGroups(all).types.subtracting(RenditionGroups(remaining).types)
        playable.removeReferences(
            to: types,
            writesNone: removed.contains(.closedCaptions),
            { emptyGroups.contains($0, $1) },
            &patch
        )
        if filter.types.contains(.audio) { playable.selectDefaults(ofAudioIn: filter, &patch) }
        return try playable.patched(patch)
    }

    /// Returns the playlist without the renditions of some types, and the references to them.
    private func removingRenditions(of types: [Rendition.MediaType]) throws(PlaylistEditError) -> MultivariantPlaylist {
        var patch = PlaylistPatch()
        for rendition in renditions where rendition.type.map({ types.contains($0) }) ?? false {
            patch.remove(rendition.tagLine)
        }
        removeReferences(to: types, writesNone: types.contains(.closedCaptions), { _, _ in true }, &patch)
        return try patched(patch)
    }

    /// Removes the references to groups without renditions.
    ///
    /// - Parameters:
    ///   - types: The types of the groups.
    ///   - writesNone: A Boolean value that indicates whether players are told that there are no closed captions.
    ///   - isRemoved: A closure that returns whether a group is removed.
    ///   - patch: The patch.
    private func removeReferences(
        to types: [Rendition.MediaType],
        writesNone: Bool,
        _ isRemoved: (Rendition.MediaType, String) -> Bool,
        _ patch: inout PlaylistPatch
    ) {
        for variant in variants + iFrameVariants {
            var removed: [String] = []
            for type in types {
                // NONE must be in all variants, or in none of them.
                if type == .closedCaptions, writesNone, !variant.isIFramesOnly {
                    variant.attributes.set(type.rawValue, to: "NONE", in: &patch)
                } else if let group = variant.groupID(type), isRemoved(type, group) {
                    removed.append(type.rawValue)
                }
            }
            variant.attributes.remove(removed, in: &patch)
        }
    }

    /// Selects a default in each group whose default is removed, so that players that choose no language have audio.
    private func selectDefaults(ofAudioIn filter: RenditionFilter, _ patch: inout PlaylistPatch) {
        var groups: [String: [Rendition]] = [:]
        for rendition in renditions where rendition.type == .audio {
            groups[rendition.groupID, default: []].append(rendition)
        }
        for members in groups.values {
            let remaining = members.filter(filter.isIncluded)
            guard members.contains(where: \.isDefault), !remaining.contains(where: \.isDefault),
                let rendition = remaining.first(where: \.isAutoselect) ?? remaining.first
            else { continue }
            rendition.attributes.set("DEFAULT", to: "YES", in: &patch)
            // A default rendition must be selectable automatically (RFC 8216bis §4.4.6.1).
            if !rendition.isAutoselect { rendition.attributes.set("AUTOSELECT", to: "YES", in: &patch) }
        }
    }
}

// MARK: - Audio without video

extension MultivariantPlaylist {
    /// Returns the playlist without the audio renditions that a closure excludes, for a presentation without video.
    ///
    /// A variant with only audio whose segments are those of an excluded rendition gets the segments of the default rendition that
    /// remains in its group.
    ///
    /// - Parameters:
    ///   - name: The name of the filter, for the error message.
    ///   - isIncluded: A closure that returns whether an audio rendition remains.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no audio rendition or no variant would remain.
    package func limitedAudio(
        _ name: String,
        to isIncluded: @escaping @Sendable (Rendition) -> Bool
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        let excluded = renditions.filter { $0.type == .audio && !isIncluded($0) }
        let result = try filteringRenditions(
            RenditionFilter(
                name: name,
                types: [.audio],
                property: { $0.language ?? $0.name },
                isIncluded: isIncluded
            )
        )
        var patch = PlaylistPatch()
        var moved: Set<String> = []
        for variant in result.variants where variant.hasOnlyAudio {
            guard let group = variant.groupID(.audio),
                excluded.contains(where: { $0.groupID == group && ($0.uri ?? variant.uri) == variant.uri })
            else { continue }
            let members = result.renditions.filter { $0.type == .audio && $0.groupID == group }
            guard let rendition = members.first(where: \.isDefault) ?? members.first, let uri = rendition.uri else {
                continue
            }
            patch.replace(variant.uriRange, with: uri)
            // A rendition without a URI is that of the segments of the variant (RFC 8216bis §4.4.6.2.1).
            if moved.insert(group).inserted { rendition.attributes.remove(["URI"], in: &patch) }
        }
        return moved.isEmpty ? result : try result.patched(patch)
    }
}

// MARK: - Types of content

extension MultivariantPlaylist {
    /// Returns the playlist without the media of other types.
    ///
    /// - Without ``ContentType/video``, the variants with only audio remain; if there are none, each group of audio
    ///   renditions with segments of their own becomes a variant.
    /// - Without ``ContentType/audio``, these are removed, and the audio renditions; audio that a variant contains besides its
    ///   video remains.
    /// - Without ``ContentType/subtitles`` or ``ContentType/closedCaptions``, the renditions of that type are removed.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(to contentTypes: [ContentType]) throws(PlaylistEditError) -> MultivariantPlaylist {
        let name = "content-types \(contentTypes.map(\.rawValue).joined(separator: ","))"
        var result = self
        if !contentTypes.contains(.video) {
            if let audio = try result.withAudioVariants() {
                result = try audio.withoutIFrameVariants()
            } else {
                result = try result.filteringVariants(
                    VariantFilter(name: name, isIncluded: \.hasOnlyAudio, isIFrameIncluded: { _ in false })
                )
            }
        }
        if !contentTypes.contains(.audio) {
            result = try result.filteringVariants(VariantFilter(name: name, isIncluded: { !$0.hasOnlyAudio }))
                .withoutAudioRenditions()
        }
        var others: [Rendition.MediaType] = contentTypes.contains(.video) ? [] : [.video]
        if !contentTypes.contains(.subtitles) { others.append(.subtitles) }
        if !contentTypes.contains(.closedCaptions) { others.append(.closedCaptions) }
        return others.isEmpty ? result : try result.removingRenditions(of: others)
    }

    /// Returns the playlist with a variant of each group of audio renditions instead of the variants with video; `nil` if it
    /// has variants with only audio, or no audio renditions with segments of their own.
    private func withAudioVariants() throws(PlaylistEditError) -> MultivariantPlaylist? {
        guard !variants.contains(where: \.hasOnlyAudio) else { return nil }
        var groups: [String: [Rendition]] = [:]
        let separate = renditions.filter { rendition in
            guard rendition.type == .audio, let uri = rendition.uri else { return false }
            return !uri.isEmpty && !uri.hasPrefix("#")
        }
        for rendition in separate { groups[rendition.groupID, default: []].append(rendition) }
        let isUsed = variants.contains { variant in variant.groupID(.audio).map { groups[$0] != nil } ?? false }
        guard isUsed else { return nil }
        var patch = PlaylistPatch()
        // Audio in the segments of the video is removed with them.
        for rendition in renditions where rendition.type == .audio && rendition.uri == nil {
            patch.remove(rendition.tagLine)
        }
        for variant in variants {
            // The first variant of each group becomes that of its audio.
            guard let group = variant.groupID(.audio), let members = groups.removeValue(forKey: group),
                let rendition = members.first(where: \.isDefault) ?? members.first, let uri = rendition.uri
            else {
                patch.remove(variant.tagLine)
                if let line = variant.uriLine { patch.remove(line) }
                continue
            }
            variant.declareOnlyAudio(of: members, in: &patch)
            patch.replace(variant.uriRange, with: uri)
            // A rendition without a URI is that of the segments of the variant (RFC 8216bis §4.4.6.2.1).
            rendition.attributes.remove(["URI"], in: &patch)
        }
        return try patched(patch)
    }

    /// Returns the playlist without its audio renditions, and the codecs of those that are separate from the video.
    private func withoutAudioRenditions() throws(PlaylistEditError) -> MultivariantPlaylist {
        var patch = PlaylistPatch()
        var separateGroups: Set<String> = []
        var includedGroups: Set<String> = []
        for rendition in renditions where rendition.type == .audio {
            patch.remove(rendition.tagLine)
            if rendition.uri == nil {
                includedGroups.insert(rendition.groupID)
            } else {
                separateGroups.insert(rendition.groupID)
            }
        }
        for variant in variants {
            guard let group = variant.groupID(.audio) else { continue }
            variant.attributes.remove([Rendition.MediaType.audio.rawValue], in: &patch)
            guard separateGroups.contains(group), !includedGroups.contains(group) else { continue }
            let remaining = variant.codecs.filter { CodecList.mediaType(of: $0) != .audio }
            guard remaining.count < variant.codecs.count, !remaining.isEmpty else { continue }
            variant.attributes.set("CODECS", to: "\"\(remaining.joined(separator: ","))\"", in: &patch)
        }
        return try patched(patch)
    }
}

extension Variant {
    /// The bit rate in bits per second that is written for each channel of audio whose bit rate no tag declares.
    private static let assumedRateOfChannel: Int64 = 64_000

    /// The attributes of a variant that concern its video, or the video and the audio together.
    private static let videoAttributes = [
        "RESOLUTION", "FRAME-RATE", "VIDEO-RANGE", "HDCP-LEVEL", "ALLOWED-CPC", "REQ-VIDEO-LAYOUT",
        "SUPPLEMENTAL-CODECS", "SCORE", "STABLE-VARIANT-ID", "NAME", "VIDEO", "CLOSED-CAPTIONS",
    ]

    /// Changes the attributes to those of a variant that has only the audio of a group.
    fileprivate func declareOnlyAudio(of members: [Rendition], in patch: inout PlaylistPatch) {
        let audioCodecs = codecs.filter { CodecList.mediaType(of: $0) == .audio }
        attributes.remove(Self.videoAttributes + (audioCodecs.isEmpty ? ["CODECS"] : []), in: &patch)
        if !audioCodecs.isEmpty {
            attributes.set("CODECS", to: "\"\(audioCodecs.joined(separator: ","))\"", in: &patch)
        }
        let channels = max(1, min(members.compactMap(\.channels?.count).max() ?? 2, 64))
        let rate = "\(channels *| Self.assumedRateOfChannel)"
        attributes.set("BANDWIDTH", to: rate, in: &patch)
        if averageBandwidth != nil { attributes.set("AVERAGE-BANDWIDTH", to: rate, in: &patch) }
    }
}

/// A type of content in a presentation.
public enum ContentType: String, Sendable, Hashable, CaseIterable {
    /// Video, with what the same segments contain.
    case video
    /// Audio in its own segments.
    case audio
    /// Subtitles in their own segments.
    case subtitles
    /// Closed captions in the video.
    case closedCaptions = "closed-captions"
}
