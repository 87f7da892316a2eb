/// The sources of an item that are temporarily excluded, because they failed.
package struct SourceExclusions<Source: Hashable & Sendable>: Sendable {
    private var ends: [Source: Duration] = [:]
    private var missingCounts: [Source: Int] = [:]

    /// Creates a value without exclusions.
    package init() {}

    /// Returns a Boolean value that indicates whether a source is excluded at the given time.
    package func contains(_ source: Source, at now: Duration) -> Bool { ends[source].map { $0 > now } ?? false }

    /// Excludes a source until a time.
    mutating func exclude(_ source: Source, until end: Duration) { ends[source] = end }

    /// Records that a source does not have a segment.
    ///
    /// - Returns: Whether the source has failed to provide `limit` consecutive segments.
    mutating func noteMissingSegment(of source: Source, limit: Int) -> Bool {
        let count = (missingCounts[source] ?? 0) + 1
        missingCounts[source] = count < limit ? count : nil
        return count >= limit
    }

    /// Records that a source provided a segment.
    package mutating func succeeded(_ source: Source) { missingCounts[source] = nil }
}
