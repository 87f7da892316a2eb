public import HLSPlaylist
public import MediaTiming

extension MultivariantPlaylist {
    /// Returns the playlist without the variants whose `BANDWIDTH` is outside a range.
    ///
    /// Variants without a valid `BANDWIDTH` are removed as well. I-frame variants, whose bit rates differ, are
    /// preserved unless their video is higher than that of all remaining variants.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(to range: PartialRange<BitRate>) throws(PlaylistEditError) -> MultivariantPlaylist {
        let name = "bandwidth \(PlaylistEdit.bandwidth(range).nameAndValue.value)"
        return try filteringVariants(name) { $0.bandwidth.map { range.contains($0) } ?? false }
    }

    /// Returns the playlist without the variants whose video is higher than `height` pixels.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(toHeight height: Int) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants("max-height \(height)") { ($0.resolution?.height ?? 0) <= height }
    }

    /// Returns the playlist without the variants whose resolution is outside a range.
    ///
    /// Variants without a resolution, such as those with audio only, remain if the range has no lower bound.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(to range: ResolutionRange) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants("resolution \(range)") { variant in
            variant.resolution.map { range.contains($0) } ?? (range.low == nil)
        }
    }

    /// Returns the playlist without the variants whose `FRAME-RATE`, in frames per second, is outside a range.
    ///
    /// Variants without a frame rate remain if the range has no lower bound.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(toFrameRates range: PartialRange<MediaTime>) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants("frame-rate \(PlaylistEdit.frameRate(range).value)") { variant in
            variant.frameRate.map { range.contains($0) } ?? (range.low == nil)
        }
    }

    /// Returns the playlist without the variants and I-frame variants of other dynamic ranges.
    ///
    /// Video without `VIDEO-RANGE` has the range SDR (RFC 8216bis §4.4.6.2). Variants that declare only audio codecs remain.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(to ranges: [VideoRange]) throws(PlaylistEditError) -> MultivariantPlaylist {
        func isIncluded(_ variant: Variant) -> Bool {
            variant.hasOnlyAudio || ranges.contains(variant.videoRange ?? .sdr)
        }
        let names = ranges.map(\.rawValue).joined(separator: ",")
        return try filteringVariants("video-range \(names)", isIFrameIncluded: isIncluded, isIncluded: isIncluded)
    }

    /// Returns the playlist without the variants and I-frame variants that have other codecs.
    ///
    /// A codec is compared with the prefixes of its own media type. If there are none, as for audio in `avc1`, any codec of
    /// that type is included. At least one of the prefixes must match. Variants without `CODECS` are removed, I-frame variants
    /// without it remain.
    ///
    /// - Parameter prefixes: The beginnings of RFC 6381 codecs, such as `avc1` or `mp4a.40`.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(toCodecs prefixes: [String]) throws(PlaylistEditError) -> MultivariantPlaylist {
        let types = prefixes.reduce(into: Set<CodecList.MediaType?>()) { types, prefix in
            types.formUnion(CodecList.mediaTypes(ofCodecsBeginningWith: prefix))
        }
        func isIncluded(_ codec: String) -> Bool {
            !types.contains(CodecList.mediaType(of: codec)) || codec.hasAnyPrefix(of: prefixes)
        }
        func isIncluded(_ variant: Variant) -> Bool {
            !variant.codecs.isEmpty && variant.codecs.allSatisfy { isIncluded($0) }
        }
        // Audio alone is not the result of a filter for a video codec that the playlist does not have.
        let hasMatch = variants.contains { variant in
            isIncluded(variant) && variant.codecs.contains { $0.hasAnyPrefix(of: prefixes) }
        }
        return try filteringVariants(
            "codecs \(prefixes.joined(separator: ","))",
            isIFrameIncluded: { $0.codecs.allSatisfy { isIncluded($0) } },
            isIncluded: { hasMatch && isIncluded($0) }
        )
    }

    /// Returns the playlist without the variants and I-frame variants that have certain codecs.
    ///
    /// - Parameter prefixes: The beginnings of RFC 6381 codecs, such as `hvc1`.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func dropping(codecs prefixes: [String]) throws(PlaylistEditError) -> MultivariantPlaylist {
        func isIncluded(_ variant: Variant) -> Bool { !variant.codecs.contains { $0.hasAnyPrefix(of: prefixes) } }
        return try filteringVariants(
            "drop-codecs \(prefixes.joined(separator: ","))",
            isIFrameIncluded: isIncluded,
            isIncluded: isIncluded
        )
    }

    /// Returns the playlist without its I-frame variants.
    public func withoutIFrameVariants() throws(PlaylistEditError) -> MultivariantPlaylist {
        var patch = PlaylistPatch()
        for variant in iFrameVariants { patch.remove(variant.tagLine) }
        return try patched(patch)
    }

    /// Returns the playlist without the variants that a filter excludes, and without what only they refer to.
    ///
    /// I-frame variants are removed if their video is higher than that of all remaining variants. Renditions are removed if
    /// only removed variants refer to their group; a group that no variant refers to remains.
    ///
    /// - Parameters:
    ///   - filter: The name and value of the filter, for the error message.
    ///   - isIFrameIncluded: A closure that returns whether an I-frame variant remains.
    ///   - isIncluded: A closure that returns whether a variant remains.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    func filteringVariants(
        _ filter: String,
        isIFrameIncluded: (Variant) -> Bool = { _ in true },
        isIncluded: (Variant) -> Bool
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        let remaining = variants.filter(isIncluded)
        guard !remaining.isEmpty else {
            throw .nothingLeft(filter, among: variants.isEmpty ? ["no variant"] : variants.map(\.summary))
        }
        let isUnchanged = remaining.count == variants.count
        let highest = isUnchanged ? nil : remaining.compactMap(\.resolution?.height).max()
        let remainingIFrames = iFrameVariants.filter { variant in
            isIFrameIncluded(variant) && (variant.resolution?.height ?? 0) <= highest ?? .max
        }
        guard !isUnchanged || remainingIFrames.count < iFrameVariants.count else { return self }
        var patch = PlaylistPatch()
        for variant in variants where !isIncluded(variant) {
            patch.remove(startOfBlankLines(before: variant.tagLine.lowerBound)..<variant.tagLine.upperBound)
            if let uriLine = variant.uriLine { patch.remove(uriLine) }
        }
        for variant in iFrameVariants
        where !isIFrameIncluded(variant) || (variant.resolution?.height ?? 0) > highest ?? .max {
            patch.remove(variant.tagLine)
        }
        let unused = GroupReferences(variants + iFrameVariants).subtracting(remaining + remainingIFrames)
        for rendition in renditions where unused.contains(rendition) { patch.remove(rendition.tagLine) }
        return try patched(patch)
    }

    func patched(_ patch: PlaylistPatch) throws(PlaylistEditError) -> MultivariantPlaylist {
        try Playlist.multivariant(self).patched(patch, edit: "the filter").asMultivariant(after: "the filter")
    }

    /// Returns the offset of the blank lines directly before a line, which separate an entry and are removed with it.
    private func startOfBlankLines(before offset: Int) -> Int {
        var start = offset
        while start > 0 {
            var previous = start - 1
            while previous > 0, bytes[previous - 1] != UInt8(ascii: "\n") { previous -= 1 }
            let isBlank = bytes[previous..<start].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
            guard isBlank else { break }
            start = previous
        }
        return start
    }
}

/// The rendition groups to which variants refer.
private struct GroupReferences {
    private struct Group: Hashable {
        let type: Rendition.MediaType
        let id: String
    }

    private var groups: Set<Group> = []

    init(_ variants: [Variant]) {
        for variant in variants {
            for type in Rendition.MediaType.allCases {
                if let id = variant.groupID(type) { groups.insert(Group(type: type, id: id)) }
            }
        }
    }

    /// Returns the groups to which the given variants do not refer.
    func subtracting(_ variants: [Variant]) -> GroupReferences {
        var result = self
        result.groups.subtract(GroupReferences(variants).groups)
        return result
    }

    func contains(_ rendition: Rendition) -> Bool {
        rendition.type.map { groups.contains(Group(type: $0, id: rendition.groupID)) } ?? false
    }
}

extension Variant {
    /// The properties that filters compare, for error messages.
    fileprivate var summary: String {
        let properties: [String?] = [
            bandwidth?.bitsPerSecond.description ?? "no BANDWIDTH", resolution?.description,
            frameRate.map { "\($0) fps" }, videoRange?.rawValue,
            codecs.isEmpty ? nil : codecs.joined(separator: "+"),
        ]
        return properties.compactMap { $0 }.joined(separator: " ")
    }

    /// A Boolean value that indicates whether the variant declares codecs, all of them for audio, and no resolution.
    fileprivate var hasOnlyAudio: Bool {
        resolution == nil && !codecs.isEmpty && codecs.allSatisfy { CodecList.mediaType(of: $0) == .audio }
    }
}

extension String {
    fileprivate func hasAnyPrefix(of prefixes: [String]) -> Bool { prefixes.contains { hasPrefix($0) } }
}
