import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The decision which segment of a track is fetched next, and from which variant.
enum SegmentPlanner {
    /// A decision about the next step of a track.
    enum Decision: Sendable {
        /// The track waits for an event, or until a time.
        case wait(until: Duration?)
        /// The playlist of the source must be loaded.
        case loadPlaylist(StreamSource)
        case fetch(SegmentReference)
        /// The segment has no media, and becomes a gap.
        case pass(SegmentReference)
        /// The playlist lists no segments for the range.
        case jump(MediaTimeRange)
        /// The audio comes muxed with the video from here on.
        case useMuxedAudio
        /// Another source was selected, for which the decision must be made again.
        case decideAgain
    }

    /// The time after which a transfer is considered again that waits for the end of others, because of their size.
    private static let pauseForMemory = Duration.milliseconds(200)

    /// Decides the next step of a track.
    static func decide(
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Decision {
        guard let source = plan.tracks[kind].source else { return .wait(until: nil) }
        if let time = plan.tracks[kind].failures.retryTime {
            if time > moment.now { return .wait(until: time) }
            plan.tracks[kind].failures.retryTime = nil
        }
        if plan.tracks[kind].failures.terminalError != nil || plan.catalog.renewal.isAwaited(by: source) {
            return .wait(until: nil)
        }
        let isTrickPlay = kind == .main && plan.tracks.trickPlay.isActive
        if isTrickPlay, plan.tracks.trickPlay.isLeaving || plan.catalog.isExcluded(source, at: moment.now) {
            return .wait(until: nil)
        }
        guard plan.tracks[kind].playlistSource == source, let timeline = plan.tracks[kind].timeline else {
            return .loadPlaylist(source)
        }
        guard let position = fetchPosition(in: timeline, moment) else { return .wait(until: nil) }
        let scheduler = scheduler(for: kind, at: position, plan.tracks, moment)
        switch scheduler.nextStep(in: timeline) {
        case .fetch(let segment) where isTrickPlay:
            return .fetch(
                TrickPlay.frame(
                    segment,
                    in: timeline,
                    plan.tracks.main.buffer.current,
                    rate: moment.desiredRate,
                    isBackward: moment.isBackward
                )
            )
        case .fetch(let segment):
            guard kind == .main, !plan.tracks.main.isVariantDecided else { return .fetch(segment) }
            if let time = chooseVariant(for: segment, scheduler, &plan, moment, &sink) { return .wait(until: time) }
            // Another variant may have been selected, whose playlist is not loaded.
            return plan.tracks.main.source == source ? .fetch(segment) : .decideAgain
        case .skip(let segment): return .pass(segment)
        case .gap(let range): return .jump(range)
        case .wait(let until):
            let time = moment.seek == nil ? moment.time(reaching: until) : nil
            guard plan.tracks.isOutOfMemoryForTransfers(moment), !plan.tracks.isOutOfMemory(moment) else {
                return .wait(until: time)
            }
            // A transfer of another track may end without an event, when it is canceled.
            return .wait(until: max(time ?? .zero, moment.now + pauseForMemory))
        case .complete where kind == .audio && plan.tracks.separateAudioEnd != nil && !moment.isBackward:
            return .useMuxedAudio
        case .awaitPlaylist, .complete: return .wait(until: nil)
        }
    }

    private static func scheduler(
        for kind: TrackKind,
        at position: MediaTime,
        _ tracks: TrackSet,
        _ moment: PlaybackMoment
    ) -> SegmentScheduler {
        var end = moment.limits.forwardEnd
        // Media after the target of a seek is needed, even after the end of playback.
        if let asked = end, moment.seek != nil { end = max(asked, position + MediaTime(value: 1, timescale: 20)) }
        return SegmentScheduler(
            position: position,
            loaded: tracks.current(of: kind),
            capacity: tracks.capacity(moment),
            end: kind == .audio ? tracks.separateAudioEnd ?? end : end,
            isByteLimitReached: tracks.isOutOfMemoryForTransfers(moment),
            requiresExactFrame: moment.seek != nil,
            isReverse: moment.isBackward
        )
    }

    /// Returns the position at which media is needed: the target of a seek, or the playhead.
    private static func fetchPosition(in timeline: PresentationTimeline, _ moment: PlaybackMoment) -> MediaTime? {
        if let seek = moment.seek { return PlaybackMoment.mediaTime(shownAt: seek.target, in: timeline) }
        return moment.isPositioned ? moment.position : nil
    }

    /// Selects the variant of the next segment.
    ///
    /// - Returns: The time at which the selection is made again; `nil` to fetch the segment now.
    private static func chooseVariant(
        for segment: SegmentReference,
        _ scheduler: SegmentScheduler,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Duration? {
        guard let current = plan.fetchedVariant, let timeline = plan.tracks.main.timeline else { return nil }
        plan.catalog.chooser.networkCost = sink.networkCost
        plan.catalog.choosePathway(at: moment.now)
        let context = VariantChooser.Context(
            current: current,
            isFirst: plan.tracks.main.buffer.entries.isEmpty,
            bufferLevel: scheduler.bufferedDuration.duration,
            capacity: max(scheduler.capacity, segment.duration * 2).duration,
            segment: segment,
            timeline: timeline,
            rate: moment.desiredRate == 0 ? 1 : abs(moment.desiredRate),
            now: moment.now
        )
        let catalog = plan.catalog
        let choice = plan.catalog.chooser.choose(context) { variant in
            variant.id == current.id
                || !catalog.isExcluded(catalog.source(for: variant, at: moment.now), at: moment.now)
        }
        if let delay = choice.delay, delay > .zero { return moment.now + delay }
        plan.tracks.main.isVariantDecided = true
        if choice.variant.id != current.id {
            plan.follow(choice, moment, &sink)
        } else {
            plan.followPathway(moment, &sink)
        }
        return nil
    }
}
