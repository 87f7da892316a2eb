public import MediaTiming

/// Puts the cues of segments together: one that several segments repeat is one cue (RFC 8216bis §3.1.4).
///
/// Cues are the same where identifier, times and text are equal; their settings may differ, then the first count.
public struct WebVTTCueGathering: Sendable {
    private var known: [Key: MediaTime] = [:]
    private var byteCount = 0

    private struct Key: Hashable {
        let id: String
        let timeRange: MediaTimeRange
        let text: String

        var byteCount: Int { id.utf8.count + text.utf8.count }
    }

    /// When more cues than this are known, those that ended first are forgotten.
    public static let mostKnown = 20_000
    /// The maximum length of the texts that are known, in bytes; beyond, the cues that ended first are forgotten.
    static let mostBytes = 16 << 20

    /// Makes a gathering that knows no cue.
    public init() {}

    /// Takes the cues of a segment, at their places on the media's timeline, and gives those that are new.
    public mutating func add(_ cues: [WebVTTCue]) -> [WebVTTCue] {
        var new: [WebVTTCue] = []
        for cue in cues {
            let key = Key(id: cue.id, timeRange: cue.timeRange, text: cue.text)
            guard known.updateValue(cue.timeRange.end, forKey: key) == nil else { continue }
            byteCount += key.byteCount
            new.append(cue)
        }
        if known.count > Self.mostKnown || byteCount > Self.mostBytes { forgetHalf() }
        return new
    }

    /// Forgets the cues that ended first, until half of what may be known is left.
    private mutating func forgetHalf() {
        var count = known.count
        for (key, _) in known.sorted(by: { $0.value < $1.value }) {
            guard count > Self.mostKnown / 2 || byteCount > Self.mostBytes / 2 else { return }
            known[key] = nil
            byteCount -= key.byteCount
            count -= 1
        }
    }

    /// Forgets cues that end before a time, as a player does with what is long past.
    public mutating func forget(before time: MediaTime) {
        known = known.filter { $0.value >= time }
        byteCount = known.keys.reduce(0) { $0 + $1.byteCount }
    }
}
