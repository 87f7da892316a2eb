import MediaTiming

/// The rules for tags of both kinds of playlist, and those for protocol versions (RFC 8216bis §4.4, §8).
extension PlaylistInspection {
    /// The declared version, or `nil` if it is missing or invalid.
    var version: Int64? { integer(.version) }

    func inspectCommon() {
        inspectRepetitions()
        let version = version ?? 1
        for line in lines {
            guard let tag = line.tag else { continue }
            if tag == .media || tag == .sessionData { inspectLanguages(line) }
            if tag == .key || tag == .sessionKey { inspectKey(line) }
            if tag == .part || tag == .map { inspectByteRange(line) }
            if tag == .variant || tag == .iFrameVariant, version >= 6, attributes(line).has("PROGRAM-ID") {
                note(.removedProgramID, line)
            }
        }
        if version >= 7 {
            for tag in unknownTags where tag.name == "EXT-X-ALLOW-CACHE" { note(.removedAllowCache, line: tag.line) }
        }
        inspectVersions()
    }

    private func inspectRepetitions() {
        let rules = TagName.allCases.map(\.definition.repetition)
        for line in lines {
            guard let tag = line.tag, let rule = rules[Int(tag.rawValue)], let first = first(tag),
                first.number != line.number
            else { continue }
            note(rule, line, "(\(tag.name), first in line \(first.number))")
        }
    }

    private func inspectLanguages(_ line: InspectedLine) {
        let attributes = attributes(line)
        for name in ["LANGUAGE", "ASSOC-LANGUAGE"] {
            if let language = attributes[name], !language.isEmpty, !Grammar.isLanguageTag(language) {
                note(.badLanguage, line, "(\(language))")
            }
        }
    }

    private func inspectByteRange(_ line: InspectedLine) {
        guard let range = attributes(line)["BYTERANGE"], !range.isEmpty else { return }
        guard Grammar.isByteRange(range) else { return note(.badByteRange, line) }
        let bytes = Array(range.utf8)
        if WrittenByteRange.exceedsLimit(bytes, in: 0..<bytes.count) { note(.integerAboveLimit, line, "(BYTERANGE)") }
        if line.tag == .map, !range.contains("@") { note(.mapByteRangeWithoutOffset, line) }
    }

    private func inspectKey(_ line: InspectedLine) {
        guard !line.isMalformed else { return }
        let attributes = attributes(line)
        let method = attributes["METHOD"]
        guard method != "NONE" else {
            if line.tag == .sessionKey {
                note(.sessionKeyMethodNone, line)
            } else if attributes.all.count > 1 {
                note(.noneKeyWithAttributes, line)
            }
            return
        }
        if method != nil, !attributes.has("URI") { note(.keyWithoutURI, line) }
        if attributes.has("IV") {
            if method == "SAMPLE-AES-CTR" { note(.ctrKeyWithIV, line) }
            if method == "AES-256-GCM" { note(.gcmKeyWithIV, line) }
        }
        if let vector = attributes["IV"], vector.utf8.count > 34 { note(.ivTooLong, line) }
        if let versions = attributes["KEYFORMATVERSIONS"], !versions.isEmpty {
            let parts = versions.split(separator: "/", omittingEmptySubsequences: false)
            let areNumbers = parts.allSatisfy { Grammar.isDigits($0) && $0.contains { $0 != "0" } }
            if !areNumbers { note(.badKeyFormatVersions, line) }
        }
    }

    // MARK: Versions

    private func inspectVersions() {
        let needs = versionNeeds()
        guard let tag = first(.version) else {
            if let line = needs.map(\.line).min() { note(.missingVersion, line: line) }
            return
        }
        guard let version else { return }
        for need in needs where version < need.version { note(need.rule, line: need.line) }
        // Renditions require version 4 but are compatible with older clients, so any version is accepted with them.
        let usesRenditions =
            kind == .multivariant
            && lines.contains { line in
                guard line.tag != .media else { return true }
                guard line.tag == .variant || line.tag == .iFrameVariant else { return false }
                let attributes = attributes(line)
                return ["AUDIO", "VIDEO", "SUBTITLES"].contains(where: attributes.has)
            }
        var enough = max(needs.map(\.version).max() ?? 1, versionOfServerControl)
        // Durations require version 6 at most, and are read only if that matters.
        if enough < min(version, 6) { enough = max(enough, versionOfDurations) }
        if !usesRenditions, version > enough {
            note(.versionTooHigh, tag, "(it is \(version), \(enough) is enough)")
        }
    }

    /// A feature of the playlist that requires a protocol version.
    struct VersionNeed {
        let version: Int64
        let rule: Rule
        /// The number of the first line with the feature.
        let line: Int
    }

    /// Returns the features of the playlist that require a protocol version, each once (§8).
    func versionNeeds() -> [VersionNeed] {
        let isIFramesOnly = has(.iFramesOnly)
        let definitions = TagName.allCases.map(\.definition)
        let versioned = definitions.map { ($0.attributes ?? []).filter { $0.version != nil } }
        // A tag without such attributes requires the same version in each line.
        var isSettled = [Bool](repeating: false, count: definitions.count)
        var found: Set<Rule> = []
        var needs: [VersionNeed] = []
        for line in lines {
            guard let tag = line.tag, !isSettled[Int(tag.rawValue)] else { continue }
            func need(_ requirement: VersionRequirement?) {
                guard let requirement, found.insert(requirement.rule).inserted else { return }
                needs.append(
                    VersionNeed(version: requirement.version, rule: requirement.rule, line: line.number)
                )
            }
            let definition = definitions[Int(tag.rawValue)]
            let ofAttributes = versioned[Int(tag.rawValue)]
            if ofAttributes.isEmpty {
                need(definition.version)
                isSettled[Int(tag.rawValue)] = definition.version != nil && definition.attributes == nil
            } else {
                let written = attributes(line)
                let needed = ofAttributes.filter { written.has($0.name) }
                for attribute in needed { need(attribute.version) }
                // An attribute that requires a higher version was added to the tag later.
                if needed.isEmpty { need(definition.version) }
            }
            if tag == .segmentInformation, hasDecimalDuration(line) {
                need(VersionRequirement(3, .versionForDecimalDuration))
                isSettled[Int(tag.rawValue)] = true
            } else if tag == .key, attributes(line)["METHOD"] == "SAMPLE-AES" {
                need(VersionRequirement(5, .versionForSampleAES))
            } else if tag == .map {
                need(
                    isIFramesOnly ? VersionRequirement(5, .versionForIFrameMap) : VersionRequirement(6, .versionForMap)
                )
            } else if tag == .media {
                need(versionNeed(ofRendition: line))
            } else if tag == .variant || tag == .iFrameVariant,
                attributes(line).all.contains(where: { $0.name.hasPrefix("REQ-") })
            {
                need(VersionRequirement(12, .versionForRequiredAttribute))
            }
        }
        return needs
    }

    private func hasDecimalDuration(_ line: InspectedLine) -> Bool {
        let bytes = bytes
        let comma = bytes.span.firstIndex(of: UInt8(ascii: ","), in: line.value) ?? line.value.upperBound
        return bytes.span.firstIndex(of: UInt8(ascii: "."), in: line.value.lowerBound..<comma) != nil
    }

    private func versionNeed(ofRendition line: InspectedLine) -> VersionRequirement? {
        let attributes = attributes(line)
        guard attributes.has("INSTREAM-ID"), let type = attributes["TYPE"] else { return nil }
        if type != "CLOSED-CAPTIONS" { return VersionRequirement(13, .versionForInStreamRendition) }
        guard attributes["INSTREAM-ID"]?.hasPrefix("SERVICE") == true else { return nil }
        return VersionRequirement(7, .versionForServiceCaptions)
    }

    /// Before version 6, no segment may exceed the target duration, even by less than half a second.
    private var versionOfDurations: Int64 {
        guard let target = integer(.targetDuration) else { return 1 }
        return all(.segmentInformation).contains { (duration($0) ?? .zero) > MediaTime(seconds: target) } ? 6 : 1
    }

    private var versionOfServerControl: Int64 {
        guard let line = first(.serverControl) else { return 1 }
        let attributes = attributes(line)
        guard attributes.has("CAN-SKIP-UNTIL") else { return 1 }
        return attributes.has("CAN-SKIP-DATERANGES") ? 10 : 9
    }
}
