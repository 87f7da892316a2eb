import MediaTiming

/// When an element of TTML is active; without an end, for as long as what is around it (TTML2 §12).
struct TimedTextInterval {
    var begin: MediaTime
    var end: MediaTime?

    /// Whether an element says itself how long it is active.
    func isExplicit(_ attributes: TimedTextAttributes) -> Bool { attributes.end != nil || attributes.duration != nil }
}

extension TimedTextTree {
    /// When an element is active: `begin` and `end` count from the same place, and nothing lasts longer than what is around.
    func interval(
        _ attributes: TimedTextAttributes,
        _ outer: TimedTextInterval,
        reference: MediaTime
    ) -> TimedTextInterval {
        let begin = reference + (attributes.begin.flatMap(clock.time) ?? .zero)
        var end = attributes.end.flatMap(clock.time).map { reference + $0 }
        if let duration = attributes.duration.flatMap(clock.time) {
            end = min(end ?? begin + duration, begin + duration)
        }
        if let outerEnd = outer.end { end = min(end ?? outerEnd, outerEnd) }
        return TimedTextInterval(begin: max(begin, outer.begin), end: end)
    }

    /// Returns when the last part of an element that does not say its end is over.
    ///
    /// Valid after ``measureImplicitDurations()``.
    func implicitEnd(_ index: Int, after reference: MediaTime) -> MediaTime {
        implicitDurations.isEmpty ? reference : reference + implicitDurations[index]
    }

    /// Measures all elements once, from the innermost to the outermost: in nested sequences, each would otherwise be
    /// measured again for each element around it.
    mutating func measureImplicitDurations() {
        guard nodes.contains(where: \.attributes.isSequence) else { return }
        var durations = [MediaTime](repeating: .zero, count: nodes.count)
        // The children of an element stand behind it in the list.
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
