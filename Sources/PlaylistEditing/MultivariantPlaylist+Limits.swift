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

    /// Returns the playlist without its I-frame variants.
    public func withoutIFrameVariants() throws(PlaylistEditError) -> MultivariantPlaylist {
        var patch = PlaylistPatch()
        for variant in iFrameVariants { patch.remove(variant.tagLine) }
        return try patched(patch)
    }

    private func filteringVariants(
        _ filter: String,
        isIncluded isKept: (Variant) -> Bool
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        let kept = variants.filter(isKept)
        guard !kept.isEmpty else {
            let available = variants.map { variant in
                [variant.bandwidth?.bitsPerSecond.description ?? "no BANDWIDTH", variant.resolution?.description]
                    .compactMap { $0 }.joined(separator: " ")
            }
            throw .nothingLeft(filter: filter, available: available.isEmpty ? ["no variant"] : available)
        }
        guard kept.count < variants.count else { return self }
        var patch = PlaylistPatch()
        for variant in variants where !isKept(variant) {
            patch.remove(startOfBlankLines(before: variant.tagLine.lowerBound)..<variant.tagLine.upperBound)
            if let uriLine = variant.uriLine { patch.remove(uriLine) }
        }
        let heights = kept.compactMap(\.resolution?.height)
        if let highest = heights.max() {
            for variant in iFrameVariants where (variant.resolution?.height ?? 0) > highest {
                patch.remove(variant.tagLine)
            }
        }
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
