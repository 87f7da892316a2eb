import DASHManifest
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// A writer of the media playlist of one track.
struct MediaPlaylistWriter {
    /// The values that all playlists of the presentation share.
    struct Shared {
        let isStatic: Bool
        let isEnded: Bool
        let isVOD: Bool
        /// The date of the start of the presentation's timeline, or `nil` if segments have no dates.
        let origin: MediaTime?
        let dateRanges: [String]
        let holdBack: MediaTime?
    }

    /// A size that the tag and the URL of most segments do not exceed.
    private static let commonEntrySize = 96
    /// The number of entries that are written between two checks for cancellation.
    private static let checkInterval = 10_000
    /// A size that the tags before the segments of most playlists do not exceed.
    private static let commonHeadSize = 4_096

    /// The text of a playlist, with the properties of its segments.
    struct Output {
        let bytes: [UInt8]
        let segmentCount: Int
        let duration: MediaTime
    }

    private let plan: PresentationPlan
    private let track: Int
    private let targetDuration: Int64
    private let maximumByteCount: Int
    private var body: [UInt8] = []
    private var segmentCount = 0
    /// The sum of all durations, in microseconds.
    private var duration: Int64 = 0
    /// The last tags with durations of 0 to 6 decimal places.
    private var durationLines = [NumberedLine](repeating: NumberedLine(), count: 7)
    private var hasFractions = false
    private var hasByteRanges = false
    private var hasLongSegments = false
    private var hasMaps = false
    private var hasKeys = false

    private init(_ plan: PresentationPlan, track: Int, targetDuration: Int64, maximumByteCount: Int) {
        self.plan = plan
        self.track = track
        self.targetDuration = targetDuration
        self.maximumByteCount = maximumByteCount
    }

    /// The values that determine the entries of a track in a period.
    private struct EntryRange {
        let section: TrackSection
        let fillsStart: Bool
        let periodEnd: MediaTime?
        let isFollowed: Bool

        func entries<Timing: EntryTiming>(_ timing: Timing) -> TrackEntries<Timing> {
            TrackEntries(
                timing,
                range: section.range,
                isGap: section.candidate == nil,
                fillsStart: fillsStart,
                periodEnd: periodEnd,
                isFollowed: isFollowed,
                // The duration of a segment does not change when the next period becomes known.
                endsWithPeriod: fillsStart
            )
        }

        /// The timing in integers, or `nil` if the times have no common timescale.
        var ticks: TickTiming? {
            let constants = [MediaTime(value: 1, timescale: 10)] + (periodEnd.map { [$0] } ?? [])
            return TickTiming(section.addressing, others: constants)
        }
    }

    /// Returns the range of entries of a track in a period.
    private static func range(_ plan: PresentationPlan, _ number: Int, _ track: Int, isStatic: Bool) -> EntryRange? {
        let period = plan.periods[number]
        guard let section = period.sections[track] else { return nil }
        // While a presentation grows, segments at the end of a period can be missing until the track has a later one.
        let isEnded = isStatic || plan.periods[(number + 1)...].contains { $0.sections[track] != nil }
        let next = isEnded && number + 1 < plan.periods.count ? plan.periods[number + 1].start - period.start : nil
        return EntryRange(
            section: section,
            fillsStart: isStatic,
            periodEnd: next ?? (isStatic ? period.period.duration : nil),
            isFollowed: next != nil
        )
    }

    // MARK: Measuring

    /// Returns the measurements of a track.
    ///
    /// - Throws: The error of `checkCancellation`, which is called before each period.
    static func measure(
        _ plan: PresentationPlan,
        track: Int,
        isStatic: Bool,
        checkCancellation: () throws -> Void = {}
    ) rethrows -> TrackMeasure {
        var result = TrackMeasure()
        var isFirst = true
        for (number, period) in plan.periods.enumerated() {
            try checkCancellation()
            guard let range = Self.range(plan, number, track, isStatic: isStatic) else { continue }
            if let ticks = range.ticks {
                measure(range, ticks, period.start, isStatic: isStatic, &isFirst, &result)
            } else {
                let exact = ExactTiming(addressing: range.section.addressing)
                measure(range, exact, period.start, isStatic: isStatic, &isFirst, &result)
            }
        }
        return result
    }

    private static func measure<Timing: EntryTiming>(
        _ range: EntryRange,
        _ timing: Timing,
        _ periodStart: MediaTime,
        isStatic: Bool,
        _ isFirst: inout Bool,
        _ result: inout TrackMeasure
    ) {
        var entries = range.entries(timing)
        var starts: [Timing.Time] = []
        var longest = Timing.Time.zero
        var first: Timing.Time?
        var previous: Timing.Time?
        var sum = Timing.Time.zero
        var end: Timing.Time?
        let canHaveSizes = range.section.addressing.canDeclareByteCounts
        while let entry = entries.next() {
            result.entryCount +|= 1
            let duration = entry.end - entry.start
            if isFirst { result.firstDuration = timing.mediaTime(duration) }
            isFirst = false
            longest = max(longest, duration)
            // The last segment of a period may be shorter.
            if let previous, previous != first { result.isUniform = false }
            (first, previous) = (first ?? duration, duration)
            // The entries of a period do not overlap, so that the sum of their durations is not greater than their end.
            sum += duration
            if !isStatic { starts.append(entry.start) }
            end = entry.end
            guard let index = entry.index else { continue }
            guard canHaveSizes, let length = range.section.addressing.byteCount(at: index) else {
                result.hasSizes = false
                continue
            }
            result.byteCount +|= length
            result.peak = max(result.peak, TranslatedRate.bitsPerSecond(length, timing.mediaTime(duration)))
        }
        result.hasSkippedHole = result.hasSkippedHole || entries.hasSkippedHole
        guard let end else { return }
        result.longestSeconds = max(result.longestSeconds, timing.mediaTime(longest).roundedSeconds)
        result.isUniform = result.isUniform && timing.mediaTime(longest) <= result.firstDuration
        result.duration += timing.mediaTime(sum)
        result.end = periodStart + timing.mediaTime(end)
        if !isStatic { result.starts.append(timing.starts(starts, after: periodStart)) }
    }

    // MARK: Writing

    /// Returns the text of the playlist, whose first entry has the given number after some entries that are left out.
    ///
    /// With `isRestart`, a discontinuity before the first entry announces that its number is a new one.
    static func write(
        _ plan: PresentationPlan,
        track: Int,
        shared: Shared,
        targetDuration: Int64,
        maximumByteCount: Int,
        entryCount: Int,
        firstSequence: Int64,
        skipCount: Int64,
        isRestart: Bool,
        checkCancellation: () throws -> Void = {}
    ) throws -> Output {
        var writer = MediaPlaylistWriter(
            plan,
            track: track,
            targetDuration: targetDuration,
            maximumByteCount: maximumByteCount
        )
        writer.body.reserveCapacity(
            min(maximumByteCount, entryCount *| Self.commonEntrySize +| Self.commonHeadSize)
        )
        if isRestart { writer.append("#EXT-X-DISCONTINUITY\n") }
        let number = try writer.writeEntries(shared, skipCount: skipCount, checkCancellation)
        let first = isRestart ? max(0, number -| 1) : number
        let isIFrames = plan.tracks[track].kind == .iFrames
        var head = "#EXTM3U\n"
        var version = writer.hasFractions ? 3 : 1
        if writer.hasByteRanges || isIFrames { version = 4 }
        if writer.hasKeys { version = 5 }
        if writer.hasMaps { version = isIFrames ? 5 : 6 }
        if writer.hasLongSegments { version = 6 }
        if version > 1 { head += "#EXT-X-VERSION:\(version)\n" }
        head += "#EXT-X-TARGETDURATION:\(targetDuration)\n"
        // Chromium takes a playlist without the tag for one that does not change.
        if firstSequence > 0 || !shared.isStatic { head += "#EXT-X-MEDIA-SEQUENCE:\(firstSequence)\n" }
        if first > 0 || !shared.isStatic { head += "#EXT-X-DISCONTINUITY-SEQUENCE:\(first)\n" }
        if shared.isVOD { head += "#EXT-X-PLAYLIST-TYPE:VOD\n" }
        if isIFrames { head += "#EXT-X-I-FRAMES-ONLY\n" }
        if let holdBack = shared.holdBack { head += "#EXT-X-SERVER-CONTROL:HOLD-BACK=\(holdBack)\n" }
        for range in shared.dateRanges { head += "#EXT-X-DATERANGE:\(range)\n" }
        if shared.isEnded { writer.append("#EXT-X-ENDLIST\n") }
        writer.body.insert(contentsOf: head.utf8, at: 0)
        return Output(
            bytes: writer.body,
            segmentCount: writer.segmentCount,
            duration: MediaTime(value: writer.duration, timescale: 1_000_000)
        )
    }

    /// Writes the entries; returns the discontinuity sequence number of the first.
    private mutating func writeEntries(
        _ shared: Shared,
        skipCount: Int64,
        _ checkCancellation: () throws -> Void
    ) throws -> Int64 {
        var state = WritingState(rest: skipCount)
        for (number, period) in plan.periods.enumerated() {
            guard let range = Self.range(plan, number, track, isStatic: shared.isStatic) else { continue }
            if let ticks = range.ticks {
                try write(range, ticks, period, shared, &state, checkCancellation)
            } else {
                let exact = ExactTiming(addressing: range.section.addressing)
                try write(range, exact, period, shared, &state, checkCancellation)
            }
        }
        return state.first ?? 0
    }

    /// The values that entries share with the ones before.
    private struct WritingState {
        var first: Int64?
        var previous: Int64 = 0
        /// The end of the entry before on the timeline of the presentation.
        var end: MediaTime?
        var map: AddressedResource?
        var keys: [String] = []
        /// The number of entries that are still left out.
        var rest: Int64
    }

    private mutating func write<Timing: EntryTiming>(
        _ range: EntryRange,
        _ timing: Timing,
        _ period: PeriodPlan,
        _ shared: Shared,
        _ state: inout WritingState,
        _ checkCancellation: () throws -> Void
    ) throws {
        try checkCancellation()
        let section = range.section
        var entries = range.entries(timing)
        var template = section.addressing.resolvedTemplate { text, isFirst in
            isFirst ? PlaylistText.uri(text) : PlaylistText.encoded(text)
        }
        let times = template == nil ? nil : section.addressing.times
        var position = SegmentTimes.Position()
        var isFirstOfPeriod = true
        // Most entries begin where the one before ends.
        var boundary: (time: Timing.Time, microseconds: Int64)?
        while let entry = entries.next() {
            guard state.rest <= 0 else {
                state.rest -|= 1
                continue
            }
            if isFirstOfPeriod {
                isFirstOfPeriod = false
                let isNew = state.first == nil
                // Numbers can differ by more than one where periods without segments lie between.
                if !isNew, state.previous != period.discontinuitySequence { append("#EXT-X-DISCONTINUITY\n") }
                let start = period.start + timing.mediaTime(entry.start)
                // A segment can exceed its period, and dates must not go back.
                let isLate = state.end.map { start + MediaTime(seconds: 1) <= $0 } ?? false
                let isDated = isNew || state.previous != period.discontinuitySequence && !isLate
                if isDated, let origin = shared.origin {
                    let date = ProgramDateTime(sinceEpoch: origin + start)
                    append("#EXT-X-PROGRAM-DATE-TIME:\(date)\n")
                }
                state.first = state.first ?? period.discontinuitySequence
                state.previous = period.discontinuitySequence
                writeMap(section, &state.map)
                writeKeys(section, &state.keys)
            }
            let isAdjacent = boundary?.time == entry.start
            let start = isAdjacent ? boundary?.microseconds ?? 0 : timing.microseconds(entry.start)
            let end = timing.microseconds(entry.end)
            boundary = (entry.end, end)
            let segment = entry.index.flatMap { times?.entry(at: $0, near: &position) }
            write(entry.index, max(1, end -| start), section, &template, segment, shared)
            if segmentCount.isMultiple(of: Self.checkInterval) { try checkCancellation() }
            guard body.count <= maximumByteCount else {
                throw TranslationError.tooLarge(message: "the playlists are too large")
            }
        }
        if let boundary { state.end = period.start + timing.mediaTime(boundary.time) }
    }

    private mutating func writeMap(_ section: TrackSection, _ map: inout AddressedResource?) {
        guard section.candidate != nil, let initialization = section.addressing.initialization, initialization != map
        else { return }
        map = initialization
        hasMaps = true
        var attributes = AttributeWriter()
        attributes.append("URI", address: initialization.address.text)
        if let range = initialization.byteRange {
            attributes.append("BYTERANGE", quoted: "\(range.length)@\(range.start)")
        }
        append("#EXT-X-MAP:\(attributes.text)\n")
    }

    private mutating func writeKeys(_ section: TrackSection, _ keys: inout [String]) {
        guard let candidate = section.candidate else { return }
        let needed = ContentProtectionKeys.keys(candidate.protections)
        guard needed != keys else { return }
        if !keys.isEmpty { append("#EXT-X-KEY:METHOD=NONE\n") }
        for key in needed { append("#EXT-X-KEY:\(key)\n") }
        keys = needed
        hasKeys = true
    }

    /// Writes a segment, or a gap for the index `nil`, of a duration in microseconds.
    ///
    /// The duration is the difference of rounded boundaries, so that the sum of all is exact to the microsecond.
    private mutating func write(
        _ index: Int64?,
        _ microseconds: Int64,
        _ section: TrackSection,
        _ template: inout ResolvedTemplate?,
        _ entry: SegmentTimes.Entry?,
        _ shared: Shared
    ) {
        segmentCount +|= 1
        duration +|= microseconds
        if microseconds > targetDuration *| 1_000_000 { hasLongSegments = true }
        if let entry, template != nil {
            writeDuration(microseconds)
            template?.append(entry, to: &body)
            body.append(UInt8(ascii: "\n"))
            return
        }
        let segment = index.flatMap { section.addressing.segment(at: $0) }
        if segment == nil { append("#EXT-X-GAP\n") }
        if let range = segment?.resource.byteRange {
            hasByteRanges = true
            append("#EXT-X-BYTERANGE:\(range.length)@\(range.start)\n")
        }
        writeDuration(microseconds)
        let address = segment.map { PlaylistText.uri($0.resource.address.text) } ?? "gap"
        append("\(address.isEmpty ? "." : address)\n")
    }

    private mutating func append(_ text: String) { body.append(contentsOf: text.utf8) }

    /// Writes the tag with a duration in seconds, which has as many decimal places as it needs.
    private mutating func writeDuration(_ microseconds: Int64) {
        let (seconds, remainder) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var fraction = remainder
        var count = fraction == 0 ? 0 : 6
        while fraction > 0, fraction % 10 == 0 {
            fraction /= 10
            count &-= 1
        }
        hasFractions = hasFractions || count > 0
        let isSimilar =
            !durationLines[count].bytes.isEmpty && durationLines[count].replaceNumber(at: 0, with: seconds)
            && (count == 0 || durationLines[count].replaceNumber(at: 1, with: fraction))
        if !isSimilar { writeDurationLine(seconds, fraction, places: count) }
        body.append(contentsOf: durationLines[count].bytes)
    }

    private mutating func writeDurationLine(_ seconds: UInt64, _ fraction: UInt64, places: Int) {
        durationLines[places].removeAll()
        durationLines[places].append(Array("#EXTINF:".utf8))
        durationLines[places].append(seconds)
        if places > 0 {
            durationLines[places].append(Array(".".utf8))
            durationLines[places].append(fraction, minimumDigitCount: places)
        }
        durationLines[places].append(Array(",\n".utf8))
    }
}

extension MediaTime {
    /// The time in microseconds, rounded to the nearest integer.
    var microseconds: Int64 { scaled(by: MediaTime(seconds: 1_000_000)).roundedSeconds }
}
