public import HLSPlaylist
import MediaTiming
public import ResourceAddressing

/// The matching between the media playlists of two presentations that are stitched.
///
/// A variant is matched with the greatest video height that is not greater than its own, then with the highest bit rate
/// that is not higher than its own, so low variants stay low. If all are greater, the lowest is chosen. Renditions are
/// matched by language, then by default.
///
/// The entries of the other presentation are read and sorted once, when the matching is created; a match is then found
/// by binary search.
public struct StitchMatching: Sendable {
    private let variants: VariantLadder
    private let iFrameVariants: VariantLadder
    private let renditions: [Rendition.MediaType?: RenditionChoice]

    /// The media playlist of the variant with the lowest bit rate, whose duration counts as that of the presentation.
    public let lowestBitRateVariant: ResourceAddress?

    /// Creates a matching for the presentation that is stitched in.
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
        lowestBitRateVariant = variants.lowestBitRateVariant
    }

    /// Returns the media playlist that matches a variant, or `nil` if the other presentation has none.
    ///
    /// - Complexity: O(log *n*) in the variants of the other presentation.
    public func address(for variant: Variant) -> ResourceAddress? { match(for: variant)?.address }

    /// Returns the variant whose media playlist matches that of a variant, or `nil` if the other presentation has none.
    func match(for variant: Variant) -> Variant? {
        (variant.isIFramesOnly ? iFrameVariants : variants).match(
            height: variant.resolution?.height,
            rate: variant.rate
        )
    }

    /// Returns the media playlist that matches a rendition, or `nil` if the other presentation has none.
    ///
    /// If the other presentation has no audio renditions, audio is matched with ``lowestBitRateVariant``, which contains the
    /// audio.
    public func address(for rendition: Rendition) -> ResourceAddress? {
        guard let choice = renditions[rendition.type] else {
            return rendition.type == .audio ? lowestBitRateVariant : nil
        }
        return choice.match(language: rendition.language, mustMatchLanguage: rendition.type == .subtitles)
    }
}

/// The variants of one kind, ordered by video height and bit rate.
private struct VariantLadder {
    /// The variants with a resolution, ordered by height, then by bit rate.
    private let byHeight: [(height: Int, rate: Int64, variant: Variant)]
    /// All variants, ordered by bit rate.
    private let byRate: [(rate: Int64, variant: Variant)]
    let lowestBitRateVariant: ResourceAddress?

    init(_ variants: [Variant]) {
        // The sort is stable: the first of equal variants is ``lowestBitRateVariant``, and the last of them is the match.
        byRate = variants.map { ($0.rate, $0) }.sorted { $0.rate < $1.rate }
        byHeight = variants.compactMap { variant in
            variant.resolution.map { ($0.height, variant.rate, variant) }
        }.sorted { ($0.height, $0.rate) < ($1.height, $1.rate) }
        lowestBitRateVariant = byRate.first?.variant.address
    }

    func match(height: Int?, rate: Int64) -> Variant? {
        guard let height, !byHeight.isEmpty else {
            let count = Self.prefixCount(of: byRate) { $0.rate <= rate }
            return (byRate.prefix(count).last ?? byRate.first)?.variant
        }
        let fitting = Self.prefixCount(of: byHeight) { $0.height <= height }
        guard fitting > 0 else { return byHeight[0].variant }
        let tallest = byHeight[fitting - 1].height
        let first = Self.prefixCount(of: byHeight) { $0.height < tallest }
        let count = Self.prefixCount(of: byHeight) { $0.height < tallest || $0.height == tallest && $0.rate <= rate }
        return byHeight[max(first, count - 1)].variant
    }

    /// Returns the number of entries at the front that satisfy a condition, which no later entry may satisfy.
    private static func prefixCount<Entry>(of entries: [Entry], while predicate: (Entry) -> Bool) -> Int {
        entries.partitioningIndex { !predicate($0) }
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
        let language = rendition.language.map { LanguageMatching.canonical($0) }
        let choice = Choice(language: language, address: address)
        if let language, byLanguage[language] == nil { byLanguage[language] = address }
        if preferred == nil, rendition.isDefault { preferred = choice }
        if first == nil { first = choice }
    }

    func match(language: String?, mustMatchLanguage: Bool) -> ResourceAddress? {
        let language = language.map { LanguageMatching.canonical($0) }
        if let language, let address = byLanguage[language] { return address }
        guard let choice = preferred ?? first, !mustMatchLanguage || choice.language == language else { return nil }
        return choice.address
    }
}

extension Variant {
    /// The bit rate in bits per second, or 0 if it is missing.
    fileprivate var rate: Int64 { bandwidth?.bitsPerSecond ?? 0 }
}
