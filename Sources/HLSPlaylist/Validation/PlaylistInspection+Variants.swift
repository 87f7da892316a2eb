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
            if !variant.has("CODECS"), !variant.has("SUPPLEMENTAL-CODECS") { note(.missingCodecs, variant) }
        } else if let name = ["FRAME-RATE", "AUDIO", "SUBTITLES", "CLOSED-CAPTIONS"].first(where: variant.has) {
            note(.undefinedIFrameAttribute, variant, "(\(name))")
        }
    }

    private func inspectGroupReferences(of variant: InspectedEntry, _ groups: InspectedGroups) {
        func inspect(_ type: String, _ rule: Rule) {
            guard let attribute = variant.attributes.attribute(type), attribute.isQuoted, !attribute.isUnusable,
                !groups.mayContain(InspectedGroups.Key(type: type, id: attribute.value))
            else { return }
            note(rule, variant, "(\(attribute.value))")
        }
        inspect("VIDEO", .unknownVideoGroup)
        guard variant.line.tag == .variant else { return }
        inspect("AUDIO", .unknownAudioGroup)
        inspect("SUBTITLES", .unknownSubtitlesGroup)
        inspect("CLOSED-CAPTIONS", .unknownCaptionsGroup)
    }

    private func inspectNumbers(of variant: InspectedEntry) {
        if let peak = variant.bitRate("BANDWIDTH") {
            if peak.bitsPerSecond == 0 {
                note(.bandwidthZero, variant)
            } else if let average = variant.bitRate("AVERAGE-BANDWIDTH"), average > peak {
                note(.averageAbovePeak, variant)
            }
        }
        if let score = variant["SCORE"], score.utf8.allSatisfy({ $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }) {
            note(.scoreNotPositive, variant)
        }
        if let rate = variant["FRAME-RATE"], let point = rate.utf8.firstIndex(of: UInt8(ascii: ".")),
            rate.utf8[point...].count > 4
        {
            note(.frameRateTooPrecise, variant, "(\(rate))")
        }
    }

    private func inspectFormats(of variant: InspectedEntry) {
        if let codecs = variant["CODECS"], !Grammar.isCodecs(codecs) { note(.badCodecs, variant, "(\(codecs))") }
        if let codecs = variant["SUPPLEMENTAL-CODECS"] {
            if !Grammar.isSupplementalCodecs(codecs) { note(.badSupplementalCodecs, variant, "(\(codecs))") }
            if !variant.has("CODECS") { note(.supplementalWithoutCodecs, variant) }
        }
        if let protection = variant["ALLOWED-CPC"], !Grammar.isAllowedContentProtection(protection) {
            note(.badAllowedCPC, variant, "(\(protection))")
        }
    }

    private func inspectIdentifiers(of variant: InspectedEntry) {
        if let id = variant["STABLE-VARIANT-ID"], !Grammar.isStableID(id) {
            note(.badStableVariantID, variant, "(\(id))")
        }
        if let id = variant["PATHWAY-ID"], !Grammar.isPathwayID(id) { note(.badPathwayID, variant, "(\(id))") }
    }

    private func inspectVideoLayout(_ layout: String, _ variant: InspectedEntry) {
        let entries = Grammar.parts(layout, ",").map { Grammar.parts($0, "/") }
        let detail = "(\(layout))"
        guard entries.allSatisfy({ entry in !entry.contains { $0.isEmpty } }) else {
            note(.emptyVideoLayout, variant, detail)
            return
        }
        let known: Set<Substring> = ["CH-STEREO", "CH-MONO", "PROJ-RECT", "PROJ-EQUI", "PROJ-HEQU", "PROJ-PRIM"]
        for entry in entries {
            let kinds = entry.map { Grammar.parts($0, "-")[0] }
            guard Set(kinds).count == kinds.count else {
                note(.repeatedLayoutSpecifier, variant, detail)
                return
            }
            guard known.isSuperset(of: entry) else {
                note(.unknownVideoLayout, variant, detail)
                return
            }
        }
        // Without the attribute, these layouts apply by default, so the attribute is superfluous.
        if entries.joined().allSatisfy({ $0 == "CH-MONO" || $0 == "PROJ-RECT" }) {
            note(.needlessVideoLayout, variant, detail)
        }
    }

    // MARK: Several variants

    func inspectVariantsTogether(_ presentation: InspectedPresentation, _ groups: InspectedGroups) {
        let variants = presentation.variants
        if variants.contains(where: { $0.has("SCORE") }), let bare = variants.first(where: { !$0.has("SCORE") }) {
            note(.missingScore, bare)
        }
        func hasNoCaptions(_ variant: InspectedEntry) -> Bool {
            variant.attributes.attribute("CLOSED-CAPTIONS").map { !$0.isQuoted && !$0.isUnusable } ?? false
        }
        if variants.contains(where: hasNoCaptions), let other = variants.first(where: { !hasNoCaptions($0) }) {
            note(.captionsNoneNotEverywhere, other)
        }
        let hasAngles = variants.contains { variant in
            variant["VIDEO"].map { groups.members(InspectedGroups.Key(type: "VIDEO", id: $0)).count > 1 } ?? false
        }
        if hasAngles, let first = presentation.iFrameVariants.first,
            !presentation.iFrameVariants.contains(where: { $0.has("VIDEO") })
        {
            note(.missingIFrameRenditions, first)
        }
    }
}
