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
    private var body = ""
    private var hasFractions = false
    private var hasByteRanges = false
    private var hasLongSegments = false
    private var hasMaps = false
    private var hasKeys = false

    private init(_ plan: PresentationPlan, track: Int) {
        self.plan = plan
        self.track = track
    }

    /// Returns the entries of a track in a period.
    private static func entries(_ plan: PresentationPlan, _ number: Int, _ track: Int, isStatic: Bool) -> TrackEntries?
    {
        let period = plan.periods[number]
        guard let section = period.sections[track] else { return nil }
        let next = number + 1 < plan.periods.count ? plan.periods[number + 1].start - period.start : nil
        return TrackEntries(
            section.addressing,
            range: section.range,
            isGap: section.candidate == nil,
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
            guard let section = period.sections[track],
                var entries = entries(plan, number, track, isStatic: isStatic)
            else { continue }
            while let entry = entries.next() {
                let duration = entry.end - entry.start
                result.longestSeconds = max(result.longestSeconds, duration.roundedSeconds)
                if isFirst { result.firstDuration = duration }
                result.isUniform = result.isUniform && duration <= result.firstDuration
                isFirst = false
                if !isStatic { result.starts.append(period.start + entry.start) }
                result.end = period.start + entry.end
                result.duration = result.duration + duration
                guard let index = entry.index else { continue }
                guard let length = section.addressing.byteCount(at: index) else {
                    result.hasSizes = false
                    continue
                }
                result.byteCount +|= length
                result.peak = max(result.peak, TranslatedRate.bitsPerSecond(length, duration))
            }
            result.hasSkippedHole = result.hasSkippedHole || entries.hasSkippedHole
        }
        return result
    }

    // MARK: Writing

    /// Returns the text of the playlist, whose first entry has the given number after some entries that are left out.
    static func write(
        _ plan: PresentationPlan,
        track: Int,
        shared: Shared,
        firstSequence: Int64,
        skipCount: Int64
    ) throws(TranslationError) -> String {
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
        return head + writer.body + (shared.isEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    /// Writes the entries; returns the discontinuity sequence number of the first.
    private mutating func writeEntries(_ shared: Shared, skipCount: Int64) throws(TranslationError) -> Int64 {
        var first: Int64?
        var previous: Int64 = 0
        var map: AddressedResource?
        var keys: [String] = []
        var rest = skipCount
        for (number, period) in plan.periods.enumerated() {
            guard let section = period.sections[track],
                let entries = Self.entries(plan, number, track, isStatic: shared.isStatic)
            else { continue }
            var isFirstOfPeriod = true
            for entry in entries {
                guard rest <= 0 else {
                    rest -|= 1
                    continue
                }
                if isFirstOfPeriod {
                    isFirstOfPeriod = false
                    let isNew = first == nil
                    // Numbers can differ by more than one where periods without segments lie between.
                    if !isNew, previous != period.discontinuitySequence { body += "#EXT-X-DISCONTINUITY\n" }
                    if isNew || previous != period.discontinuitySequence, let origin = shared.origin {
                        let date = ProgramDateTime(sinceEpoch: origin + period.start + entry.start)
                        body += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
                    }
                    first = first ?? period.discontinuitySequence
                    previous = period.discontinuitySequence
                    writeMap(section, &map)
                    writeKeys(section, &keys)
                }
                write(entry, section, shared)
                guard body.utf8.count <= shared.maximumByteCount else {
                    throw .tooLarge(message: "the playlists are too large")
                }
            }
        }
        return first ?? 0
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
        body += "#EXT-X-MAP:\(attributes.text)\n"
    }

    private mutating func writeKeys(_ section: TrackSection, _ keys: inout [String]) {
        guard let candidate = section.candidate else { return }
        let needed = ContentProtectionKeys.keys(candidate.protections)
        guard needed != keys else { return }
        if !keys.isEmpty { body += "#EXT-X-KEY:METHOD=NONE\n" }
        for key in needed { body += "#EXT-X-KEY:\(key)\n" }
        keys = needed
        hasKeys = true
    }

    private mutating func write(_ entry: TrackEntry, _ section: TrackSection, _ shared: Shared) {
        // Rounded boundaries keep the sum of the durations exact to the microsecond.
        let microseconds = max(1, entry.end.microseconds -| entry.start.microseconds)
        let duration = MediaTime(value: microseconds, timescale: 1_000_000)
        if duration.timescale != 1 { hasFractions = true }
        if duration > MediaTime(seconds: shared.targetDuration) { hasLongSegments = true }
        let segment = entry.index.flatMap { section.addressing.segment(at: $0) }
        if segment == nil { body += "#EXT-X-GAP\n" }
        if let range = segment?.resource.byteRange {
            hasByteRanges = true
            body += "#EXT-X-BYTERANGE:\(range.length)@\(range.start)\n"
        }
        body += "#EXTINF:\(duration),\n"
        let address = segment.map { PlaylistText.uri($0.resource.address.text) } ?? "gap"
        body += "\(address.isEmpty ? "." : address)\n"
    }
}

extension MediaTime {
    /// The time in microseconds, rounded to the nearest integer.
    var microseconds: Int64 { scaled(by: MediaTime(seconds: 1_000_000)).roundedSeconds }
}
