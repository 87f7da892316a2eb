import HLSPlaylist
public import MediaTiming
import ResourceAddressing

/// A rule that determines segments of a media playlist.
public enum SegmentRule: Sendable, Hashable {
    /// The segments of breaks whose end is announced; a break without an end is not known to contain a segment.
    case breaks(BreakRule)
    /// The segments whose URL contains a text.
    case address(containing: String)
    /// The segments between the boundaries that are nearest to the ends of ranges.
    case ranges([MediaTimeRange])
    /// The segments that correspond to the segments removed from the reference track of the presentation.
    ///
    /// If the removed segments are those of breaks, the second value is the rule that announces these breaks; otherwise
    /// it is `nil`.
    case seams([TrackSeam], of: BreakRule?)

    /// The maximum number of ranges.
    static let maximumRangeCount = 256
    /// The maximum length of a text in bytes.
    static let maximumTextLength = 255
}

extension SegmentRule: LosslessStringConvertible {
    /// The form of the rule in URLs and on the command line, such as `cues` or `10...20,60...70`.
    public var description: String {
        switch self {
        case .breaks(let rule): rule.description
        case .address(let text): "address=\(text)"
        case .ranges(let ranges):
            ranges.isEmpty ? "none" : ranges.map { "\($0.start)...\($0.end)" }.joined(separator: ",")
        case .seams(let seams, let rule):
            Self.seamsPrefix + (seams.map(\.rangeText) + [rule?.description].compactMap(\.self)).joined(separator: ",")
        }
    }

    /// The text before the seams of the reference track.
    private static let seamsPrefix = "seams="

    /// Creates a rule from text of the form `cues`, `class=NAME`, `address=TEXT`, `START...END,START...END` or `none`.
    ///
    /// The form `seams=START...END/NUMBER/NUMBER,…` is for the tracks of a presentation other than the reference track.
    /// Each entry is a range that is removed from the reference track, with the discontinuity sequence numbers before
    /// and after the range. A rule for breaks may follow the entries.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        if text == "none" {
            self = .ranges([])
        } else if text.hasPrefix(Self.seamsPrefix) {
            guard let rule = Self.parsedSeams(text.dropFirst(Self.seamsPrefix.count)) else { return nil }
            self = rule
        } else if text.hasPrefix("address=") {
            let part = text.dropFirst("address=".count)
            guard !part.isEmpty, part.utf8.count <= Self.maximumTextLength else { return nil }
            self = .address(containing: String(part))
        } else if let rule = BreakRule(text) {
            // A break by the clock has no end.
            if case .every = rule.announced { return nil }
            self = .breaks(rule)
        } else {
            let parts = text.split(separator: ",", maxSplits: Self.maximumRangeCount, omittingEmptySubsequences: false)
            let ranges = parts.compactMap { MediaTimeRange(partial: String($0)) }
            guard parts.count <= Self.maximumRangeCount, ranges.count == parts.count else { return nil }
            self = .ranges(ranges)
        }
    }

    /// Returns the rule for seams, with the rule for breaks if one follows; `nil` for any other text.
    private static func parsedSeams(_ text: Substring) -> SegmentRule? {
        var seams: [TrackSeam] = []
        var rest: Substring? = text
        while let entries = rest, seams.count <= maximumRangeCount {
            let end = entries.firstIndex(of: ",") ?? entries.endIndex
            guard let seam = TrackSeam(rangeText: entries[..<end]) else { break }
            seams.append(seam)
            rest = end < entries.endIndex ? entries[entries.index(after: end)...] : nil
        }
        guard !seams.isEmpty, seams.count <= maximumRangeCount else { return nil }
        guard let rest else { return .seams(seams, of: nil) }
        guard let rule = BreakRule(String(rest)), rule == rule.announced else { return nil }
        if case .every = rule { return nil }
        return .seams(seams, of: rule)
    }
}

extension SegmentRule {
    /// The times of the segments if they are known.
    var locations: [MediaTimeRange] {
        switch self {
        case .breaks(let rule): rule.locations
        case .address: []
        case .ranges(let ranges): ranges
        case .seams(let seams, _): seams.map(\.range)
        }
    }

    /// Returns a playlist without the segments that the rule determines, with a discontinuity where segments are removed
    /// between others.
    ///
    /// The tags that announce the removed breaks are removed too.
    ///
    /// - Parameters:
    ///   - playlist: The playlist. It is unchanged if the rule determines no segment.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, followed by `EXT-X-ENDLIST` if its last segments are removed.
    /// - Throws: ``PlaylistEditError``, also for a live playlist, and if no segment would remain.
    func removingSegments(
        from playlist: MediaPlaylist,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        if case .seams(let seams, let breaks) = self {
            let edited = try playlist.cut(at: seams, edit: "exclude \(self)", limits: limits)
            guard let breaks else { return edited }
            return try edited.withoutBreakTags(breaks, edit: "exclude", limits: limits)
        }
        guard !playlist.isLive else {
            throw .cannotStitch(reason: "segments can be excluded only from playlists that are complete")
        }
        let excluded = try positions(in: playlist)
        guard !excluded.isEmpty else { return playlist }
        let count = playlist.segments.count
        let bounds = [0] + excluded.flatMap { [$0.lowerBound, $0.upperBound] } + [count]
        let runs = stride(from: 0, to: bounds.count, by: 2)
            .map { SegmentRun(playlist, bounds[$0]..<bounds[$0 + 1], isPrimary: true) }
            .filter { !$0.positions.isEmpty }
        guard !runs.isEmpty else {
            throw .nothingLeft(filter: "exclude \(self)", available: ["\(count) segments"])
        }
        let edited = try MediaPlaylistAssembly.assemble(primary: playlist, runs: runs, limits: limits)
        guard case .breaks(let breaks) = self else { return edited }
        return try edited.withoutBreakTags(breaks, edit: "exclude", limits: limits)
    }

    /// Returns the positions of the segments that the rule determines, as ranges in order that do not touch each other.
    func positions(in playlist: MediaPlaylist) throws(PlaylistEditError) -> [Range<Int>] {
        switch self {
        case .breaks(.located(let ranges, _)): Self.merged(ranges.map { playlist.positions(betweenBoundariesNear: $0) })
        case .breaks(let rule): Self.merged(try BreakCues(rule, in: playlist).positions(in: playlist))
        case .address(let text):
            Self.merged(
                playlist.segments.indices.filter { playlist.segments[$0].address.text.contains(text) }
                    .map { $0..<($0 + 1) }
            )
        case .ranges(let ranges): Self.merged(ranges.map { playlist.positions(betweenBoundariesNear: $0) })
        case .seams(let seams, _): Self.merged(seams.map { playlist.positions(betweenBoundariesNear: $0.range) })
        }
    }

    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}

extension BreakCues {
    /// Returns the positions of the segments of the breaks whose end is announced.
    ///
    /// A break ends before the segment that announces its end, or at the boundary nearest to the end of its duration,
    /// whichever is first.
    func positions(in playlist: MediaPlaylist) -> [Range<Int>] {
        let clock = SegmentClock(playlist)
        let ends = ends.sorted()
        return starts.compactMap { start in
            let next = ends.partitioningIndex { $0 > start.position }
            var end = next < ends.count ? ends[next] : nil
            // An end after the next start belongs to the next break.
            let following = starts.partitioningIndex { $0.position > start.position }
            if following < starts.count, let known = end, known > starts[following].position { end = nil }
            if let duration = start.duration {
                let first = playlist.segments.timeRange(at: start.position).start
                let begin =
                    if let date = start.date, let clock {
                        first + MediaTime(value: date -| clock.date(of: start.position), timescale: 1_000_000)
                    } else {
                        first
                    }
                let rest = MediaTime(value: max(0, duration -| start.elapsed), timescale: 1_000_000)
                let announced = playlist.boundary(near: begin + rest)
                end = min(end ?? announced, announced)
            }
            guard let end, end > start.position else { return nil }
            return start.position..<end
        }
    }
}

extension EditValueType where Value == SegmentRule {
    /// A rule that determines segments.
    static var segmentRule: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .segmentRule,
                placeholder: "RULE",
                form: "cues, class=NAME, address=TEXT, or ranges START...END in seconds, separated by commas"
            ),
            parse: { SegmentRule($0) },
            format: \.description
        )
    }
}

extension TrackAlignment where Value == SegmentRule {
    /// The rule for an edit that removes segments: the other tracks are cut where the video is cut.
    static var exclude: TrackAlignment {
        TrackAlignment { rule, video, _ in
            guard let positions = try? rule.positions(in: video), positions.count <= SegmentRule.maximumRangeCount
            else {
                return nil
            }
            let seams = positions.map { video.seam(removing: $0) }
            guard case .breaks(let breaks) = rule else {
                return .exclude(seams.isEmpty ? .ranges([]) : .seams(seams, of: nil))
            }
            // The other tracks lose the tags of the breaks too.
            let announced = breaks.announced
            return .exclude(seams.isEmpty ? .breaks(.located(at: [], of: announced)) : .seams(seams, of: announced))
        }
    }
}
