public import MediaTiming
public import PlaybackReporting

/// A measurement of playback, under the names of `AVMetricEvent`.
public struct MetricEvent: Sendable, Hashable {
    /// When, as the time since 1970-01-01 00:00:00 UTC.
    public let date: Duration
    /// Where the play head was; `nil` before there was one.
    public let mediaTime: MediaTime?
    /// The session, as logs name it.
    public let sessionID: String
    /// What was measured.
    public let kind: Kind

    /// What was measured.
    public enum Kind: Sendable, Hashable {
        /// A playlist was asked for (`AVMetricHLSPlaylistRequestEvent`).
        case playlistRequest(ResourceRequest)
        /// Media, or what a decoder needs before it, was asked for (`AVMetricHLSMediaSegmentRequestEvent`).
        case mediaSegmentRequest(ResourceRequest)
        /// A key was asked for (`AVMetricContentKeyRequestEvent`).
        case contentKeyRequest(ResourceRequest)
        /// Anything else was asked for (`AVMetricMediaResourceRequestEvent`).
        case resourceRequest(ResourceRequest)
        /// What is buffered suffices (`AVMetricPlayerItemLikelyToKeepUpEvent`, and for the first time the `Initial` one).
        case likelyToKeepUp(KeepUp)
        /// The play head moves at another speed (`AVMetricPlayerItemRateChangeEvent`).
        case rateChange(RateChange)
        /// There is nothing left to play (`AVMetricPlayerItemStallEvent`).
        case stall
        /// The play head is to be elsewhere (`AVMetricPlayerItemSeekEvent`).
        case seek(to: MediaTime)
        /// The play head is there (`AVMetricPlayerItemSeekDidCompleteEvent`).
        case seekDidComplete(SeekOutcome)
        /// Another variant was chosen (`AVMetricPlayerItemVariantSwitchStartEvent`).
        case variantSwitchStart(VariantSwitch)
        /// Another variant is played, or could not be had (`AVMetricPlayerItemVariantSwitchEvent`).
        case variantSwitch(VariantSwitch, didSucceed: Bool)
        /// Something failed (`AVMetricErrorEvent`).
        case error(PlaybackErrorRecord)
        /// The session is over, in a few figures (`AVMetricPlayerItemPlaybackSummaryEvent`).
        case playbackSummary(PlaybackSummary)
    }

    /// Makes a measurement of an event; `nil` for what is no measurement.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - session: In which session.
    ///   - summary: The session in figures, for its end.
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
        // What ends playing was told as an error before.
        case .error(let record): kind = .error(record)
        case .ended: kind = .playbackSummary(summary())
        default: return nil
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
    /// These measurements together with others, in the order of their dates (`chronologicalMerge(with:)` of `AVMetrics`).
    ///
    /// What was given cannot be taken back: a measurement that comes later than one with a later date follows that one.
    ///
    /// - Parameter others: Of other items, or of other kinds.
    /// - Returns: All of them; it ends when all have ended.
    public func chronologicalMerge(with others: EventUpdates<MetricEvent>...) -> EventUpdates<MetricEvent> {
        EventUpdates(merging: [self] + others) { $0.date < $1.date }
    }
}
