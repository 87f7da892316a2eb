import DASHManifest
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The measurements of a track's entries that its playlist and variant need.
struct TrackMeasure {
    /// The longest duration of an entry, rounded to seconds.
    var longestSeconds: Int64 = 0
    /// The starts on the timeline of the presentation; empty for static presentations.
    var starts: [MediaTime] = []
    /// The duration of the first entry.
    var firstDuration: MediaTime = .zero
    /// The end of the last entry on the timeline of the presentation.
    var end: MediaTime = .zero
    var duration: MediaTime = .zero
    var byteCount: Int64 = 0
    /// The highest bit rate of a segment, in bits per second.
    var peak: Int64 = 0
    /// A Boolean value that indicates whether the sizes of all segments are known.
    var hasSizes = true
    /// A Boolean value that indicates whether all entries but the last have the same duration.
    var isUniform = true
    var hasSkippedHole = false

    /// The average bit rate, in bits per second, or `nil` if it is not known.
    var average: Int64? {
        hasSizes && duration > .zero ? TranslatedRate.bitsPerSecond(byteCount, duration) : nil
    }
}

/// A namespace for bit rates of segments.
enum TranslatedRate {
    /// Returns the bits per second of a number of bytes, rounded to the nearest integer.
    static func bitsPerSecond(_ byteCount: Int64, _ duration: MediaTime) -> Int64 {
        guard duration > .zero else { return 0 }
        return MediaTime(seconds: byteCount *| 8)
            .scaled(by: MediaTime(value: duration.timescale, timescale: duration.value)).roundedSeconds
    }
}

/// A writer of the media playlist of one track.
struct MediaPlaylistWriter {
    /// The values that all playlists of the presentation share.
    struct Shared {
        let targetDuration: Int64
        let isStatic: Bool
        let isEnded: Bool
        let isVOD: Bool
        /// The date of the start of the presentation's timeline, or `nil` if segments have no dates.
        let origin: MediaTime?
        let dateRanges: [String]
        let holdBack: MediaTime?
        let maximumByteCount: Int
    }

    private let plan: PresentationPlan
    private let track: Int
    private var body: [UInt8] = []
    /// The last tag with a duration.
    private var durationTag: (microseconds: Int64, text: [UInt8]) = (0, [])
    private var hasFractions = false
    private var hasByteRanges = false
    private var hasLongSegments = false
    private var hasMaps = false
    private var hasKeys = false

    private init(_ plan: PresentationPlan, track: Int) {
        self.plan = plan
        self.track = track
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
                isFollowed: isFollowed
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
        let next = number + 1 < plan.periods.count ? plan.periods[number + 1].start - period.start : nil
        return EntryRange(
            section: section,
            fillsStart: isStatic,
            periodEnd: next ?? (isStatic ? period.period.duration : nil),
            isFollowed: next != nil
        )
    }

    // MARK: Measuring

    static func measure(_ plan: PresentationPlan, track: Int, isStatic: Bool) -> TrackMeasure {
        var result = TrackMeasure()
        var isFirst = true
        for (number, period) in plan.periods.enumerated() {
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
        var last: (ticks: Timing.Time, time: MediaTime)?
        var end: Timing.Time?
        var sum = MediaTimeSum(result.duration)
        while let entry = entries.next() {
            let ticks = entry.end - entry.start
            let duration: MediaTime
            // Most segments have the duration of the one before.
            if let last, last.ticks == ticks {
                duration = last.time
            } else {
                duration = timing.mediaTime(ticks)
                last = (ticks, duration)
                result.longestSeconds = max(result.longestSeconds, duration.roundedSeconds)
            }
            if isFirst { result.firstDuration = duration }
            result.isUniform = result.isUniform && duration <= result.firstDuration
            isFirst = false
            if !isStatic { result.starts.append(periodStart + timing.mediaTime(entry.start)) }
            end = entry.end
            sum += duration
            guard let index = entry.index else { continue }
            guard let length = range.section.addressing.byteCount(at: index) else {
                result.hasSizes = false
                continue
            }
            result.byteCount +|= length
            result.peak = max(result.peak, TranslatedRate.bitsPerSecond(length, duration))
        }
        result.duration = sum.time
        if let end { result.end = periodStart + timing.mediaTime(end) }
        result.hasSkippedHole = result.hasSkippedHole || entries.hasSkippedHole
    }

    // MARK: Writing

    /// Returns the text of the playlist, whose first entry has the given number after some entries that are left out.
    static func write(
        _ plan: PresentationPlan,
        track: Int,
        shared: Shared,
        firstSequence: Int64,
        skipCount: Int64
    ) throws(TranslationError) -> [UInt8] {
        var writer = MediaPlaylistWriter(plan, track: track)
        let first = try writer.writeEntries(shared, skipCount: skipCount)
        let isIFrames = plan.tracks[track].kind == .iFrames
        var head = "#EXTM3U\n"
        var version = writer.hasFractions ? 3 : 1
        if writer.hasByteRanges || isIFrames { version = 4 }
        if writer.hasKeys { version = 5 }
        if writer.hasMaps { version = isIFrames ? 5 : 6 }
        if writer.hasLongSegments { version = 6 }
        if version > 1 { head += "#EXT-X-VERSION:\(version)\n" }
        head += "#EXT-X-TARGETDURATION:\(shared.targetDuration)\n"
        if firstSequence > 0 { head += "#EXT-X-MEDIA-SEQUENCE:\(firstSequence)\n" }
        if first > 0 || !shared.isStatic { head += "#EXT-X-DISCONTINUITY-SEQUENCE:\(first)\n" }
        if shared.isVOD { head += "#EXT-X-PLAYLIST-TYPE:VOD\n" }
        if isIFrames { head += "#EXT-X-I-FRAMES-ONLY\n" }
        if let holdBack = shared.holdBack { head += "#EXT-X-SERVER-CONTROL:HOLD-BACK=\(holdBack)\n" }
        for range in shared.dateRanges { head += "#EXT-X-DATERANGE:\(range)\n" }
        return Array(head.utf8) + writer.body + Array((shared.isEnded ? "#EXT-X-ENDLIST\n" : "").utf8)
    }

    /// Writes the entries; returns the discontinuity sequence number of the first.
    private mutating func writeEntries(_ shared: Shared, skipCount: Int64) throws(TranslationError) -> Int64 {
        var state = WritingState(rest: skipCount)
        for (number, period) in plan.periods.enumerated() {
            guard let range = Self.range(plan, number, track, isStatic: shared.isStatic) else { continue }
            if let ticks = range.ticks {
                try write(range, ticks, period, shared, &state)
            } else {
                let exact = ExactTiming(addressing: range.section.addressing)
                try write(range, exact, period, shared, &state)
            }
        }
        return state.first ?? 0
    }

    /// The values that entries share with the ones before.
    private struct WritingState {
        var first: Int64?
        var previous: Int64 = 0
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
        _ state: inout WritingState
    ) throws(TranslationError) {
        let section = range.section
        var entries = range.entries(timing)
        let template = section.addressing.resolvedTemplate { text, isFirst in
            isFirst ? PlaylistText.uri(text) : PlaylistText.encoded(text)
        }
        let times = template == nil ? nil : section.addressing.times
        var cursor = 0
        var isFirstOfPeriod = true
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
                if isNew || state.previous != period.discontinuitySequence, let origin = shared.origin {
                    let date = ProgramDateTime(sinceEpoch: origin + period.start + timing.mediaTime(entry.start))
                    append("#EXT-X-PROGRAM-DATE-TIME:\(date)\n")
                }
                state.first = state.first ?? period.discontinuitySequence
                state.previous = period.discontinuitySequence
                writeMap(section, &state.map)
                writeKeys(section, &state.keys)
            }
            let microseconds = timing.microseconds(entry.end) -| timing.microseconds(entry.start)
            let segment = entry.index.flatMap { times?.entry(at: $0, near: &cursor) }
            write(entry.index, max(1, microseconds), section, template, segment, shared)
            guard body.count <= shared.maximumByteCount else {
                throw .tooLarge(message: "the playlists are too large")
            }
        }
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
        _ template: ResolvedTemplate?,
        _ entry: SegmentTimes.Entry?,
        _ shared: Shared
    ) {
        if microseconds % 1_000_000 != 0 { hasFractions = true }
        if microseconds > shared.targetDuration *| 1_000_000 { hasLongSegments = true }
        if let template, let entry {
            writeDuration(microseconds)
            template.append(entry, to: &body)
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

    /// Writes the tag with a duration, again as before if the duration is the same.
    private mutating func writeDuration(_ microseconds: Int64) {
        if microseconds != durationTag.microseconds {
            let duration = MediaTime(value: microseconds, timescale: 1_000_000)
            durationTag = (microseconds, Array("#EXTINF:\(duration),\n".utf8))
        }
        body.append(contentsOf: durationTag.text)
    }
}

extension MediaTime {
    /// The time in microseconds, rounded to the nearest integer.
    var microseconds: Int64 { scaled(by: MediaTime(seconds: 1_000_000)).roundedSeconds }
}
