package import MediaTiming

/// The cues of a subtitle track on the media timeline, collected from segments.
///
/// A cue that several segments repeat is stored once, and a cue that is split at a segment boundary is joined again
/// (RFC 8216bis §3.1.4; ISO/IEC 14496-30 §6.2).
package struct SubtitleTimeline: Sendable {
    private var entries: [Entry] = []
    /// The latest end time in each block of ``blockLength`` entries, with which blocks of past cues are skipped.
    private var blockEnds: [MediaTime] = []
    /// The latest end time of each block and all blocks before it.
    private var latestEnds: [MediaTime] = []
    private var entriesByAppearance: [Appearance: [Entry]] = [:]
    private var nextNumber = 0
    private var batch = 0
    /// The estimated memory use of the cues, in bytes.
    private var byteCount = 0

    private struct Entry {
        let number: Int
        let batch: Int
        let cue: SubtitleCue
        let byteCount: Int

        init(number: Int, batch: Int, cue: SubtitleCue) {
            self.number = number
            self.batch = batch
            self.cue = cue
            byteCount = cue.lines.reduce(256) { sum, line in
                line.spans.reduce(sum + 32) { $0 + 96 + $1.text.utf8.count }
            }
        }
    }

    /// The visible properties of a cue.
    private struct Appearance: Hashable {
        let lines: [SubtitleLine]
        let placement: SubtitlePlacement
        let layer: Int
        let isForced: Bool

        init(_ cue: SubtitleCue) {
            lines = cue.lines
            placement = cue.placement
            layer = cue.layer
            isForced = cue.isForced
        }
    }

    /// The maximum number of cues; if it is exceeded, the cues with the earliest start times are discarded.
    package static let maximumCueCount = 100_000
    /// The maximum memory use of the cues, in bytes; if it is exceeded, the cues with the earliest start times are
    /// discarded.
    static let maximumMemoryUse = 64 << 20
    /// The maximum gap between two parts of a cue that are joined, which allows for rounded segment times.
    package static let joinTolerance = MediaTime(value: 10, timescale: 1_000)

    private static let blockLength = 64
    // The number of cues of equal appearance with which a new one is compared; few of them are shown at the same time.
    private static let maximumComparedCount = 8

    /// Creates a timeline without cues.
    package init() {}

    /// All cues, in the order of their start times.
    package var cues: [SubtitleCue] { entries.map(\.cue) }
    /// The start time of the first cue; `nil` if there are no cues.
    package var firstStart: MediaTime? { entries.first?.cue.timeRange.start }
    /// A Boolean value that indicates whether the timeline has no cues.
    package var isEmpty: Bool { entries.isEmpty }
    /// The number of cues.
    package var count: Int { entries.count }

    /// Inserts the cues of a segment, with times on the media timeline; cues with an empty time range or no lines are
    /// ignored.
    ///
    /// - Parameter cues: Cues in document order.
    /// - Complexity: O(*k* log *k*) for *k* cues after all existing ones, plus O(*n*) if they are between existing
    ///   ones.
    package mutating func insert(_ cues: [SubtitleCue]) {
        batch += 1
        var new: [Entry] = []
        var replaced: Set<Int> = []
        // The start time of the first replaced cue.
        var earliestReplaced: MediaTime?
        for cue in cues where !cue.timeRange.isEmpty && !cue.lines.isEmpty {
            let key = Appearance(cue)
            var cue = cue
            var similarEntries = entriesByAppearance.removeValue(forKey: key) ?? []
            if containsCue(cue, among: similarEntries) {
                entriesByAppearance[key] = similarEntries
                continue
            }
            var index = similarEntries.count - 1
            let last = max(0, similarEntries.count - Self.maximumComparedCount)
            while index >= last {
                let other = similarEntries[index]
                if other.batch != batch, let range = Self.joined(other.cue.timeRange, cue.timeRange) {
                    // The identifier of the first part is used, because some writers restart their numbering in each
                    // segment.
                    let id = other.cue.id
                    cue.timeRange = range
                    cue.id = id
                    replaced.insert(other.number)
                    earliestReplaced = min(earliestReplaced ?? other.cue.timeRange.start, other.cue.timeRange.start)
                    byteCount -= other.byteCount
                    similarEntries.remove(at: index)
                }
                index -= 1
            }
            let entry = Entry(number: nextNumber, batch: batch, cue: cue)
            nextNumber += 1
            similarEntries.append(entry)
            entriesByAppearance[key] = similarEntries
            new.append(entry)
            byteCount += entry.byteCount
        }
        // An earlier cue of the same call may have been joined, too.
        if !replaced.isEmpty { new.removeAll { replaced.contains($0.number) } }
        merge(new, without: replaced, from: earliestReplaced)
    }

    private func containsCue(_ cue: SubtitleCue, among similarEntries: [Entry]) -> Bool {
        similarEntries.suffix(Self.maximumComparedCount).contains { other in
            other.cue.timeRange == cue.timeRange
                || other.batch != batch && other.cue.timeRange.start <= cue.timeRange.start
                    && other.cue.timeRange.end >= cue.timeRange.end
        }
    }

    private static func joined(_ first: MediaTimeRange, _ second: MediaTimeRange) -> MediaTimeRange? {
        guard first.start <= second.end + joinTolerance, second.start <= first.end + joinTolerance else { return nil }
        return MediaTimeRange(start: min(first.start, second.start), end: max(first.end, second.end))
    }
    /// Inserts new entries at their positions and removes replaced ones.
    ///
    /// Only the entries from the first change on are modified, which in a stream are the last few.
    private mutating func merge(_ new: [Entry], without replaced: Set<Int>, from earliestReplaced: MediaTime?) {
        let sorted = new.sorted { ($0.cue.timeRange.start, $0.number) < ($1.cue.timeRange.start, $1.number) }
        let starts = [earliestReplaced, sorted.first?.cue.timeRange.start].compactMap(\.self)
        guard let earliest = starts.min() else { return }
        var first = firstIndex(after: earliest)
        while earliestReplaced != nil, first > 0, entries[first - 1].cue.timeRange.start >= earliest { first -= 1 }
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count - first + sorted.count)
        var index = 0
        for entry in entries[first...] where !replaced.contains(entry.number) {
            while index < sorted.count, sorted[index].cue.timeRange.start < entry.cue.timeRange.start {
                merged.append(sorted[index])
                index += 1
            }
            merged.append(entry)
        }
        merged += sorted[index...]
        entries.replaceSubrange(first..., with: merged)
        updateBlockEnds(from: first)
        if entries.count > Self.maximumCueCount || byteCount > Self.maximumMemoryUse { discardEarliest() }
    }

    /// Discards the cues with the earliest start times, a quarter at a time so that this happens rarely.
    private mutating func discardEarliest() {
        var count = 0
        while count < entries.count,
            entries.count - count > Self.maximumCueCount *| 3 / 4 || byteCount > Self.maximumMemoryUse *| 3 / 4
        {
            byteCount -= entries[count].byteCount
            count += 1
        }
        entries.removeFirst(count)
        rebuildIndex()
    }

    /// Removes the cues within a time range; of cues that extend beyond it, the parts outside the range remain.
    ///
    /// - Complexity: O(*n*).
    package mutating func discard(_ range: MediaTimeRange) {
        // Cues that start after the range are not changed.
        let end = firstIndex(after: range.end)
        guard let first = entries[..<end].firstIndex(where: { $0.cue.timeRange.intersection(range) != nil }) else {
            return
        }
        var kept: [Entry] = []
        var removed: [Appearance: Set<Int>] = [:]
        for entry in entries[first..<end] {
            let own = entry.cue.timeRange
            guard own.intersection(range) != nil else {
                kept.append(entry)
                continue
            }
            removed[Appearance(entry.cue), default: []].insert(entry.number)
            byteCount -= entry.byteCount
            for part in [
                MediaTimeRange(start: own.start, end: range.start), MediaTimeRange(start: range.end, end: own.end),
            ] where !part.isEmpty {
                var cue = entry.cue
                cue.timeRange = part
                let rest = Entry(number: nextNumber, batch: entry.batch, cue: cue)
                kept.append(rest)
                entriesByAppearance[Appearance(cue), default: []].append(rest)
                byteCount += rest.byteCount
                nextNumber += 1
            }
        }
        removeFromIndex(removed)
        // The remainder of a cue after the range starts at the end of the range, before all later cues.
        kept.sort { ($0.cue.timeRange.start, $0.number) < ($1.cue.timeRange.start, $1.number) }
        entries.replaceSubrange(first..<end, with: kept)
        updateBlockEnds(from: first)
    }

    /// Removes the entries with the given numbers.
    ///
    /// All entries of one appearance are removed in one pass, because a stream may show the same text thousands of
    /// times.
    private mutating func removeFromIndex(_ removed: [Appearance: Set<Int>]) {
        for (key, numbers) in removed {
            guard var similarEntries = entriesByAppearance.removeValue(forKey: key) else { continue }
            similarEntries.removeAll { numbers.contains($0.number) }
            if !similarEntries.isEmpty { entriesByAppearance[key] = similarEntries }
        }
    }

    /// Returns the cues shown at the given time, in the order of their start times; at most
    /// ``SubtitlePositioner/maximumCueCount``.
    package func cues(at time: MediaTime) -> [SubtitleCue] { shown(at: time, before: firstIndex(after: time)) }

    /// Returns the first time after `time` at which the result of ``cues(at:)`` changes, or `nil` if it does not change
    /// again.
    package func nextChange(after time: MediaTime) -> MediaTime? {
        let end = firstIndex(after: time)
        let shown = shown(at: time, before: end)
        var next = shown.map(\.timeRange.end).min()
        if end < entries.count, shown.count < SubtitlePositioner.maximumCueCount {
            let start = entries[end].cue.timeRange.start
            next = min(next ?? start, start)
        }
        return next
    }

    private func shown(at time: MediaTime, before end: Int) -> [SubtitleCue] {
        var found: [SubtitleCue] = []
        var block = firstBlock(endingAfter: time)
        while block *| Self.blockLength < end {
            defer { block += 1 }
            guard blockEnds[block] > time else { continue }
            let low = block *| Self.blockLength
            for entry in entries[low..<min(end, low + Self.blockLength)] where entry.cue.timeRange.end > time {
                found.append(entry.cue)
                if found.count == SubtitlePositioner.maximumCueCount { return found }
            }
        }
        return found
    }

    /// Returns the index of the first block that may contain a cue shown at the given time; all previous ones have
    /// ended.
    private func firstBlock(endingAfter time: MediaTime) -> Int {
        var low = 0
        var high = latestEnds.count
        while low < high {
            let middle = (low + high) / 2
            if latestEnds[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the index of the first entry that starts after the given time.
    private func firstIndex(after time: MediaTime) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].cue.timeRange.start <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func updateBlockEnds(from index: Int) {
        var block = index / Self.blockLength
        blockEnds.removeLast(max(0, blockEnds.count - block))
        latestEnds.removeLast(max(0, latestEnds.count - block))
        while block *| Self.blockLength < entries.count {
            let low = block *| Self.blockLength
            var end = entries[low].cue.timeRange.end
            for entry in entries[low..<min(entries.count, low + Self.blockLength)] {
                end = max(end, entry.cue.timeRange.end)
            }
            blockEnds.append(end)
            latestEnds.append(max(latestEnds.last ?? end, end))
            block += 1
        }
    }

    private mutating func rebuildIndex() {
        updateBlockEnds(from: 0)
        entriesByAppearance.removeAll()
        for entry in entries { entriesByAppearance[Appearance(entry.cue), default: []].append(entry) }
    }
}
