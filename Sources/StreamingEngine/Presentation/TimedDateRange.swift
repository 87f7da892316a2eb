public import HLSPlaylist
public import MediaTiming

/// A date range of a stream, and where it lies in the item (RFC 8216bis §4.4.5.1).
public struct TimedDateRange: Sendable {
    /// So many date ranges of a playlist are told, those that begin last: a live one of days may have more.
    public static let mostRanges = 2000

    /// What the playlist says.
    public let range: DateRange
    /// When it begins in the time of the item; `nil` where the playlist has no media of that date.
    public let start: MediaTime?
    /// The date when it begins.
    public let startDate: ProgramDateTime
    /// The date when it ends; `nil` while that is not known.
    ///
    /// As written, or else from its duration, or where the next of its class begins if it ends there.
    public let endDate: ProgramDateTime?

    /// What names it.
    public var id: String { range.id }
    /// What clients define for its attributes; `nil` where it has none.
    public var classIdentifier: String? { range.classIdentifier }

    /// Its attributes by their names, with variables replaced; made anew each time.
    public var attributes: [String: String] {
        Dictionary(range.attributes.compactMap { attribute in range[attribute.name].map { (attribute.name, $0) } }) {
            first,
            _ in first
        }
    }

    /// Whether it has an attribute of one of these names.
    public func hasAttribute(in names: Set<String>) -> Bool { range.attributes.contains { names.contains($0.name) } }

    /// The date ranges of a timeline's playlist, in their order; those that cannot be read are left out.
    ///
    /// - Parameter timeline: Where they are to lie.
    /// - Returns: ``mostRanges`` at most.
    static func ranges(of timeline: PresentationTimeline) -> [TimedDateRange] {
        var dated = timeline.playlist.dateRanges.enumerated().compactMap { index, range in
            range.startDate.map { Dated(index: index, range: range, start: $0) }
        }
        if dated.count > mostRanges {
            dated.sort { ($0.start.sinceEpoch, $0.index) > ($1.start.sinceEpoch, $1.index) }
            dated = Array(dated.prefix(mostRanges))
            dated.sort { $0.index < $1.index }
        }
        let followers = followers(of: dated)
        let index = timeline.dateIndex
        return dated.map { dated in
            TimedDateRange(
                range: dated.range,
                start: place(of: dated.start, in: index, on: timeline),
                startDate: dated.start,
                endDate: end(of: dated, followers[dated.index])
            )
        }
    }

    /// Where a date lies, where there is media of it or what there is ends with it.
    private static func place(
        of date: ProgramDateTime,
        in index: DateIndex,
        on timeline: PresentationTimeline
    ) -> MediaTime? {
        guard let found = index.place(of: date) else { return nil }
        let position = DatePosition(time: MediaTime(nanoseconds: found.place), relation: found.relation)
        if position.relation == .inside { return position.time }
        guard position.relation == .afterEnd, !timeline.isLive else { return nil }
        let last = MediaTime(value: 1, timescale: 1000)
        guard let end = timeline.date(at: timeline.end - last) else { return nil }
        // Playlists round durations: the sum of them seldom meets a date to the millisecond.
        return date.sinceEpoch - end.sinceEpoch - last <= MediaTime(value: 1, timescale: 10) ? timeline.end : nil
    }

    /// A date range of a playlist, and the date when it begins.
    private struct Dated {
        let index: Int
        let range: DateRange
        let start: ProgramDateTime
    }

    /// When the next of its class begins, for each that ends there.
    private static func followers(of ranges: [Dated]) -> [Int: ProgramDateTime] {
        guard ranges.contains(where: \.range.endsOnNext) else { return [:] }
        var followers: [Int: ProgramDateTime] = [:]
        for members in Dictionary(grouping: ranges, by: \.range.classIdentifier).values {
            var next: ProgramDateTime?
            var last: ProgramDateTime?
            for range in members.sorted(by: { $0.start.sinceEpoch > $1.start.sinceEpoch }) {
                // Those that begin together are followed by the same.
                if let last, last.sinceEpoch > range.start.sinceEpoch { next = last }
                last = range.start
                followers[range.index] = next
            }
        }
        return followers
    }

    private static func end(of dated: Dated, _ follower: ProgramDateTime?) -> ProgramDateTime? {
        if let end = dated.range.endDate { return end }
        if let duration = dated.range.duration { return dated.start.advanced(by: duration) }
        return dated.range.endsOnNext ? follower : nil
    }
}

extension TimedDateRange: Hashable {
    /// Whether they say the same.
    public static func == (left: TimedDateRange, right: TimedDateRange) -> Bool {
        left.id == right.id && left.start == right.start && left.endDate == right.endDate
            && left.range.attributes.elementsEqual(right.range.attributes) {
                $0.name == $1.name && $0.value == $1.value
            }
    }

    /// Tells it from others.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(start)
        hasher.combine(endDate)
    }
}
