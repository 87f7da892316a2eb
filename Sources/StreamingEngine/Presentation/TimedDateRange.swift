public import HLSPlaylist
public import MediaTiming

/// A date range of a stream, and where it lies in the item (RFC 8216bis §4.4.5.1).
public struct TimedDateRange: Sendable {
    /// What the playlist says.
    public let range: DateRange
    /// Its attributes by their names, with variables replaced.
    public let attributes: [String: String]
    /// When it begins in the time of the item; `nil` where the playlist has no media of that date.
    public let start: MediaTime?
    /// The date when it ends; `nil` while that is not known.
    ///
    /// As written, or else from its duration, or where the next of its class begins if it ends there.
    public let endDate: ProgramDateTime?

    /// What names it.
    public var id: String { range.id }
    /// What clients define for its attributes; `nil` where it has none.
    public var classIdentifier: String? { range.classIdentifier }
    /// When it begins.
    public var startDate: ProgramDateTime? { range.startDate }

    /// The date ranges of a timeline's playlist, in their order; those that cannot be read are left out.
    static func ranges(of timeline: PresentationTimeline) -> [TimedDateRange] {
        let ranges = timeline.playlist.dateRanges.filter { $0.startDate != nil }
        return ranges.map { range in
            let position = range.startDate.flatMap { timeline.position(of: $0) }
            return TimedDateRange(
                range: range,
                attributes: Dictionary(
                    range.attributes.compactMap { attribute in
                        range[attribute.name].map { (attribute.name, $0) }
                    }
                ) { first, _ in first },
                start: position?.relation == .inside ? position?.time : nil,
                endDate: end(of: range, among: ranges)
            )
        }
    }

    private static func end(of range: DateRange, among ranges: [DateRange]) -> ProgramDateTime? {
        if let end = range.endDate { return end }
        guard let start = range.startDate else { return nil }
        if let duration = range.duration { return start.advanced(by: duration) }
        guard range.endsOnNext else { return nil }
        return ranges.filter { $0.classIdentifier == range.classIdentifier }.compactMap(\.startDate)
            .filter { $0.sinceEpoch > start.sinceEpoch }
            .min { $0.sinceEpoch < $1.sinceEpoch }
    }
}

extension TimedDateRange: Hashable {
    /// Whether they say the same.
    public static func == (left: TimedDateRange, right: TimedDateRange) -> Bool {
        left.id == right.id && left.start == right.start && left.endDate == right.endDate
            && left.attributes == right.attributes
    }

    /// Tells it from others.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(start)
        hasher.combine(attributes)
    }
}
