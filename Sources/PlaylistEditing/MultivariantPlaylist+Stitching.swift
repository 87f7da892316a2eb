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

    /// Returns the playlist with the bit rates and formats of what its variants contain once the variants that match them are
    /// stitched to them.
    ///
    /// The variants of the other presentations are matched by the bit rates before this change.
    ///
    /// - Parameters:
    ///   - matchings: The presentations that are stitched in.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist; the same one if no variant that is stitched in has a higher bit rate or other formats.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit.
    func declaringStitchedMedia(
        of matchings: [StitchMatching],
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        guard !matchings.isEmpty else { return self }
        var patch = PlaylistPatch()
        for variant in variants + iFrameVariants {
            var media = StitchedMedia(variant)
            for matching in matchings {
                if let other = matching.match(for: variant) { media.add(other) }
            }
            media.declare(in: &patch)
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
    fileprivate var quotableURI: String { WrittenText.uri(uri) }
}

/// The bit rates and formats of a variant and of those that are stitched to it.
private struct StitchedMedia {
    private let variant: Variant
    /// The peak segment bit rate (RFC 8216bis §4.4.6.2), in bits per second.
    private var peak: Int64
    /// An upper bound on the average segment bit rate, in bits per second.
    private var average: Int64
    private let ownCodecs: [String]
    private var codecs: [String]

    init(_ variant: Variant) {
        self.variant = variant
        peak = variant.bandwidth?.bitsPerSecond ?? 0
        average = variant.averageBandwidth?.bitsPerSecond ?? 0
        ownCodecs = variant.codecs
        codecs = ownCodecs
    }

    /// Adds the media of a variant that is stitched in.
    mutating func add(_ other: Variant) {
        let rate = other.bandwidth?.bitsPerSecond ?? 0
        peak = max(peak, rate)
        // Without a declared average, only the peak is known to be an upper bound on it.
        average = max(average, other.averageBandwidth?.bitsPerSecond ?? rate)
        // Formats that are not declared remain unknown.
        guard !ownCodecs.isEmpty else { return }
        for codec in other.codecs where isPlayed(codec, of: other) {
            let format = Self.format(of: codec)
            if !codecs.contains(where: { Self.format(of: $0) == format }) { codecs.append(codec) }
        }
    }

    /// Adds the changes of the attributes of the variant to a patch.
    func declare(in patch: inout PlaylistPatch) {
        let attributes = variant.attributes
        if let declared = variant.bandwidth?.bitsPerSecond, peak > declared {
            attributes.set("BANDWIDTH", to: "\(peak)", in: &patch)
        }
        if let declared = variant.averageBandwidth?.bitsPerSecond, min(average, peak) > declared {
            attributes.set("AVERAGE-BANDWIDTH", to: "\(min(average, peak))", in: &patch)
        }
        if codecs.count > ownCodecs.count {
            let list = WrittenText.quoted(codecs.joined(separator: ","))
            attributes.set("CODECS", to: "\"\(list)\"", in: &patch)
        }
    }

    /// Returns a Boolean value that indicates whether a format of another variant is played with this one: that of its renditions is
    /// not if this variant has no renditions of that type.
    private func isPlayed(_ codec: String, of other: Variant) -> Bool {
        switch CodecList.mediaType(of: codec) {
        case .audio: other.groupID(.audio) == nil || variant.groupID(.audio) != nil
        case .subtitles: other.groupID(.subtitles) == nil || variant.groupID(.subtitles) != nil
        case .video, nil: true
        }
    }

    /// Returns the part of a codec that names its format without its profile and level: the sample entry type, and for `mp4a` the type
    /// of the object as well.
    private static func format(of codec: String) -> String {
        let parts = codec.lowercased().split(separator: ".")
        return parts.prefix(parts.first == "mp4a" ? 2 : 1).joined(separator: ".")
    }
}
