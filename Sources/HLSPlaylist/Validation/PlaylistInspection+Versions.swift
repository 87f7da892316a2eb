import MediaTiming

/// The rules for tags of both kinds of playlist, and those for protocol versions (RFC 8216bis §4.4, §8).
extension PlaylistInspection {
    /// The declared version, or `nil` if it is missing or invalid.
    var version: Int64? { integer(.version) }

    func inspectCommon() {
        inspectRepetitions()
        let version = version ?? 1
        for line in lines {
            switch line.tag {
            case .media, .sessionData: inspectLanguages(line)
            case .key, .sessionKey: inspectKey(line)
            case .variant, .iFrameVariant:
                if version >= 6, attributes(line).has("PROGRAM-ID") { note(.removedProgramID, line) }
            case .part, .map: inspectByteRange(line)
            default: break
            }
        }
        if version >= 7 {
            for tag in unknownTags where tag.name == "EXT-X-ALLOW-CACHE" { note(.removedAllowCache, line: tag.line) }
        }
        inspectVersions()
    }

    private func inspectRepetitions() {
        var seen: [TagName: Int] = [:]
        for line in lines {
            guard let tag = line.tag, let rule = Self.rule(forRepeated: tag) else { continue }
            if let first = seen[tag] {
                note(rule, line, "(\(tag.rawValue), first in line \(first))")
            } else {
                seen[tag] = line.number
            }
        }
    }

    private static func rule(forRepeated tag: TagName) -> Rule? {
        switch tag {
        case .version: .repeatedVersion
        case .independentSegments: .repeatedIndependentSegments
        case .start: .repeatedStart
        case .skip: .repeatedSkip
        case .contentSteering: .repeatedContentSteering
        case let tag where tag.scope == .mediaPlaylist: .repeatedTag
        default: nil
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
        if !Grammar.isByteRange(range) {
            note(.badByteRange, line)
        } else if line.tag == .map, !range.contains("@") {
            note(.mapByteRangeWithoutOffset, line)
        }
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
        var reportedRules: Set<Rule> = []
        for need in needs where version < need.version && reportedRules.insert(need.rule).inserted {
            note(need.rule, line: need.line)
        }
        // Renditions require version 4 but are compatible with older clients, so any version is accepted with them.
        let usesRenditions =
            kind == .multivariant
            && lines.contains { line in
                guard line.tag != .media else { return true }
                guard line.tag == .variant || line.tag == .iFrameVariant else { return false }
                let attributes = attributes(line)
                return ["AUDIO", "VIDEO", "SUBTITLES"].contains(where: attributes.has)
            }
        let enough = max(needs.map(\.version).max() ?? 1, versionOfDurations, versionOfServerControl)
        if !usesRenditions, version > enough {
            note(.versionTooHigh, tag, "(it is \(version), \(enough) is enough)")
        }
    }

    /// Returns the features of the playlist that require a protocol version, with the version and the rule (§8).
    func versionNeeds() -> [(version: Int64, line: Int, rule: Rule)] {
        let isIFramesOnly = has(.iFramesOnly)
        var needs: [(version: Int64, line: Int, rule: Rule)] = []
        for line in lines {
            func need(_ version: Int64, _ rule: Rule) { needs.append((version, line.number, rule)) }
            switch line.tag {
            case .key:
                let attributes = attributes(line)
                if attributes.has("IV") { need(2, .versionForIV) }
                if attributes["METHOD"] == "SAMPLE-AES" { need(5, .versionForSampleAES) }
                if attributes.has("KEYFORMAT") || attributes.has("KEYFORMATVERSIONS") {
                    need(5, .versionForKeyFormat)
                }
            case .segmentInformation:
                if let digits = bytes[line.value].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                    .first,
                    digits.contains(UInt8(ascii: "."))
                {
                    need(3, .versionForDecimalDuration)
                }
            case .byteRange: need(4, .versionForByteRange)
            case .iFramesOnly: need(4, .versionForIFramesOnly)
            case .map: isIFramesOnly ? need(5, .versionForIFrameMap) : need(6, .versionForMap)
            case .media: versionNeed(ofRendition: line).map { need($0.0, $0.1) }
            case .define:
                attributes(line).has("QUERYPARAM")
                    ? need(11, .versionForQueryParameter) : need(8, .versionForVariables)
            case .skip:
                attributes(line).has("RECENTLY-REMOVED-DATERANGES")
                    ? need(10, .versionForSkippedDateRanges) : need(9, .versionForSkip)
            case .variant, .iFrameVariant:
                if attributes(line).all.contains(where: { $0.name.hasPrefix("REQ-") }) {
                    need(12, .versionForRequiredAttribute)
                }
            default: break
            }
        }
        return needs
    }

    private func versionNeed(ofRendition line: InspectedLine) -> (Int64, Rule)? {
        let attributes = attributes(line)
        guard attributes.has("INSTREAM-ID"), let type = attributes["TYPE"] else { return nil }
        if type != "CLOSED-CAPTIONS" { return (13, .versionForInStreamRendition) }
        return attributes["INSTREAM-ID"]?.hasPrefix("SERVICE") == true ? (7, .versionForServiceCaptions) : nil
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
