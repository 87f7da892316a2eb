public import MediaTiming
public import PlaybackReporting

/// A measurement of playback, named after the subclasses of `AVMetricEvent`.
public struct MetricEvent: Sendable, Hashable {
    /// The date of the event, as the time since 1970-01-01 00:00:00 UTC.
    public let date: Duration
    /// The position of the playhead; `nil` before it had one.
    public let mediaTime: MediaTime?
    /// The session identifier, as in logs.
    public let sessionID: String
    /// The measurement.
    public let kind: Kind

    /// The kinds of measurements.
    public enum Kind: Sendable, Hashable {
        /// A playlist was requested (`AVMetricHLSPlaylistRequestEvent`).
        case playlistRequest(ResourceRequest)
        /// A media segment or an initialization section was requested (`AVMetricHLSMediaSegmentRequestEvent`).
        case mediaSegmentRequest(ResourceRequest)
        /// A key was requested (`AVMetricContentKeyRequestEvent`).
        case contentKeyRequest(ResourceRequest)
        /// Another resource was requested (`AVMetricMediaResourceRequestEvent`).
        case resourceRequest(ResourceRequest)
        /// The buffer suffices to play without a stall (`AVMetricPlayerItemLikelyToKeepUpEvent`; the first time in a
        /// session, `AVMetricPlayerItemInitialLikelyToKeepUpEvent`).
        case likelyToKeepUp(LikelyToKeepUpReport)
        /// The rate of the playhead changed (`AVMetricPlayerItemRateChangeEvent`).
        case rateChange(RateChange)
        /// Playback stalled because the buffer was empty (`AVMetricPlayerItemStallEvent`).
        case stall
        /// A seek started (`AVMetricPlayerItemSeekEvent`).
        case seek(to: MediaTime)
        /// A seek ended (`AVMetricPlayerItemSeekDidCompleteEvent`).
        case seekDidComplete(SeekRecord)
        /// A switch to another variant started (`AVMetricPlayerItemVariantSwitchStartEvent`).
        case variantSwitchStart(VariantSwitch)
        /// A switch to another variant ended: the variant is played, or it could not be loaded
        /// (`AVMetricPlayerItemVariantSwitchEvent`).
        case variantSwitch(VariantSwitch, didSucceed: Bool)
        /// An error occurred (`AVMetricErrorEvent`).
        case error(PlaybackErrorRecord)
        /// The session ended, with a summary of it (`AVMetricPlayerItemPlaybackSummaryEvent`).
        case playbackSummary(PlaybackSummary)
    }

    /// Creates a measurement from an event; `nil` if the event is not a measurement.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - session: The session in which the event occurred.
    ///   - summary: The summary of the session, evaluated only for the event that ends it.
    init?(_ event: PlaybackEvent, session: PlaybackSession, summary: @autoclosure () -> PlaybackSummary) {
        switch event.kind {
        case .resourceRequest(let request): kind = Self.kind(of: request)
        case .likelyToKeepUp(let report): kind = .likelyToKeepUp(report)
        case .rateChanged(let change): kind = .rateChange(change)
        case .stalled: kind = .stall
        case .seekStarted(let target): kind = .seek(to: target)
        case .seekEnded(let outcome): kind = .seekDidComplete(outcome)
        case .variantSwitchStarted(let change): kind = .variantSwitchStart(change)
        case .variantSwitched(let change, let succeeded): kind = .variantSwitch(change, didSucceed: succeeded)
        // An error that ends playback was reported before as an error event.
        case .error(let record): kind = .error(record)
        case .ended: kind = .playbackSummary(summary())
        case .statusChanged, .playbackTypeKnown, .timeControlChanged, .segmentLoaded, .segmentSkipped, .stallEnded,
            .timeJumped, .pathwayChanged, .selectionChanged, .tracksChanged, .seekableRangeChanged, .timedMetadata,
            .frames, .playedToEnd, .failedToPlayToEnd:
            return nil
        }
        date = session.date(at: event.time)
        mediaTime = event.mediaTime
        sessionID = session.id
    }

    private static func kind(of request: ResourceRequest) -> Kind {
        switch request.kind {
        case .multivariantPlaylist, .mediaPlaylist: .playlistRequest(request)
        case .mediaSegment, .initialization: .mediaSegmentRequest(request)
        case .contentKey: .contentKeyRequest(request)
        case .other: .resourceRequest(request)
        }
    }
}

extension EventUpdates where Event == MetricEvent {
    /// Returns a sequence of these measurements and others, in the order of their dates (`chronologicalMerge(with:)` of
    /// `AVMetrics`).
    ///
    /// Elements that were already returned cannot be reordered: a measurement that arrives after one with a later date
    /// follows it.
    ///
    /// - Parameter others: The measurements of other items or of other kinds.
    /// - Returns: The merged sequence, which ends when all of its sources have ended.
    public func chronologicalMerge(with others: EventUpdates<MetricEvent>...) -> EventUpdates<MetricEvent> {
        EventUpdates(merging: [self] + others) { $0.date < $1.date }
    }
}
