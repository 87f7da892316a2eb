public import HLSPlaylist
import MediaTiming
public import ResourceAddressing

/// The correspondence between the media playlists of two presentations that are stitched.
///
/// Variants are matched by the height of the picture and then by bit rate: the largest that the other's variant is not
/// smaller than, so that a ladder's low rungs stay low. Renditions are matched by language, then by default.
///
/// The entries of the presentation are read and sorted once, when the matching is created; a match is then found by a
/// binary search.
public struct StitchMatching: Sendable {
    private let variants: VariantLadder
    private let iFrameVariants: VariantLadder
    private let renditions: [Rendition.MediaType?: RenditionChoice]

    /// The variant with the lowest bit rate: whatever is stitched lasts as long as it does.
    public let leanestVariant: ResourceAddress?

    /// Creates the matching for the presentation that is stitched in.
    ///
    /// - Complexity: O(*n* log *n*) in its variants and renditions.
    public init(_ other: MultivariantPlaylist) {
        variants = VariantLadder(other.variants)
        iFrameVariants = VariantLadder(other.iFrameVariants)
        var renditions: [Rendition.MediaType?: RenditionChoice] = [:]
        for rendition in other.renditions {
            guard let address = rendition.address else { continue }
            renditions[rendition.type, default: RenditionChoice()].add(rendition, at: address)
        }
        self.renditions = renditions
        leanestVariant = variants.leanest
    }

    /// The playlist that goes with a variant; `nil` where the other presentation has none.
    ///
    /// - Complexity: O(log *n*) in the variants of the other presentation.
    public func address(for variant: Variant) -> ResourceAddress? {
        (variant.isIFrames ? iFrameVariants : variants).match(height: variant.resolution?.height, rate: variant.rate)
    }

    /// The playlist that goes with a rendition; `nil` where the other presentation has nothing like it.
    ///
    /// For sound that the other presentation carries in its variants this is its leanest variant: a player takes the
    /// sound of it.
    public func address(for rendition: Rendition) -> ResourceAddress? {
        guard let choice = renditions[rendition.type] else { return rendition.type == .audio ? leanestVariant : nil }
        return choice.match(language: rendition.language, mustMatchLanguage: rendition.type == .subtitles)
    }
}

/// The variants of one kind, in the order of their pictures and bit rates.
private struct VariantLadder {
    /// Those with a picture size, by height and bit rate.
    private let byHeight: [(height: Int, rate: Int64, address: ResourceAddress)]
    /// All of them, by bit rate.
    private let byRate: [(rate: Int64, address: ResourceAddress)]
    let leanest: ResourceAddress?

    init(_ variants: [Variant]) {
        // The first of equals is the leanest, as the last of them is the largest that fits: the order is kept.
        byRate = variants.map { ($0.rate, $0.address) }.sorted { $0.rate < $1.rate }
        byHeight = variants.compactMap { variant in
            variant.resolution.map { ($0.height, variant.rate, variant.address) }
        }.sorted { ($0.height, $0.rate) < ($1.height, $1.rate) }
        leanest = byRate.first?.address
    }

    func match(height: Int?, rate: Int64) -> ResourceAddress? {
        guard let height, !byHeight.isEmpty else {
            let count = Self.count(of: byRate) { $0.rate <= rate }
            return (byRate.prefix(count).last ?? byRate.first)?.address
        }
        let fitting = Self.count(of: byHeight) { $0.height <= height }
        guard fitting > 0 else { return byHeight[0].address }
        let tallest = byHeight[fitting - 1].height
        let first = Self.count(of: byHeight) { $0.height < tallest }
        let count = Self.count(of: byHeight) { $0.height < tallest || $0.height == tallest && $0.rate <= rate }
        return byHeight[max(first, count - 1)].address
    }

    /// The number of entries at the front for which a condition is true, in an order in which none follows them.
    private static func count<Entry>(of rungs: [Entry], while isInFront: (Entry) -> Bool) -> Int {
        var (low, high) = (0, rungs.count)
        while low < high {
            let middle = low + (high - low) / 2
            if isInFront(rungs[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The renditions of one type.
private struct RenditionChoice {
    private var byLanguage: [String: ResourceAddress] = [:]
    private var preferred: Choice?
    private var first: Choice?

    private struct Choice {
        let language: String?
        let address: ResourceAddress
    }

    mutating func add(_ rendition: Rendition, at address: ResourceAddress) {
        let language = rendition.language
        let choice = Choice(language: language, address: address)
        if let language, byLanguage[language] == nil { byLanguage[language] = address }
        if preferred == nil, rendition.isDefault { preferred = choice }
        if first == nil { first = choice }
    }

    func match(language: String?, mustMatchLanguage: Bool) -> ResourceAddress? {
        if let language, let address = byLanguage[language] { return address }
        guard let choice = preferred ?? first, !mustMatchLanguage || choice.language == language else { return nil }
        return choice.address
    }
}

extension Variant {
    /// Bits a second, 0 where the playlist does not say.
    fileprivate var rate: Int64 { bandwidth?.bitsPerSecond ?? 0 }
}
