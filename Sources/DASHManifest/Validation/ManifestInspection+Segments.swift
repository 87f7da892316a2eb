import MediaTiming

extension ManifestInspection {
    private static let segmentKinds: [ElementKind] = [.segmentBase, .segmentList, .segmentTemplate]

    /// Checks the segment information of one level, whose attributes may come from the levels around it (§5.3.9).
    ///
    /// - Parameter levels: The element with the information, then those around it.
    mutating func inspectSegmentInformation(levels: [ManifestElement]) {
        guard let level = levels.first else { return }
        let elements = Self.segmentKinds.compactMap { level.element($0) }
        if Self.segmentKinds.reduce(0, { $0 +| level.elements($1, maximumCount: 2).count }) > 1 {
            report(.severalSegmentInformation, level)
        }
        for element in elements {
            if element[.indexRangeExact] != nil, element[.indexRange] == nil {
                report(.exactWithoutIndexRange, element)
            }
            if element.integer(.timescale) == 0 { report(.zeroTimescale, element) }
            if element.integer(.duration) == 0 { report(.zeroSegmentDuration, element) }
            inspectCompleteness(element)
            for segment in element.elements(.segmentURL) where segment[.media] == nil && segment[.mediaRange] == nil {
                report(.segmentWithoutAddress, segment)
            }
            guard let timeline = element.element(.segmentTimeline) else { continue }
            inspectTimeline(timeline)
        }
        // Only the innermost information is used, and only for it the timescale is certain.
        guard let element = elements.first, let information = SegmentInformation(levels: levels) else { return }
        inspectDurations(element, information)
        if element[.startNumber] != nil || element[.endNumber] != nil,
            let first = information[.startNumber].flatMap(ManifestNumber.integer),
            let last = information[.endNumber].flatMap(ManifestNumber.integer), last < first
        {
            report(.endNumberBeforeStart, element)
        }
        if information[.duration] != nil, information.element(.segmentTimeline) != nil {
            report(.durationAndTimeline, element)
        }
        guard information.kind == .template else { return }
        for name in [AttributeName.media, .index] {
            guard let text = element[name] else { continue }
            let template = AddressTemplate(text)
            if template.isMalformed || !template.hasStandardFormats { report(.invalidTemplate, element, value: text) }
            if template.contains(.number), template.contains(.time) { report(.numberAndTime, element, value: text) }
            if template.contains(.subNumber), !template.contains(.number), !template.contains(.time) {
                report(.subNumberAlone, element, value: text)
            }
        }
        for name in [AttributeName.initialization, .bitstreamSwitching] {
            guard let text = element[name] else { continue }
            let template = AddressTemplate(text)
            if template.isMalformed || !template.hasStandardFormats { report(.invalidTemplate, element, value: text) }
            if template.distinguishesSegments { report(.segmentIdentifierInInitialization, element, value: text) }
        }
    }

    /// Compares the durations of the segments of one element with the maximum of the manifest.
    private mutating func inspectDurations(_ element: ManifestElement, _ information: SegmentInformation) {
        guard let maximum = presentation.maximumSegmentDuration, maximum > .zero else { return }
        let longest = max(
            element.unsigned(.duration) ?? 0,
            element.element(.segmentTimeline)?.timeline.lazy.map(\.duration).max() ?? 0
        )
        // The declared maximum is often rounded to seconds or milliseconds.
        let tolerance = MediaTime(value: 1, timescale: 2)
        if MediaTime(value: longest, timescale: information.timescale) > maximum + tolerance {
            report(.segmentExceedsMaximum, element)
        }
    }

    /// Checks the entries of a segment timeline (§5.3.9.6).
    private mutating func inspectTimeline(_ element: ManifestElement) {
        let entries = element.timeline
        if entries.isEmpty { report(.emptyTimeline, element) }
        var end: Int64 = 0
        var isOpen = false
        for (index, entry) in entries.enumerated() {
            if entry.repeatCount < -1 { report(.invalidRepeatCount, element, "S element \(index +| 1)") }
            if isOpen, entry.time == nil { report(.openRepeatWithoutTime, element, "S element \(index +| 1)") }
            let start = entry.time ?? end
            if index > 0, start < end { report(.invalidTimeline, element, "S element \(index +| 1)") }
            isOpen = entry.repeatCount < 0
            end = start
            end +|= isOpen ? entry.duration : entry.duration *| (entry.repeatCount +| 1)
        }
    }

    /// Checks the availability attributes of an element (§5.3.9.5.3).
    mutating func inspectCompleteness(_ element: ManifestElement) {
        if element[.availabilityTimeComplete] != nil, element[.availabilityTimeOffset] == nil {
            report(.completeWithoutOffset, element)
        }
    }

    /// Checks the segment information that applies to a representation.
    mutating func inspectSegments(
        of representation: ManifestElement,
        in set: AdaptationSet,
        of period: Period,
        _ templates: inout MediaTemplates
    ) {
        let levels = [representation, set.element, period.element]
        inspectSegmentInformation(levels: levels)
        inspectProfiles(representation, levels)
        guard let information = SegmentInformation(levels: levels) else {
            if levels.allSatisfy({ $0.element(.baseURL) == nil }) { report(.missingSegmentInformation, representation) }
            return
        }
        let element = information.nearest ?? representation
        let hasTimeline = information.element(.segmentTimeline) != nil
        let hasDuration = information[.duration] != nil || hasTimeline
        switch information.kind {
        case .base: break
        case .list:
            if !hasDuration, information.hasSeveralSegments { report(.missingSegmentDuration, element) }
        case .template:
            guard let found = templates.template(of: representation) else {
                if hasDuration { report(.missingMediaTemplate, element) }
                return
            }
            let template = found.template
            if template.contains(.time), !hasTimeline { report(.timeWithoutTimeline, element) }
            if !hasDuration, template.contains(.number) { report(.missingSegmentDuration, element) }
            if !templates.isDistinct(representation, found) { report(.sharedSegmentAddresses, representation) }
        }
    }

    /// Checks the addressing that the only profile of a manifest allows (§8.3, §8.4).
    private mutating func inspectProfiles(_ element: ManifestElement, _ levels: [ManifestElement]) {
        let profiles = presentation.profiles.filter { $0.hasPrefix("urn:mpeg:dash:profile:") }
        guard profiles.count == 1 else { return }
        switch profiles[0] {
        case "urn:mpeg:dash:profile:isoff-on-demand:2011":
            for level in levels {
                for kind in [ElementKind.segmentList, .segmentTemplate] {
                    if let found = level.element(kind) { report(.onDemandWithSegments, found) }
                }
            }
        case "urn:mpeg:dash:profile:isoff-live:2011":
            if levels.allSatisfy({ $0.element(.segmentTemplate) == nil }) { report(.liveWithoutTemplate, element) }
        default: break
        }
    }
}
