import HLSPlaylist
import MediaTiming

extension MultivariantPlaylist {
    /// The group of the audio renditions that ``withSeparateAudio(for:)`` adds.
    private static let addedGroup = "millstream-audio"

    /// Returns the playlist with audio renditions for the variants whose segments contain their audio, if a playlist that is
    /// stitched in has its audio in segments of its own.
    ///
    /// Players would otherwise have no audio while they play the other playlist. Such a rendition refers to the segments of
    /// the variant with the lowest bit rate, of which players then play only the audio.
    ///
    /// - Parameters:
    ///   - sources: The playlists that are stitched in.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist; the same one if its audio is separate already, or all of them contain it in their variants.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit.
    func withSeparateAudio(
        for sources: [String: Playlist],
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        let isSeparate = sources.values.contains { source in
            guard case .multivariant(let other) = source else { return false }
            return other.renditions.contains { $0.type == .audio && $0.uri != nil }
        }
        guard isSeparate else { return self }
        var patch = PlaylistPatch()
        let ungrouped = variants.filter { $0.groupID(.audio) == nil && $0.mayContainAudio }
        if let first = ungrouped.first, let lowest = Self.lowestBitRate(of: ungrouped) {
            patch.replace(
                first.tagLine.lowerBound..<first.tagLine.lowerBound,
                with:
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(Self.addedGroup)\",NAME=\"Audio\",DEFAULT=YES,AUTOSELECT=YES,"
                    + "URI=\"\(lowest.quotableURI)\"\(Playlist.multivariant(self).lineEnd)"
            )
            for variant in ungrouped { variant.attributes.set("AUDIO", to: "\"\(Self.addedGroup)\"", in: &patch) }
        }
        // A rendition without a URI is that of the segments of the variant (RFC 8216bis §4.4.6.2.1).
        for rendition in renditions where rendition.type == .audio && rendition.uri == nil {
            let members = variants.filter { $0.groupID(.audio) == rendition.groupID }
            guard let lowest = Self.lowestBitRate(of: members) else { continue }
            rendition.attributes.set("URI", to: "\"\(lowest.quotableURI)\"", in: &patch)
        }
        return try Playlist.multivariant(self).patched(patch, edit: "stitching", limits: limits)
            .asMultivariant(after: "stitching")
    }

    private static func lowestBitRate(of variants: [Variant]) -> Variant? {
        variants.min { ($0.bandwidth?.bitsPerSecond ?? 0) < ($1.bandwidth?.bitsPerSecond ?? 0) }
    }
}

extension Variant {
    /// A Boolean value that indicates whether the segments can contain audio: one of the codecs is audio, or none is declared.
    fileprivate var mayContainAudio: Bool {
        codecs.isEmpty || codecs.contains { CodecList.mediaType(of: $0) == .audio }
    }

    /// The URI as the value of an attribute.
    fileprivate var quotableURI: String { uri.replacing("\"", with: "%22") }
}
