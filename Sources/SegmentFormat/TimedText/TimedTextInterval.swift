import MediaTiming

/// The active interval of a TTML element; without an end, it ends with the enclosing element (TTML2 §12).
struct TimedTextInterval {
    var begin: MediaTime
    var end: MediaTime?

    /// Returns whether the element specifies its own end or duration.
    func isExplicit(_ attributes: TimedTextAttributes) -> Bool { attributes.end != nil || attributes.duration != nil }
}

extension TimedTextTree {
    /// Returns the active interval of an element; `begin` and `end` are relative to `reference`, and `outer` limits it.
    func interval(
        _ attributes: TimedTextAttributes,
        _ outer: TimedTextInterval,
        reference: MediaTime
    ) -> TimedTextInterval {
        let begin = reference + (attributes.begin.flatMap(timing.time) ?? .zero)
        var end = attributes.end.flatMap(timing.time).map { reference + $0 }
        if let duration = attributes.duration.flatMap(timing.time) {
            end = min(end ?? begin + duration, begin + duration)
        }
        if let outerEnd = outer.end { end = min(end ?? outerEnd, outerEnd) }
        return TimedTextInterval(begin: max(begin, outer.begin), end: end)
    }

    /// Returns the end of an element that does not specify its end: the end of its last part.
    ///
    /// Valid after ``measureImplicitDurations()``.
    func implicitEnd(_ index: Int, after reference: MediaTime) -> MediaTime {
        implicitDurations.isEmpty ? reference : reference + implicitDurations[index]
    }

    /// Determines the implicit durations of all elements in one pass, from the innermost to the outermost.
    ///
    /// Otherwise each element of nested sequences would be processed again for each enclosing element.
    mutating func measureImplicitDurations() {
        guard nodes.contains(where: \.attributes.isSequence) else { return }
        var durations = [MediaTime](repeating: .zero, count: nodes.count)
        // The children of an element follow it in the list.
        for (index, node) in nodes.enumerated().reversed() {
            let own = interval(node.attributes, TimedTextInterval(begin: .zero, end: nil), reference: .zero)
            var last = own.end ?? own.begin
            if own.end == nil {
                for child in node.children {
                    last = max(last, (node.attributes.isSequence ? last : own.begin) + durations[child])
                }
            }
            durations[index] = last
        }
        implicitDurations = durations
    }
}
