import HLSPlaylist
import MediaTiming

/// A filter of the variants of a multivariant playlist.
struct VariantFilter: Sendable {
    typealias Condition = @Sendable (Variant) -> Bool

    /// The name and value of the filter, for the error message.
    var name: String
    /// A closure that returns whether a variant remains.
    var isIncluded: Condition
    /// A closure that returns whether an I-frame variant remains.
    var isIFrameIncluded: Condition = { _ in true }
    /// A closure that returns whether the filter has an effect on a variant.
    var isAffected: Condition = { _ in true }
    /// A closure that returns whether a remaining variant is one that the filter looks for; one of those must remain unless the
    /// filter affects none.
    var isMatch: Condition = { _ in true }

    /// Returns a filter that has an effect only on some variants; others, and the I-frame variants of others, remain.
    func limited(to isAffected: @escaping Condition) -> VariantFilter {
        let filter = self
        return VariantFilter(
            name: name,
            isIncluded: { !isAffected($0) || filter.isIncluded($0) },
            isIFrameIncluded: { !isAffected($0) || filter.isIFrameIncluded($0) },
            isAffected: isAffected,
            isMatch: { isAffected($0) && filter.isMatch($0) }
        )
    }
}

extension VariantFilter {
    static func bandwidth(_ range: PartialRange<BitRate>) -> VariantFilter {
        VariantFilter(name: "bandwidth \(PlaylistEdit.bandwidth(range).value)") { variant in
            variant.bandwidth.map { range.contains($0) } ?? false
        }
    }

    static func maxHeight(_ height: Int) -> VariantFilter {
        VariantFilter(name: "max-height \(height)") { ($0.resolution?.height ?? 0) <= height }
    }

    static func resolution(_ range: ResolutionRange) -> VariantFilter {
        VariantFilter(name: "resolution \(range)") { variant in
            variant.resolution.map { range.contains($0) } ?? (range.low == nil)
        }
    }

    static func frameRate(_ range: PartialRange<MediaTime>) -> VariantFilter {
        VariantFilter(name: "frame-rate \(PlaylistEdit.frameRate(range).value)") { variant in
            variant.frameRate.map { range.contains($0) } ?? (range.low == nil)
        }
    }

    static func videoRange(_ ranges: [VideoRange]) -> VariantFilter {
        let isIncluded: Condition = { $0.hasOnlyAudio || ranges.contains($0.videoRange ?? .sdr) }
        return VariantFilter(
            name: "video-range \(ranges.map(\.rawValue).joined(separator: ","))",
            isIncluded: isIncluded,
            isIFrameIncluded: isIncluded
        )
    }

    static func codecs(_ prefixes: [String]) -> VariantFilter {
        let types = prefixes.reduce(into: Set<CodecList.MediaType?>()) { types, prefix in
            types.formUnion(CodecList.mediaTypes(ofCodecsBeginningWith: prefix))
        }
        let isCodecIncluded: @Sendable (String) -> Bool = { codec in
            !types.contains(CodecList.mediaType(of: codec)) || codec.hasAnyPrefix(of: prefixes)
        }
        return VariantFilter(
            name: "codecs \(prefixes.joined(separator: ","))",
            isIncluded: { !$0.codecs.isEmpty && $0.codecs.allSatisfy(isCodecIncluded) },
            isIFrameIncluded: { $0.codecs.allSatisfy(isCodecIncluded) },
            // Audio alone is not the result of a filter for a video codec that the playlist does not have.
            isMatch: { variant in variant.codecs.contains { $0.hasAnyPrefix(of: prefixes) } }
        )
    }

    static func dropCodecs(_ prefixes: [String]) -> VariantFilter {
        let isIncluded: Condition = { variant in !variant.codecs.contains { $0.hasAnyPrefix(of: prefixes) } }
        return VariantFilter(
            name: "drop-codecs \(prefixes.joined(separator: ","))",
            isIncluded: isIncluded,
            isIFrameIncluded: isIncluded
        )
    }
}

extension Variant {
    /// A Boolean value that indicates whether the variant declares codecs, all of them for audio, and no resolution.
    var hasOnlyAudio: Bool {
        resolution == nil && !codecs.isEmpty && codecs.allSatisfy { CodecList.mediaType(of: $0) == .audio }
    }
}

extension String {
    fileprivate func hasAnyPrefix(of prefixes: [String]) -> Bool { prefixes.contains { hasPrefix($0) } }
}
