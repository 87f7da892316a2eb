import HLSPlaylist
import MediaTiming

/// The starts and the ends of breaks that a playlist announces.
struct BreakCues {
    /// The start of a break.
    struct Start {
        /// The identifier, which is the same whenever the playlist is loaded.
        let id: String
        /// The position of the first segment of the break.
        let position: Int
        /// The date of the start in microseconds since 1970; `nil` if the break starts with its first segment.
        var date: Int64?
        /// The duration of the break in microseconds from its start, or `nil` if it is not announced.
        var duration: Int64?
        /// The time in microseconds by which the break started before its first segment in the playlist.
        var elapsed: Int64 = 0
        /// The identifiers of other date ranges that announce the same break.
        var aliases: [String] = []
        /// The time in microseconds for which another playlist is played, if that is known from another track.
        var played: Int64?
        /// The numbers of the break in another track, which this one joins.
        var otherTrack: OtherTrack?

        /// The identifiers of all cues that announce the break.
        var ids: [String] { [id] + aliases }
    }

    /// The discontinuity sequence numbers of a break in another track.
    struct OtherTrack {
        /// The number of the first segment of what is played.
        let discontinuity: Int64
        /// The difference between the numbers in the edited playlist and in the source after the break; `nil` while it lasts.
        let shift: Int64?
    }

    /// The starts, ordered by position.
    private(set) var starts: [Start] = []
    /// The positions of the segments before which a break ends.
    private(set) var ends: Set<Int> = []
    /// The durations in microseconds that date ranges have by now, which can differ from those that they had first.
    private(set) var durations: [String: Int64] = [:]

    /// The names of tags that contain a splice information section, as their value or as the attribute `CUE`.
    private static let sectionTags: Set<String> = ["EXT-OATCLS-SCTE35", "EXT-X-SCTE35", "EXT-SCTE35"]
    /// The names of all tags that announce breaks.
    static let cueTags = sectionTags.union(["EXT-X-CUE-OUT", "EXT-X-CUE-OUT-CONT", "EXT-X-CUE-IN", "EXT-X-CUE"])
    /// The names of the tags of low-latency playlists (RFC 8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, §4.4.5.2–4), whose media
    /// would be part of a break before it is known to be one.
    private static let lowLatencyTags: Set<String> = [
        "EXT-X-PART-INF", "EXT-X-PART", "EXT-X-PRELOAD-HINT", "EXT-X-RENDITION-REPORT", "EXT-X-SERVER-CONTROL",
    ]

    /// Creates the breaks of a playlist.
    ///
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if the rule requires dates and the playlist has none.
    init(_ rule: BreakRule, in playlist: MediaPlaylist) throws(PlaylistEditError) {
        let clock = SegmentClock(playlist)
        switch rule {
        case .cues:
            readTags(of: playlist)
            readDateRanges(of: playlist, clock) { range in Self.signal(of: range) }
        case .dateRanges(let name):
            readDateRanges(of: playlist, clock) { range in
                range.classIdentifier == name ? .breakStart(duration: nil) : nil
            }
        case .every(let interval):
            guard let clock = clock ?? (playlist.isLive ? nil : SegmentClock(playlist, epoch: 0)) else {
                throw .cannotStitch(reason: "breaks by the clock require a live playlist with EXT-X-PROGRAM-DATE-TIME")
            }
            let permitted = max(interval, BreakRule.intervals.lowerBound)
            readIntervals(permitted.microseconds, clock, hasDates: playlist.segments.first?.programDateTime != nil)
        case .located(let ranges, _):
            guard !playlist.isLive else {
                throw .cannotStitch(reason: "the times of breaks are known only in complete playlists")
            }
            for (index, range) in ranges.enumerated() { locate(range, index, in: playlist) }
        }
        starts.sort { ($0.position, $0.id) < ($1.position, $1.id) }
    }

    // MARK: Tags

    private mutating func readTags(of playlist: MediaPlaylist) {
        guard playlist.unknownTags.contains(where: { Self.cueTags.contains($0.name) }) else { return }
        for position in playlist.segments.indices {
            var start: Start?
            for line in playlist.lines(ofSegment: position) where line.tag == nil && !line.isURI {
                let text = playlist.text(line.text)
                guard text.hasPrefix("#EXT") else { continue }
                let parts = text.dropFirst().split(separator: ":", maxSplits: 1)
                guard let name = parts.first.map(String.init), Self.cueTags.contains(name) else { continue }
                let value = parts.count > 1 ? String(parts[1]) : ""
                let id = "\(playlist.segments[position].sequence)"
                switch name {
                case "EXT-X-CUE-OUT":
                    let duration = Self.duration(in: value) ?? start?.duration
                    start = Start(id: id, position: position, duration: duration)
                case "EXT-X-CUE-OUT-CONT" where position == 0 && start == nil:
                    guard let (elapsed, duration) = Self.progress(in: value) else { continue }
                    start = Start(id: id, position: position, duration: duration, elapsed: elapsed)
                case "EXT-X-CUE-IN": ends.insert(position)
                case _ where Self.sectionTags.contains(name):
                    switch Self.section(in: value)?.signal {
                    case .breakStart(let duration) where start == nil:
                        start = Start(id: id, position: position, duration: duration?.microseconds)
                    case .breakStart(let duration):
                        if start?.duration == nil { start?.duration = duration?.microseconds }
                    case .breakEnd: ends.insert(position)
                    case nil: break
                    }
                default: break
                }
            }
            if let start { starts.append(start) }
        }
    }

    /// Returns the duration in the value of `EXT-X-CUE-OUT`: a number or the attribute `DURATION`, possibly in quotation marks.
    private static func duration(in value: String) -> Int64? {
        let attributes = AttributeList(Array(value.utf8), in: 0..<value.utf8.count)
        let written = attributes["DURATION"] ?? value.filter { $0 != "\"" && $0 != " " }
        return MediaTime(decimal: written).flatMap { $0 < .zero ? nil : $0.microseconds }
    }

    /// Returns the elapsed time and the duration in the value of `EXT-X-CUE-OUT-CONT`: `ELAPSED/DURATION` or attributes.
    private static func progress(in value: String) -> (elapsed: Int64, duration: Int64?)? {
        let numbers = value.split(separator: "/")
        if numbers.count == 2, let elapsed = MediaTime(decimal: numbers[0]),
            let duration = MediaTime(decimal: numbers[1])
        {
            return elapsed < .zero ? nil : (elapsed.microseconds, duration.microseconds)
        }
        let attributes = AttributeList(Array(value.utf8), in: 0..<value.utf8.count).attributes
        func time(_ name: String) -> MediaTime? {
            attributes.first { $0.name.uppercased() == name }.flatMap { MediaTime(decimal: $0.value) }
        }
        return time("ELAPSEDTIME").flatMap { $0 < .zero ? nil : ($0.microseconds, time("DURATION")?.microseconds) }
    }

    private static func section(in value: String) -> SpliceInformation? {
        let attributes = AttributeList(Array(value.utf8), in: 0..<value.utf8.count)
        return SpliceInformation(text: attributes["CUE"] ?? value)
    }

    // MARK: Date ranges

    /// The maximum number of bytes of an identifier that is stored as it is.
    private static let maximumIdentifierSize = 64

    /// Returns the identifier under which a break is stored: that of its date range, or a hash of one that is long.
    ///
    /// The identifiers of one playlist are compared only with each other, so that a source which makes two hashes equal could as well use
    /// equal identifiers. The result is the identifier of itself.
    static func identifier(_ id: String) -> String {
        let size = id.utf8.count
        guard size > maximumIdentifierSize else { return id }
        return "hash-\(String(StableHash(id).value, radix: 16))-\(size)"
    }

    /// Returns the meaning of the SCTE 35 commands of a date range.
    private static func signal(of range: DateRange) -> SpliceInformation.Signal? {
        if range["SCTE35-OUT"] != nil {
            // The name of the attribute is the signal, whatever the command contains.
            if case .breakStart(let duration) = range.spliceOut.flatMap({ SpliceInformation($0)?.signal }) {
                return .breakStart(duration: duration)
            }
            return .breakStart(duration: nil)
        }
        return range.spliceCommand.flatMap { SpliceInformation($0)?.signal }
    }

    private mutating func readDateRanges(
        of playlist: MediaPlaylist,
        _ clock: SegmentClock?,
        signal: (DateRange) -> SpliceInformation.Signal?
    ) {
        guard let clock else { return }
        var earlier: Int?
        var indexes = Dictionary(starts.enumerated().map { ($1.position, $0) }, uniquingKeysWith: { first, _ in first })
        for range in playlist.dateRanges {
            guard let date = range.startDate, let signal = signal(range) else { continue }
            let start = date.sinceEpoch.microseconds
            guard case .breakStart(let commanded) = signal else {
                if let position = clock.position(at: start) { ends.insert(position) }
                continue
            }
            let end = range.endDate?.sinceEpoch.microseconds
            let announced = range.duration ?? end.map { MediaTime(value: $0 -| start, timescale: 1_000_000) }
            let duration = (announced ?? range.plannedDuration ?? commanded)?.microseconds
            guard let position = clock.position(at: start) else { continue }
            let id = Self.identifier(range.id)
            let known = duration.map { max(0, $0) }
            // A break may be announced by tags as well, and by the date ranges of a provider and of a distributor.
            let boundary = clock.boundaryRange(of: position)
            let isAtBoundary = boundary.contains(start)
            // Before the playlist, those of about the same date are the same break.
            let half = (boundary.upperBound -| boundary.lowerBound) / 2
            let isEarlier = earlier.map { abs((starts[$0].date ?? .max) -| start) <= half } ?? false
            let same = isAtBoundary ? indexes[position] : isEarlier ? earlier : nil
            if let index = same {
                let former = starts[index]
                starts[index].aliases.append(id)
                starts[index].duration = [former.duration, known].compactMap(\.self).max()
                if announced != nil, former.duration == nil || durations[former.id] != nil {
                    durations[former.id] = starts[index].duration
                }
                continue
            }
            if isAtBoundary { indexes[position] = starts.count } else { earlier = starts.count }
            starts.append(Start(id: id, position: position, date: start, duration: known))
            if announced != nil { durations[id] = known }
        }
    }

    // MARK: Known breaks

    /// Adds a break between the boundaries that are nearest to the ends of a range.
    ///
    /// A break that is shorter than a segment of this track replaces nothing in it.
    private mutating func locate(_ range: MediaTimeRange, _ index: Int, in playlist: MediaPlaylist) {
        let segments = playlist.segments
        let positions = playlist.positions(betweenBoundariesNear: range)
        guard !segments.isEmpty, !positions.isEmpty || range.start == range.end else { return }
        let first = min(positions.lowerBound, segments.count - 1)
        let duration =
            positions.isEmpty
            ? .zero : segments.timeRange(at: positions.upperBound - 1).end - segments.timeRange(at: first).start
        // The identifiers of breaks at one position have the order of the ranges.
        let digits = String(index)
        let id = "at-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        var start = Start(id: id, position: first, duration: duration.microseconds)
        if !positions.isEmpty, range.end < MediaTimeRange.unbounded.end {
            start.played = (range.end - range.start).microseconds
        }
        starts.append(start)
    }

    /// Adds a break that began before the first segment, and is known from another track.
    mutating func resume(_ id: String, date: Int64, duration: Int64, elapsed: Int64, _ other: OtherTrack) {
        var start = Start(id: id, position: 0, date: date, duration: duration, elapsed: elapsed)
        start.otherTrack = other
        starts.insert(start, at: 0)
    }

    // MARK: Clock

    private mutating func readIntervals(_ interval: Int64, _ clock: SegmentClock, hasDates: Bool) {
        for position in clock.positions {
            let range = clock.boundaryRange(of: position)
            let number = (range.upperBound &- 1).quotientRoundedDown(dividingBy: interval)
            let date = number *| interval
            guard range.contains(date), hasDates || number > 0 else { continue }
            // The break starts with the segment whose start is nearest to the date.
            starts.append(Start(id: "every-\(number)", position: position, date: date))
        }
    }
}

/// The dates of the segments of a playlist.
struct SegmentClock {
    /// The dates in microseconds since 1970; `nil` for segments without one.
    private let dates: [Int64]
    private let durations: [Int64]

    /// Creates the clock of a playlist, or returns `nil` if its first segment has no date.
    init?(_ playlist: MediaPlaylist) {
        guard playlist.segments.first?.programDateTime != nil else { return nil }
        var dates: [Int64] = []
        for segment in playlist.segments {
            let date = segment.programDateTime?.sinceEpoch.microseconds
            dates.append(date ?? dates.last ?? 0)
        }
        self.dates = dates
        durations = playlist.segments.map(\.duration.microseconds)
    }

    /// Creates the clock of a playlist without dates, whose first segment starts at `epoch`.
    init(_ playlist: MediaPlaylist, epoch: Int64) {
        dates = playlist.segments.map { epoch +| $0.start.microseconds }
        durations = playlist.segments.map(\.duration.microseconds)
    }

    var positions: Range<Int> { dates.indices }

    func date(of position: Int) -> Int64 { dates[position] }

    /// Returns the dates to which the start of a segment is the nearest boundary.
    func boundaryRange(of position: Int) -> Range<Int64> {
        let middle = dates[position] +| durations[position] / 2
        let previous = position > 0 ? dates[position - 1] +| durations[position - 1] / 2 : nil
        let lower = previous ?? (dates[position] -| durations[position] / 2)
        return min(lower, middle)..<middle
    }

    /// Returns the position of the segment whose start is nearest to a date, or 0 for an earlier date; `nil` if the date is
    /// after the last segment.
    func position(at date: Int64) -> Int? {
        let position = dates.indices.partitioningIndex { dates[$0] +| durations[$0] / 2 > date }
        return position < dates.count ? position : nil
    }
}

extension MediaPlaylist {
    /// Returns the playlist without the tags that announce breaks and without those of low-latency playlists.
    func withoutBreakTags(
        _ rule: BreakRule,
        edit: String,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let playlist = Playlist.media(self)
        var patch = PlaylistPatch()
        for entry in playlist.tagEntries where BreakCues.removes(entry, of: bytes, rule) { patch.remove(entry.line) }
        return try playlist.patched(patch, edit: edit, limits: limits).asMedia(after: edit)
    }
}

extension BreakCues {
    /// Returns a Boolean value that indicates whether a tag has no meaning once breaks are replaced.
    static func removes(_ entry: Playlist.TagEntry, of bytes: [UInt8], _ rule: BreakRule) -> Bool {
        if lowLatencyTags.contains(entry.name) { return true }
        let rule = rule.announced
        guard entry.tag == .dateRange else { return rule == .cues && cueTags.contains(entry.name) }
        let value = min(entry.text.lowerBound + entry.name.utf8.count + 2, entry.text.upperBound)
        let attributes = AttributeList(bytes, in: value..<entry.text.upperBound)
        switch rule {
        case .cues:
            return ["SCTE35-OUT", "SCTE35-IN", "SCTE35-CMD"].contains { attributes[$0] != nil }
        case .dateRanges(let name): return attributes["CLASS"] == name
        case .every, .located: return false
        }
    }
}

extension MediaTime {
    /// The time in microseconds, rounded toward zero.
    var microseconds: Int64 {
        // Bounded: the product of 64 bits and 20 bits fits in 128 bits.
        Int64(clamping: Int128(value) * 1_000_000 / Int128(timescale))
    }
}

extension Int64 {
    /// Returns the quotient of the division by a positive number, rounded down.
    fileprivate func quotientRoundedDown(dividingBy divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient -| 1 : quotient
    }
}
