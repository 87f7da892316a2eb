import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The selection of the variants between which a decoder can switch without visible interruption.
enum VariantFamily {
    /// Returns the variants for a selection, with each playlist once and only one combination of codec and video range.
    ///
    /// - Parameters:
    ///   - presentation: The presentation.
    ///   - selection: The selected options.
    ///   - preferences: The preferences for variants.
    ///   - pathwayVariants: The variants on the pathway that content steering chose; `nil` to use the initial pathway.
    /// - Returns: The variants, in the order of the playlist.
    static func variants(
        of presentation: Presentation,
        for selection: MediaSelection,
        _ preferences: VariantPreferences = [],
        on pathwayVariants: Set<Presentation.Variant.ID>? = nil
    ) -> [Presentation.Variant] {
        var fitting = presentation.variants(for: selection)
        // Variants of other pathways are used only if no variant of the pathway can be loaded.
        let isOnPathway: (Presentation.Variant) -> Bool =
            if let pathwayVariants {
                { pathwayVariants.contains($0.id) }
            } else if let pathwayID = presentation.initialPathwayID {
                { !$0.locations(on: pathwayID).isEmpty }
            } else {
                { _ in true }
            }
        if fitting.contains(where: isOnPathway) { fitting = fitting.filter(isOnPathway) }
        let lossy = fitting.filter { !$0.codecs.hasLosslessAudio }
        if !preferences.contains(.scalabilityToLosslessAudio), !lossy.isEmpty { fitting = lossy }
        // Audio-only variants do not count, however many there are.
        let videoVariants = fitting.filter { !$0.isAudioOnly }
        var families: [[String]: [Presentation.Variant]] = [:]
        var order: [[String]] = []
        // Variants without declared codecs are used together with the others, because only the media reveals the codec.
        let named = videoVariants.filter { !$0.codecs.isEmpty }
        for variant in named.isEmpty ? videoVariants : named {
            let family = family(of: variant)
            if families[family] == nil { order.append(family) }
            families[family, default: []].append(variant)
        }
        // The family with the most variants; among equals, the one that occurs first in the playlist.
        let best = order.enumerated().max { first, second in
            (families[first.element, default: []].count, first.offset.negatedSaturated()) < (
                families[second.element, default: []].count, second.offset.negatedSaturated()
            )
        }?.element
        let chosen = Set(best.flatMap { families[$0] } ?? [])
        let isCompatible = { (variant: Presentation.Variant) in
            variant.codecs.isEmpty && variant.videoRange == chosen.first?.videoRange
        }
        // Audio-only variants fit any video, as the last resort for low throughput.
        return distinct(
            videoVariants.filter { chosen.contains($0) || isCompatible($0) } + fitting.filter(\.isAudioOnly)
        )
    }

    /// Returns the video codec and the video range; a change of either requires another decoder or is visible.
    private static func family(of variant: Presentation.Variant) -> [String] {
        let codec = variant.codecs.video.first.map { String($0.prefix { $0 != "." }).lowercased() } ?? ""
        let name = ["avc3": "avc1", "hev1": "hvc1", "dvhe": "dvh1"][codec] ?? codec
        return [name, variant.videoRange?.rawValue ?? "SDR"]
    }

    /// Returns one variant for each playlist: of variants that differ only in audio, the one with the lowest bit rate.
    private static func distinct(_ variants: [Presentation.Variant]) -> [Presentation.Variant] {
        var chosen: [Presentation.Variant] = []
        var positions: [ResourceAddress: Int] = [:]
        for variant in variants {
            guard let index = positions[variant.address] else {
                positions[variant.address] = chosen.count
                chosen.append(variant)
                continue
            }
            let rates = (variant.peakBitRate?.bitsPerSecond ?? 0, chosen[index].peakBitRate?.bitsPerSecond ?? 0)
            if rates.0 < rates.1 { chosen[index] = variant }
        }
        return chosen
    }
}
