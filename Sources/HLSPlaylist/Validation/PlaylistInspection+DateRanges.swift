import MediaTiming
import ResourceAddressing

/// A date range, merged from the tags with its ID.
private struct InspectedDateRange {
    let id: String
    /// The line of the first tag.
    let line: InspectedLine
    var attributes: [String: (attribute: InspectedAttribute, line: InspectedLine)] = [:]

    func has(_ name: String) -> Bool { attributes[name] != nil }
    func line(of name: String) -> InspectedLine { attributes[name]?.line ?? line }

    subscript(name: String) -> String? {
        attributes[name].flatMap { $0.attribute.isUnusable ? nil : $0.attribute.value }
    }

    var start: MediaTime? { self["START-DATE"].flatMap { InspectedDate($0)?.sinceEpoch } }
    var end: MediaTime? { self["END-DATE"].flatMap { InspectedDate($0)?.sinceEpoch } }
    var duration: MediaTime? { self["DURATION"].flatMap { Grammar.isDecimal($0) ? MediaTime(decimal: $0) : nil } }
    var hasEnd: Bool { has("DURATION") || has("END-DATE") }
}

/// The rules for date ranges and the classes with a defined meaning (RFC 8216bis §4.4.5.1, Appendices D and F).
extension PlaylistInspection {
    func inspectDateRanges() {
        let lines = all(.dateRange)
        if let first = lines.first, !has(.programDateTime), !has(.skip) {
            note(.dateRangeWithoutProgramDate, first)
        }
        let ranges = mergedDateRanges(lines)
        let classes = Dictionary(ranges.map { ($0.id, $0["CLASS"]) }) { first, _ in first }
        for range in ranges {
            inspectEnds(range)
            if range["CLASS"] == Interstitial.classIdentifier { inspectInterstitial(range) }
            if range["CLASS"] == DateRangePreload.classIdentifier { inspectPreload(range, classes) }
        }
        inspectOverlaps(ranges)
    }

    private func mergedDateRanges(_ lines: [InspectedLine]) -> [InspectedDateRange] {
        let isUpdate = has(.skip)
        var ranges: [InspectedDateRange] = []
        var positions: [String: Int] = [:]
        for line in lines where !line.isMalformed {
            let attributes = inspectedAttributes(ofDateRange: line)
            if attributes["END-ON-NEXT"] == "YES", attributes.has("DURATION") || attributes.has("END-DATE") {
                note(.endOnNextWithEnd, line)
            }
            guard let id = attributes["ID"] else { continue }
            let position = positions[id] ?? ranges.count
            if position == ranges.count {
                positions[id] = position
                ranges.append(InspectedDateRange(id: id, line: line))
                if !attributes.has("START-DATE"), !isUpdate { note(.dateRangeWithoutStart, line) }
            }
            for attribute in attributes.all {
                if let known = ranges[position].attributes[attribute.name]?.attribute {
                    if !known.isUnusable, !attribute.isUnusable, known.value != attribute.value {
                        note(.dateRangeAttributeDiffers, line, "(\(attribute.name))")
                    }
                } else {
                    ranges[position].attributes[attribute.name] = (attribute, line)
                }
            }
        }
        return ranges
    }

    private func inspectedAttributes(ofDateRange line: InspectedLine) -> InspectedAttributes {
        let attributes = attributes(line)
        for name in ["START-DATE", "END-DATE"] {
            guard let date = attributes[name] else { continue }
            inspectDate(
                Array(date.utf8).span,
                line,
                bad: .badDateRangeDate,
                zone: .dateRangeWithoutZone,
                milliseconds: .dateRangeWithoutMilliseconds
            )
        }
        if Set(attributes.list("CUE")).isSuperset(of: ["PRE", "POST"]) { note(.cuePreAndPost, line) }
        for attribute in attributes.all where !attribute.isQuoted && !attribute.isUnusable {
            if attribute.name.hasPrefix("X-"), !Grammar.isHexadecimal(attribute.value),
                !Grammar.isSignedDecimal(attribute.value)
            {
                note(.badExtensionAttribute, line, "(\(attribute.name))")
            }
            if attribute.name.hasPrefix("SCTE35-"), !Self.isSpliceSection(attribute.value) {
                note(.scte35NotASection, line)
            }
        }
        return attributes.markingInvalidExtensions()
    }

    /// Returns a Boolean value that indicates whether a text is a splice information section (SCTE 35 §9.6).
    ///
    /// A section has the table identifier 0xFC and at least eleven octets.
    private static func isSpliceSection(_ text: String) -> Bool {
        guard let octets = HexadecimalSequence.octets(text), text.utf8.count.isMultiple(of: 2) else { return false }
        return octets.count >= 11 && octets[0] == 0xFC
    }

    private func inspectEnds(_ range: InspectedDateRange) {
        if range["END-ON-NEXT"] == "YES", !range.has("CLASS") {
            note(.endOnNextWithoutClass, range.line(of: "END-ON-NEXT"))
        }
        if let start = range.start, let end = range.end {
            if end < start {
                note(.dateRangeEndsBeforeStart, range.line(of: "END-DATE"))
            } else if let duration = range.duration {
                let difference = start + duration - end
                let distance = difference < .zero ? .zero - difference : difference
                if distance > MediaTime(value: 1, timescale: 1000) {
                    note(.dateRangeEndDiffers, range.line(of: "END-DATE"))
                }
            }
        }
        if range.has("SCTE35-OUT"), range.has("SCTE35-IN"), !range.hasEnd,
            range.line(of: "SCTE35-OUT").number != range.line(of: "SCTE35-IN").number
        {
            note(.spliceWithoutEnd, range.line(of: "SCTE35-IN"))
        }
    }

    /// Checks that date ranges do not overlap if a range of their class ends at the start of the next one.
    private func inspectOverlaps(_ ranges: [InspectedDateRange]) {
        let classes = Set(ranges.compactMap { $0["END-ON-NEXT"] == "YES" ? $0["CLASS"] : nil })
        guard !classes.isEmpty else { return }
        var groups: [String: [(start: MediaTime, end: MediaTime?, line: InspectedLine)]] = [:]
        for range in ranges {
            guard let name = range["CLASS"], classes.contains(name), let start = range.start else { continue }
            let end = range.end ?? range.duration.map { start + $0 }
            groups[name, default: []].append((start, end, range.line))
        }
        for group in groups.values {
            var latest: (start: MediaTime, end: MediaTime)?
            for range in group.sorted(by: { $0.start < $1.start }) {
                if let latest, range.start < latest.end,
                    range.end.map({ $0 > range.start }) ?? true || range.start > latest.start
                {
                    note(.dateRangesOverlap, range.line)
                }
                if let end = range.end, latest.map({ end > $0.end }) ?? true { latest = (range.start, end) }
            }
        }
    }

    // MARK: Interstitials and preloads

    /// Checks the attributes that the class of a date range defines.
    private func inspectClassAttributes(_ range: InspectedDateRange, of identifier: String) {
        for definition in TagName.dateRange.definition.classAttributes[identifier] ?? [] {
            guard let (attribute, line) = range.attributes[definition.name] else { continue }
            inspectExtension(attribute, definition, line)
            // The words of strings that are not enumerated strings (Appendix D).
            guard definition.kind == .string, let known = definition.words, let value = range[definition.name] else {
                continue
            }
            if !known.words.contains(value), !value.isEmpty { note(known.rule, line) }
        }
    }

    private func inspectInterstitial(_ range: InspectedDateRange) {
        let hasAsset = range.has("X-ASSET-URI")
        let hasList = range.has("X-ASSET-LIST")
        if hasAsset, hasList { note(.interstitialWithTwoAssets, range.line) }
        if !hasAsset, !hasList { note(.interstitialWithoutAsset, range.line) }
        inspectClassAttributes(range, of: Interstitial.classIdentifier)
        if let uri = range["X-ASSET-URI"], !uri.isEmpty, !Grammar.isAbsolute(uri) {
            note(.relativeAssetURI, range.line(of: "X-ASSET-URI"))
        }
        if let label = range["X-SKIP-CONTROL-LABEL-ID"], !label.isEmpty,
            !label.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x5F })
        {
            note(.badSkipLabel, range.line(of: "X-SKIP-CONTROL-LABEL-ID"))
        }
        for name in ["X-ASSET-URI", "X-ASSET-LIST"] {
            if let address = range[name], !address.isEmpty { inspectQuery(address, range, range.line(of: name)) }
        }
    }

    private func inspectQuery(_ address: String, _ range: InspectedDateRange, _ line: InspectedLine) {
        guard !address.hasPrefix("data:") else { return }
        let address = ResourceAddress(address)
        if PlaylistVariables.queryParameter("_HLS_interstitial_id", of: address) != range.id {
            note(.interstitialWithoutQueryID, line)
        }
        let names = (address.query ?? "").split(separator: "&").compactMap { $0.split(separator: "=").first }
        let known = ["_HLS_interstitial_id", "_HLS_primary_id", "_HLS_start_offset"]
        if names.contains(where: { $0.hasPrefix("_HLS_") && !known.contains(String($0)) }) {
            note(.reservedQueryParameter, line)
        }
    }

    private func inspectPreload(_ range: InspectedDateRange, _ classes: [String: String?]) {
        let needed: KeyValuePairs<String, Rule> = [
            "X-URI": .preloadWithoutURI, "X-TARGET-ID": .preloadWithoutTargetID,
            "X-TARGET-CLASS": .preloadWithoutTargetClass,
        ]
        for (name, rule) in needed where !range.has(name) { note(rule, range.line) }
        inspectClassAttributes(range, of: DateRangePreload.classIdentifier)
        if !range.hasEnd { note(.preloadWithoutEnd, range.line) }
        if range.has("CUE") || range.has("END-ON-NEXT") { note(.preloadWithTrigger, range.line) }
        if let id = range["X-TARGET-ID"], let target = classes[id] ?? nil, let wanted = range["X-TARGET-CLASS"],
            target != wanted
        {
            note(.preloadTargetClassDiffers, range.line)
        }
    }
}
