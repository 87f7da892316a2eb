import MediaTiming

/// The sources that failed to provide a time range, so that none is tried twice for the same time.
struct FailedSources: Sendable {
    private var range: MediaTimeRange?
    private(set) var sources: Set<StreamSource> = []

    /// Records that a source does not have a time range, and forgets the sources of a previous range.
    ///
    /// Variants may have different segment boundaries, so overlapping ranges count as the same.
    mutating func insert(_ source: StreamSource, for stretch: MediaTimeRange) {
        if let range, range.intersection(stretch) != nil {
            self.range = MediaTimeRange(start: min(range.start, stretch.start), end: max(range.end, stretch.end))
        } else {
            range = stretch
            sources = []
        }
        sources.insert(source)
    }
}
