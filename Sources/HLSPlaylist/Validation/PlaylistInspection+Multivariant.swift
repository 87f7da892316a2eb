/// The rules for multivariant playlists as a whole (RFC 8216bis §4.4.6).
extension PlaylistInspection {
    func inspectMultivariant() {
        let presentation = presentation(noting: true)
        let groups = InspectedGroups(presentation.renditions)
        for rendition in presentation.renditions { inspectRendition(rendition) }
        inspectGroups(groups)
        for variant in presentation.allVariants { inspectVariant(variant, groups) }
        inspectVariantsTogether(presentation, groups)
        inspectStableIDs(presentation.renditions, "STABLE-RENDITION-ID", .stableRenditionIDDiffers)
        inspectStableIDs(presentation.variants, "STABLE-VARIANT-ID", .stableVariantIDDiffers)
        inspectSessionData()
        inspectSessionKeys()
        inspectContentSteering(presentation.variants)
    }

    /// Checks that all entries for the same media playlist have the same stable identifier, or none.
    private func inspectStableIDs(_ entries: [InspectedEntry], _ name: String, _ rule: Rule) {
        var identifiers: [String: String?] = [:]
        for entry in entries {
            guard let uri = entry.uri else { continue }
            guard let known = identifiers[uri] else {
                identifiers[uri] = .some(entry[name])
                continue
            }
            if known != entry[name], !entry.attributes.isUnusable(name) { note(rule, entry) }
        }
    }

    // MARK: Session

    private func inspectSessionData() {
        struct Key: Hashable {
            let id: String
            let language: String?
        }
        var seen: Set<Key> = []
        for line in all(.sessionData) where !line.isMalformed {
            let data = attributes(line)
            inspectSessionValue(data, line)
            guard let id = data["DATA-ID"] else { continue }
            if !id.utf8.contains(UInt8(ascii: ".")) { note(.dataIDWithoutDomain, line, "(\(id))") }
            if !seen.insert(Key(id: id, language: data["LANGUAGE"])).inserted {
                note(.repeatedSessionData, line, "(\(id))")
            }
        }
    }

    private func inspectSessionValue(_ data: InspectedAttributes, _ line: InspectedLine) {
        let reserved = ["_hls.localized-rendition-names", "_hls.media-presentation-settings"]
        switch (data.has("VALUE"), data.has("URI")) {
        case (true, true): note(.sessionDataWithTwoValues, line)
        case (false, false): note(.sessionDataWithoutValue, line)
        case (true, false):
            if let id = data["DATA-ID"], reserved.contains(id) { note(.reservedDataWithoutURI, line, "(\(id))") }
        case (false, true): break
        }
    }

    private func inspectSessionKeys() {
        var seen: Set<[String?]> = []
        for line in all(.sessionKey) {
            let key = attributes(line)
            let identity = [
                key["METHOD"], key["URI"], key["IV"], key["KEYFORMAT"] ?? "identity", key["KEYFORMATVERSIONS"] ?? "1",
            ]
            if !seen.insert(identity).inserted { note(.repeatedSessionKey, line) }
        }
    }

    private func inspectContentSteering(_ variants: [InspectedEntry]) {
        // Variants without `PATHWAY-ID` belong to the pathway ".".
        let pathways = Set(variants.map { $0.has("PATHWAY-ID") ? $0["PATHWAY-ID"] : "." })
        for line in all(.contentSteering) {
            guard let id = attributes(line)["PATHWAY-ID"] else { continue }
            if !Grammar.isPathwayID(id) {
                note(.badPathwayID, line, "(\(id))")
            } else if !variants.isEmpty, !pathways.contains(id) {
                note(.unknownPathway, line, "(\(id))")
            }
        }
    }
}
