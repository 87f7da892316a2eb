package import MediaTiming

/// A filter for the cues of consecutive segments that removes repeated cues (RFC 8216bis §3.1.4).
///
/// Cues with equal identifier, time range and text are considered identical; if their settings differ, the settings of
/// the first cue apply.
package struct WebVTTCueDeduplicator: Sendable {
    private var endTimes: [Key: MediaTime] = [:]
    private var byteCount = 0

    private struct Key: Hashable {
        let id: String
        let timeRange: MediaTimeRange
        let text: String

        var byteCount: Int { id.utf8.count + text.utf8.count }
    }

    /// The maximum number of cues that are remembered.
    ///
    /// If it is exceeded, the cues with the earliest end times are discarded until half of them are left.
    package static let maximumCueCount = 20_000
    /// The maximum total size of remembered texts, in bytes; if it is exceeded, cues are discarded as for
    /// ``maximumCueCount``.
    static let maximumTextSize = 16 << 20

    /// Creates a collection without cues.
    package init() {}

    /// Adds the cues of a segment, with times on the media timeline, and returns those that were not added before.
    package mutating func add(_ cues: [WebVTTCue]) -> [WebVTTCue] {
        var new: [WebVTTCue] = []
        for cue in cues {
            let key = Key(id: cue.id, timeRange: cue.timeRange, text: cue.text)
            guard endTimes.updateValue(cue.timeRange.end, forKey: key) == nil else { continue }
            byteCount += key.byteCount
            new.append(cue)
        }
        if endTimes.count > Self.maximumCueCount || byteCount > Self.maximumTextSize { discardHalf() }
        return new
    }

    /// Discards the cues with the earliest end times until half of each limit is left.
    private mutating func discardHalf() {
        var count = endTimes.count
        for (key, _) in endTimes.sorted(by: { $0.value < $1.value }) {
            guard count > Self.maximumCueCount / 2 || byteCount > Self.maximumTextSize / 2 else { return }
            endTimes[key] = nil
            byteCount -= key.byteCount
            count -= 1
        }
    }

    /// Discards the cues that end before the given time, for players that no longer need them.
    package mutating func discardCues(before time: MediaTime) {
        endTimes = endTimes.filter { $0.value >= time }
        byteCount = endTimes.keys.reduce(0) { $0 + $1.byteCount }
    }
}
