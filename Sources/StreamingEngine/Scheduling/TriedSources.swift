import MediaTiming

/// Where a stretch of media was asked for in vain, so that no source is asked twice for the same time.
struct TriedSources: Sendable {
    private var range: MediaTimeRange?
    private(set) var sources: Set<StreamSource> = []

    /// Notes that a source does not have a stretch; what is known of another stretch is forgotten.
    ///
    /// Variants need not be cut at the same times: stretches that overlap are taken for the same.
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
