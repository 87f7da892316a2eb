import HLSPlaylist
import MediaTiming

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
        var families: [[String]: [Presentation.Variant]] = [:]
        var order: [[String]] = []
        for variant in fitting {
            let family = family(of: variant)
            if families[family] == nil { order.append(family) }
            families[family, default: []].append(variant)
        }
        // The one with the most steps; of those with as many, the one that the playlist names first.
        let best = order.max { first, second in
            (families[first]?.count ?? 0, -(order.firstIndex(of: first) ?? 0))
                < (families[second]?.count ?? 0, -(order.firstIndex(of: second) ?? 0))
        }
        let chosen = best.flatMap { families[$0] } ?? []
        // Sound alone goes with any pictures: it is what is left when the network carries no more.
        let withSound = chosen.first?.isAudioOnly == true ? [] : fitting.filter(\.isAudioOnly)
        return distinct(chosen + withSound)
    }

    /// What a decoder has to be made anew for, and a viewer would see.
    private static func family(of variant: Presentation.Variant) -> [String] {
        if variant.isAudioOnly { return ["audio"] }
        let codec = variant.codecs.video.first.map { String($0.prefix { $0 != "." }).lowercased() } ?? ""
        let name = ["avc3": "avc1", "hev1": "hvc1", "dvhe": "dvh1"][codec] ?? codec
        return [name, variant.videoRange?.rawValue ?? "SDR"]
    }

    /// Of variants with the same pictures, and other sound, the one with the least: sound is a matter of the selection.
    private static func distinct(_ variants: [Presentation.Variant]) -> [Presentation.Variant] {
        var chosen: [Presentation.Variant] = []
        for variant in variants {
            guard let index = chosen.firstIndex(where: { $0.address == variant.address }) else {
                chosen.append(variant)
                continue
            }
            let rates = (variant.peakBitRate?.bitsPerSecond ?? 0, chosen[index].peakBitRate?.bitsPerSecond ?? 0)
            if rates.0 < rates.1 { chosen[index] = variant }
        }
        return chosen
    }
}
