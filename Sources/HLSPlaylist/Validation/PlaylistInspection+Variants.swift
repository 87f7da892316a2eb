import MediaTiming

/// The rules for variants (RFC 8216bis §4.4.6.2, §4.4.6.3).
extension PlaylistInspection {
    func inspectVariant(_ variant: InspectedEntry, _ groups: InspectedGroups) {
        guard !variant.line.isMalformed else { return }
        inspectGroupReferences(of: variant, groups)
        inspectNumbers(of: variant)
        inspectFormats(of: variant)
        inspectIdentifiers(of: variant)
        if let layout = variant["REQ-VIDEO-LAYOUT"] { inspectVideoLayout(layout, variant) }
        if variant.line.tag == .variant {
            if !variant.has("CODECS"), !variant.has("SUPPLEMENTAL-CODECS") { note("missing-codecs", variant) }
        } else if let name = ["FRAME-RATE", "AUDIO", "SUBTITLES", "CLOSED-CAPTIONS"].first(where: variant.has) {
            note("undefined-i-frame-attribute", variant, "(\(name))")
        }
    }

    private func inspectGroupReferences(of variant: InspectedEntry, _ groups: InspectedGroups) {
        func inspect(_ type: String, _ rule: String) {
            guard let attribute = variant.attributes.attribute(type), attribute.isQuoted, !attribute.isUnusable,
                !groups.mayContain(InspectedGroups.Key(type: type, id: attribute.value))
            else { return }
            note(rule, variant, "(\(attribute.value))")
        }
        inspect("VIDEO", "unknown-video-group")
        guard variant.line.tag == .variant else { return }
        inspect("AUDIO", "unknown-audio-group")
        inspect("SUBTITLES", "unknown-subtitles-group")
        inspect("CLOSED-CAPTIONS", "unknown-captions-group")
    }

    private func inspectNumbers(of variant: InspectedEntry) {
        if let peak = variant.bitRate("BANDWIDTH") {
            if peak.bitsPerSecond == 0 {
                note("bandwidth-zero", variant)
            } else if let average = variant.bitRate("AVERAGE-BANDWIDTH"), average > peak {
                note("average-above-peak", variant)
            }
        }
        if let score = variant["SCORE"], score.utf8.allSatisfy({ $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }) {
            note("score-not-positive", variant)
        }
        if let rate = variant["FRAME-RATE"], let point = rate.utf8.firstIndex(of: UInt8(ascii: ".")),
            rate.utf8[point...].count > 4
        {
            note("frame-rate-too-precise", variant, "(\(rate))")
        }
    }

    private func inspectFormats(of variant: InspectedEntry) {
        if let codecs = variant["CODECS"], !Grammar.isCodecs(codecs) { note("bad-codecs", variant, "(\(codecs))") }
        if let codecs = variant["SUPPLEMENTAL-CODECS"] {
            if !Grammar.isSupplementalCodecs(codecs) { note("bad-supplemental-codecs", variant, "(\(codecs))") }
            if !variant.has("CODECS") { note("supplemental-without-codecs", variant) }
        }
        if let protection = variant["ALLOWED-CPC"], !Grammar.isAllowedContentProtection(protection) {
            note("bad-allowed-cpc", variant, "(\(protection))")
        }
    }

    private func inspectIdentifiers(of variant: InspectedEntry) {
        if let id = variant["STABLE-VARIANT-ID"], !Grammar.isStableID(id) {
            note("bad-stable-variant-id", variant, "(\(id))")
        }
        if let id = variant["PATHWAY-ID"], !Grammar.isPathwayID(id) { note("bad-pathway-id", variant, "(\(id))") }
    }

    private func inspectVideoLayout(_ layout: String, _ variant: InspectedEntry) {
        let entries = Grammar.parts(layout, ",").map { Grammar.parts($0, "/") }
        let detail = "(\(layout))"
        guard entries.allSatisfy({ entry in !entry.contains { $0.isEmpty } }) else {
            note("empty-video-layout", variant, detail)
            return
        }
        let known: Set<Substring> = ["CH-STEREO", "CH-MONO", "PROJ-RECT", "PROJ-EQUI", "PROJ-HEQU", "PROJ-PRIM"]
        for entry in entries {
            let kinds = entry.map { Grammar.parts($0, "-")[0] }
            guard Set(kinds).count == kinds.count else {
                note("repeated-layout-specifier", variant, detail)
                return
            }
            guard known.isSuperset(of: entry) else {
                note("unknown-video-layout", variant, detail)
                return
            }
        }
        // These layouts are the defaults without the attribute.
        if entries.joined().allSatisfy({ $0 == "CH-MONO" || $0 == "PROJ-RECT" }) {
            note("needless-video-layout", variant, detail)
        }
    }

    // MARK: Several variants

    func inspectVariantsTogether(_ presentation: InspectedPresentation, _ groups: InspectedGroups) {
        let variants = presentation.variants
        if variants.contains(where: { $0.has("SCORE") }), let bare = variants.first(where: { !$0.has("SCORE") }) {
            note("missing-score", bare)
        }
        func hasNoCaptions(_ variant: InspectedEntry) -> Bool {
            variant.attributes.attribute("CLOSED-CAPTIONS").map { !$0.isQuoted && !$0.isUnusable } ?? false
        }
        if variants.contains(where: hasNoCaptions), let other = variants.first(where: { !hasNoCaptions($0) }) {
            note("captions-none-not-everywhere", other)
        }
        let hasAngles = variants.contains { variant in
            variant["VIDEO"].map { groups.members(InspectedGroups.Key(type: "VIDEO", id: $0)).count > 1 } ?? false
        }
        if hasAngles, let first = presentation.iFrameVariants.first,
            !presentation.iFrameVariants.contains(where: { $0.has("VIDEO") })
        {
            note("missing-i-frame-renditions", first)
        }
    }
}
