import MediaTiming

/// The rules for partial segments, preload hints and rendition reports (RFC 8216bis §4.4.4.9, §4.4.5.3, §4.4.5.4,
/// Appendix B).
extension PlaylistInspection {
    /// The part target duration: the maximum duration of a partial segment.
    var partTarget: MediaTime? { first(.partInformation).flatMap { attributes($0).decimal("PART-TARGET") } }

    func inspectParts() {
        let parts = all(.part)
        guard let first = parts.first, let last = parts.last else { return }
        if !has(.partInformation) { note(.missingPartInf, first) }
        if has(.iFramesOnly) { note(.partsInIFramesOnly, first) }
        if !hasEnd, !hasPartHint { note(.partWithoutPreloadHint, last) }
        if !has(.programDateTime), !has(.skip) { note(.partWithoutDate, first) }
        let target = partTarget
        for segment in segments { inspect(all(.part, in: segment.tags), of: segment, target: target) }
        inspect(trailingParts, of: nil, target: target)
        inspectAges()
    }

    /// A Boolean value that indicates whether a preload hint is for a part, or has a type that cannot be read.
    private var hasPartHint: Bool {
        all(.preloadHint).contains { line in
            let attributes = attributes(line)
            return attributes["TYPE"] == "PART" || !attributes.has("TYPE") || attributes.isUnusable("TYPE")
        }
    }

    private func inspect(_ parts: [InspectedLine], of segment: InspectedSegment?, target: MediaTime?) {
        guard !parts.isEmpty else { return }
        let all = parts.map { attributes($0) }
        var total = MediaTime.zero
        for (position, part) in all.enumerated() {
            let line = parts[position]
            if let duration = part.decimal("DURATION") {
                total = total + duration
                if let target, duration > target { note(.partLongerThanTarget, line) }
                // The last part of a segment and the last before a gap may be shorter.
                let isLast = position == all.count - 1 || all[position + 1]["GAP"] == "YES"
                if let target, duration * 100 < target * 85, part["INDEPENDENT"] != "YES", part["GAP"] != "YES", !isLast
                {
                    note(.partTooShort, line)
                }
            }
            guard let range = part["BYTERANGE"], Grammar.isDigits(range) else { continue }
            let follows = position > 0 && all[position - 1]["URI"] == part["URI"] && all[position - 1].has("BYTERANGE")
            if !follows { note(.partByteRangeWithoutOffset, line) }
        }
        if let segment, let duration = segment.duration {
            let tolerance = max(
                MediaTime(value: 1, timescale: 10),
                MediaTime(value: 1, timescale: 10).scaled(by: duration)
            )
            if total - duration > tolerance { note(.partsLongerThanSegment, segment.line) }
        }
    }

    /// Checks for parts that should have been removed.
    ///
    /// Parts should be removed if they are more than three target durations from the end; one more is tolerated for
    /// reloading.
    private func inspectAges() {
        guard !hasEnd, let target else { return }
        var behind = trailingParts.reduce(MediaTime.zero) { $0 + (attributes($1).decimal("DURATION") ?? .zero) }
        var oldest: InspectedLine?
        for segment in segments.reversed() {
            if behind > target * 4, let part = self.first(.part, of: segment) { oldest = part }
            behind = behind + (segment.duration ?? .zero)
        }
        if let oldest { note(.partsTooOld, oldest) }
    }

    func inspectHints() {
        let hints = all(.preloadHint)
        if hasEnd, let first = hints.first { note(.preloadHintAfterEnd, first) }
        var seen: Set<String> = []
        for hint in hints {
            if let type = attributes(hint)["TYPE"], !seen.insert(type).inserted { note(.repeatedPreloadHint, hint) }
        }
        for report in all(.renditionReport) {
            if let uri = attributes(report)["URI"], Grammar.isAbsolute(uri) {
                note(.absoluteRenditionReport, report)
            }
        }
    }
}
