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
        try filteringVariants(.bandwidth(range))
    }

    /// Returns the playlist without the variants whose video is higher than `height` pixels.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(toHeight height: Int) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants(.maxHeight(height))
    }

    /// Returns the playlist without the variants whose resolution is outside a range.
    ///
    /// Variants without a resolution, such as those with audio only, remain if the range has no lower bound.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(to range: ResolutionRange) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants(.resolution(range))
    }

    /// Returns the playlist without the variants whose `FRAME-RATE`, in frames per second, is outside a range.
    ///
    /// Variants without a frame rate remain if the range has no lower bound.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(toFrameRates range: PartialRange<MediaTime>) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants(.frameRate(range))
    }

    /// Returns the playlist without the variants and I-frame variants of other dynamic ranges.
    ///
    /// Video without `VIDEO-RANGE` has the range SDR (RFC 8216bis §4.4.6.2). Variants that declare only audio codecs remain.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func limited(to ranges: [VideoRange]) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants(.videoRange(ranges))
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
        try filteringVariants(.codecs(prefixes))
    }

    /// Returns the playlist without the variants and I-frame variants that have certain codecs.
    ///
    /// - Parameter prefixes: The beginnings of RFC 6381 codecs, such as `hvc1`.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    public func dropping(codecs prefixes: [String]) throws(PlaylistEditError) -> MultivariantPlaylist {
        try filteringVariants(.dropCodecs(prefixes))
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
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    func filteringVariants(_ filter: VariantFilter) throws(PlaylistEditError) -> MultivariantPlaylist {
        let remaining = variants.filter(filter.isIncluded)
        let hasAffected = variants.isEmpty || variants.contains(where: filter.isAffected)
        guard !hasAffected || remaining.contains(where: filter.isMatch) else {
            throw .nothingLeft(filter.name, among: variants.isEmpty ? ["no variant"] : variants.map(\.summary))
        }
        let isUnchanged = remaining.count == variants.count
        let highest = isUnchanged ? nil : remaining.compactMap(\.resolution?.height).max()
        func remains(_ variant: Variant) -> Bool {
            filter.isIFrameIncluded(variant) && (variant.resolution?.height ?? 0) <= highest ?? .max
        }
        let remainingIFrames = iFrameVariants.filter(remains)
        guard !isUnchanged || remainingIFrames.count < iFrameVariants.count else { return self }
        var patch = PlaylistPatch()
        for variant in variants where !filter.isIncluded(variant) {
            patch.remove(variant.startOfBlankLines(in: bytes)..<variant.tagLine.upperBound)
            if let uriLine = variant.uriLine { patch.remove(uriLine) }
        }
        for variant in iFrameVariants where !remains(variant) { patch.remove(variant.tagLine) }
        let unused = RenditionGroups(of: variants + iFrameVariants)
            .subtracting(RenditionGroups(of: remaining + remainingIFrames))
        for rendition in renditions where unused.contains(rendition) { patch.remove(rendition.tagLine) }
        return try patched(patch)
    }

    func patched(_ patch: PlaylistPatch) throws(PlaylistEditError) -> MultivariantPlaylist {
        try Playlist.multivariant(self).patched(patch, edit: "the filter").asMultivariant(after: "the filter")
    }
}

extension Variant {
    /// The properties that filters compare, for error messages.
    fileprivate var summary: String {
        let properties: [String?] = [
            bandwidth?.description ?? "no BANDWIDTH", resolution?.description,
            frameRate.map { "\($0) fps" }, videoRange?.rawValue,
            codecs.isEmpty ? nil : codecs.joined(separator: "+"), attributes["SCORE"].map { "SCORE \($0)" },
        ]
        return properties.compactMap { $0 }.joined(separator: " ")
    }

    /// Returns the offset of the blank lines directly before the tag, which separate an entry and are removed with it.
    fileprivate func startOfBlankLines(in bytes: [UInt8]) -> Int {
        var start = tagLine.lowerBound
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
