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

    /// When the last part of an element that does not say its end is over.
    func implicitEnd(_ index: Int, after reference: MediaTime) -> MediaTime {
        let node = nodes[index]
        let own = interval(node.attributes, TimedTextInterval(begin: reference, end: nil), reference: reference)
        if let end = own.end { return end }
        var last = own.begin
        for child in node.children {
            let end = implicitEnd(child, after: node.attributes.isSequence ? last : own.begin)
            last = max(last, end)
        }
        return last
    }
}
