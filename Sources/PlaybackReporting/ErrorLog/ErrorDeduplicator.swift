/// A filter that removes duplicate errors: a terminal error is often reported when it occurs and again at the end of
/// playback.
struct ErrorDeduplicator: Sendable, Hashable {
    private var last: PlaybackErrorRecord?

    /// Returns the error that an event reports.
    ///
    /// Returns `nil` for other events, and for the end of playback due to the last reported error.
    mutating func newError(in kind: PlaybackEvent.Kind) -> PlaybackErrorRecord? {
        switch kind {
        case .error(let record):
            last = record
            return record
        case .failedToPlayToEnd(let record):
            guard record != last else { return nil }
            last = record
            return record
        case .statusChanged, .playbackTypeKnown, .rateChanged, .timeControlChanged, .resourceRequest, .segmentLoaded,
            .segmentSkipped, .likelyToKeepUp, .stalled, .stallEnded, .seekStarted, .seekEnded, .timeJumped,
            .variantSwitchStarted, .variantSwitched, .pathwayChanged, .selectionChanged, .tracksChanged,
            .seekableRangeChanged, .timedMetadata, .frames, .playedToEnd, .ended:
            return nil
        }
    }
}
