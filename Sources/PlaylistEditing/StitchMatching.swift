public import HLSPlaylist
import MediaTiming
public import ResourceAddressing

/// Which media playlist of one presentation goes with which of another, when the two are stitched.
///
/// Variants are matched by the height of the picture and then by bit rate: the largest that the other's variant is not
/// smaller than, so that a ladder's low rungs stay low. Renditions are matched by language, then by default.
public struct StitchMatching: Sendable {
    private let other: MultivariantPlaylist

    /// Makes the matching for the presentation that is stitched in.
    public init(_ other: MultivariantPlaylist) {
        self.other = other
    }

    /// The playlist that goes with a variant; `nil` where the other presentation has none.
    public func address(for variant: Variant) -> ResourceAddress? {
        let candidates = variant.isIFrames ? other.iFrameVariants : other.variants
        if let height = variant.resolution?.height, candidates.contains(where: { $0.resolution != nil }) {
            let ordered = candidates.filter { $0.resolution != nil }.sorted { first, second in
                let heights = (first.resolution?.height ?? 0, second.resolution?.height ?? 0)
                return heights.0 != heights.1 ? heights.0 < heights.1 : first.rate < second.rate
            }
            let fitting = ordered.filter { ($0.resolution?.height ?? 0) <= height }
            let tallest = fitting.last?.resolution?.height
            let sameHeight = fitting.filter { $0.resolution?.height == tallest }
            return (sameHeight.last { $0.rate <= variant.rate } ?? sameHeight.first ?? ordered.first)?.address
        }
        let ordered = candidates.sorted { $0.rate < $1.rate }
        return (ordered.last { $0.rate <= variant.rate } ?? ordered.first)?.address
    }

    /// The playlist that goes with a rendition; `nil` where the other presentation has nothing like it.
    ///
    /// For sound that the other presentation carries in its variants this is its leanest variant: a player takes the
    /// sound of it.
    public func address(for rendition: Rendition) -> ResourceAddress? {
        let candidates = other.renditions.filter { $0.type == rendition.type && $0.address != nil }
        let match =
            candidates.first { rendition.language != nil && $0.language == rendition.language }
            ?? candidates.first(where: \.isDefault) ?? candidates.first
        if let match {
            return rendition.type == .subtitles && match.language != rendition.language ? nil : match.address
        }
        return rendition.type == .audio ? leanestVariant : nil
    }

    /// The variant with the lowest bit rate: whatever is stitched lasts as long as it does.
    public var leanestVariant: ResourceAddress? {
        other.variants.min { $0.rate < $1.rate }?.address
    }
}

extension Variant {
    /// Bits a second, 0 where the playlist does not say.
    fileprivate var rate: Int64 { bandwidth?.bitsPerSecond ?? 0 }
}
