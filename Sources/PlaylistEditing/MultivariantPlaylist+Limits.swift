public import HLSPlaylist
public import MediaTiming

extension MultivariantPlaylist {
    /// The playlist without the variants whose `BANDWIDTH` lies outside a range.
    ///
    /// Variants without a readable `BANDWIDTH` go too. I-frame variants have bit rates of their own and stay, except
    /// those whose picture is larger than any that is left.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` where no variant would be left.
    public func limited(to range: OpenRange<BitRate>) throws(PlaylistEditError) -> MultivariantPlaylist {
        let name = "bandwidth \(PlaylistEdit.bandwidth(range).spelling.value)"
        return try keeping(filter: name) { $0.bandwidth.map { range.contains($0) } ?? false }
    }

    /// The playlist without the variants whose picture is higher than `height` pixels.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` where no variant would be left.
    public func limited(toHeight height: Int) throws(PlaylistEditError) -> MultivariantPlaylist {
        try keeping(filter: "max-height \(height)") { ($0.resolution?.height ?? 0) <= height }
    }

    /// The playlist without its I-frame variants.
    public func withoutIFrameVariants() throws(PlaylistEditError) -> MultivariantPlaylist {
        var patch = PlaylistPatch()
        for variant in iFrameVariants { patch.remove(variant.tagLine) }
        return try patched(patch)
    }

    private func keeping(
        filter: String,
        _ isKept: (Variant) -> Bool
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
            patch.remove(blankLinesBefore(variant.tagLine.lowerBound)..<variant.tagLine.upperBound)
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

    /// Where the blank lines directly before a line begin: they set an entry apart and go with it.
    private func blankLinesBefore(_ offset: Int) -> Int {
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
