public import HLSPlaylist
public import MediaTiming

/// A date range of a stream with its position in the item (RFC 8216bis §4.4.5.1).
public struct TimedDateRange: Sendable {
    /// The maximum number of date ranges for a playlist; if there are more, those with the latest start dates are used.
    ///
    /// A live playlist that spans several days may contain more date ranges.
    public static let maximumCount = 2000

    /// The date range in the playlist.
    public let range: DateRange
    /// The start in the time of the item, or `nil` if the playlist has no media with that date.
    public let start: MediaTime?
    /// The start date.
    public let startDate: ProgramDateTime
    /// The end date, or `nil` if it is unknown.
    ///
    /// It is the declared end date, otherwise the start date plus the duration, otherwise, with `END-ON-NEXT`, the
    /// start of the next date range of the same class.
    public let endDate: ProgramDateTime?

    /// The identifier of the date range.
    public var id: String { range.id }
    /// The class of the date range, which defines the semantics of its attributes, or `nil` if it has none.
    public var classIdentifier: String? { range.classIdentifier }

    /// The attributes by name, with variables substituted; computed on each access.
    public var attributes: [String: String] {
        Dictionary(range.attributes.compactMap { attribute in range[attribute.name].map { (attribute.name, $0) } }) {
            first,
            _ in first
        }
    }

    /// Returns whether the date range has an attribute with one of the given names.
    public func hasAttribute(in names: Set<String>) -> Bool { range.attributes.contains { names.contains($0.name) } }

    /// Returns the date ranges of a timeline's playlist in order; those without a valid start date are left out.
    ///
    /// - Parameter timeline: The timeline, which determines the positions.
    /// - Returns: At most ``maximumCount`` date ranges.
    static func ranges(of timeline: PresentationTimeline) -> [TimedDateRange] {
        var dated = timeline.playlist.dateRanges.enumerated().compactMap { index, range in
            range.startDate.map { Dated(index: index, range: range, start: $0) }
        }
        if dated.count > maximumCount {
            dated.sort { ($0.start.sinceEpoch, $0.index) > ($1.start.sinceEpoch, $1.index) }
            dated = Array(dated.prefix(maximumCount))
            dated.sort { $0.index < $1.index }
        }
        let followers = followers(of: dated)
        let index = timeline.dateIndex
        return dated.map { dated in
            TimedDateRange(
                range: dated.range,
                start: position(of: dated.start, in: index, on: timeline),
                startDate: dated.start,
                endDate: end(of: dated, followers[dated.index])
            )
        }
    }

    /// Returns the time of a date if there is media with that date, or if the timeline ends with it.
    private static func position(
        of date: ProgramDateTime,
        in index: DateIndex,
        on timeline: PresentationTimeline
    ) -> MediaTime? {
        guard let found = index.position(of: date) else { return nil }
        let position = DatePosition(time: MediaTime(nanoseconds: found.place), relation: found.relation)
        if position.relation == .inside { return position.time }
        guard position.relation == .afterEnd, !timeline.isLive else { return nil }
        let last = MediaTime(value: 1, timescale: 1000)
        guard let end = timeline.date(at: timeline.end - last) else { return nil }
        // Playlists round durations, so their sum rarely matches a date to the millisecond.
        return date.sinceEpoch - end.sinceEpoch - last <= MediaTime(value: 1, timescale: 10) ? timeline.end : nil
    }

    /// A date range of a playlist with its start date.
    private struct Dated {
        let index: Int
        let range: DateRange
        let start: ProgramDateTime
    }

    /// Returns the start of the next date range of the same class, for each date range that ends on the next one.
    private static func followers(of ranges: [Dated]) -> [Int: ProgramDateTime] {
        guard ranges.contains(where: \.range.endsOnNext) else { return [:] }
        var followers: [Int: ProgramDateTime] = [:]
        for members in Dictionary(grouping: ranges, by: \.range.classIdentifier).values {
            var next: ProgramDateTime?
            var last: ProgramDateTime?
            for range in members.sorted(by: { $0.start.sinceEpoch > $1.start.sinceEpoch }) {
                // Date ranges with the same start have the same successor.
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
    /// Returns whether two date ranges have the same identifier, times and attributes.
    public static func == (left: TimedDateRange, right: TimedDateRange) -> Bool {
        left.id == right.id && left.start == right.start && left.endDate == right.endDate
            && left.range.attributes.elementsEqual(right.range.attributes) {
                $0.name == $1.name && $0.value == $1.value
            }
    }

    /// Hashes the identifier and the times.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(start)
        hasher.combine(endDate)
    }
}
