import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// Which variants of a presentation are chosen among: those that a decoder can pass between without anybody noticing.
enum LadderFamily {
    /// The variants for a selection; each playlist once, and one kind of picture.
    static func variants(
        of presentation: Presentation,
        for selection: MediaSelection,
        _ preferences: VariantPreferences = []
    ) -> [Presentation.Variant] {
        var fitting = presentation.variants(for: selection)
        let lossy = fitting.filter { !$0.codecs.hasLosslessAudio }
        if !preferences.contains(.scalabilityToLosslessAudio), !lossy.isEmpty { fitting = lossy }
        // Sound alone is no picture, however many qualities of it there are.
        let pictures = fitting.filter { !$0.isAudioOnly }
        guard !pictures.isEmpty else { return distinct(fitting) }
        var families: [[String]: [Presentation.Variant]] = [:]
        var order: [[String]] = []
        // What names no formats goes with those that do: only the media can tell.
        let named = pictures.filter { !$0.codecs.isEmpty }
        for variant in named.isEmpty ? pictures : named {
            let family = family(of: variant)
            if families[family] == nil { order.append(family) }
            families[family, default: []].append(variant)
        }
        // The one with the most steps; of those with as many, the one that the playlist names first.
        let best = order.enumerated().max { first, second in
            (families[first.element]?.count ?? 0, first.offset.negatedSaturated()) < (
                families[second.element]?.count ?? 0, second.offset.negatedSaturated()
            )
        }?.element
        let chosen = Set(best.flatMap { families[$0] } ?? [])
        let goesAlong = { (variant: Presentation.Variant) in
            variant.codecs.isEmpty && variant.videoRange == chosen.first?.videoRange
        }
        // Sound alone goes with any pictures: it is what is left when the network carries no more.
        return distinct(
            pictures.filter { chosen.contains($0) || goesAlong($0) } + fitting.filter(\.isAudioOnly)
        )
    }

    /// What a decoder has to be made anew for, and a viewer would see.
    private static func family(of variant: Presentation.Variant) -> [String] {
        let codec = variant.codecs.video.first.map { String($0.prefix { $0 != "." }).lowercased() } ?? ""
        let name = ["avc3": "avc1", "hev1": "hvc1", "dvhe": "dvh1"][codec] ?? codec
        return [name, variant.videoRange?.rawValue ?? "SDR"]
    }

    /// Of variants with the same pictures, and other sound, the one with the least: sound is a matter of the selection.
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
