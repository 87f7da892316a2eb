public import MediaTiming

/// Puts the cues of segments together: one that several segments repeat is one cue (RFC 8216bis §3.1.4).
///
/// Cues are the same where identifier, times and text are equal; their settings may differ, then the first count.
public struct WebVTTCueGathering: Sendable {
    private var known: [Key: MediaTime] = [:]

    private struct Key: Hashable {
        let id: String
        let timeRange: MediaTimeRange
        let text: String
    }

    /// When more cues than this are known, those that ended first are forgotten.
    public static let mostKnown = 20_000

    /// Makes a gathering that knows no cue.
    public init() {}

    /// Takes the cues of a segment, at their places on the media's timeline, and gives those that are new.
    public mutating func add(_ cues: [WebVTTCue]) -> [WebVTTCue] {
        let new = cues.filter { cue in
            known.updateValue(cue.timeRange.end, forKey: Key(id: cue.id, timeRange: cue.timeRange, text: cue.text))
                == nil
        }
        if known.count > Self.mostKnown {
            let ends = known.values.sorted()
            forget(before: ends[ends.count - Self.mostKnown / 2])
        }
        return new
    }

    /// Forgets cues that end before a time, as a player does with what is long past.
    public mutating func forget(before time: MediaTime) {
        known = known.filter { $0.value >= time }
    }
}
