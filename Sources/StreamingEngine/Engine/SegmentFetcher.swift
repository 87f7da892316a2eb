import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// A loader of the segments of the tracks, one at a time for each track, which appends them to the pipeline.
struct SegmentFetcher: Sendable {
    /// The next step of a track that the fetcher does not perform itself.
    enum Step: Sendable {
        /// The track waits for the next event.
        case settled
        /// The playlist of the source must be loaded.
        case loadPlaylist(StreamSource)
        /// A step has a consequence for the whole item.
        case consequence(Consequence)
    }

    /// The interval at which a transfer that can be abandoned is measured.
    private static let reviewInterval = Duration.milliseconds(500)

    var appender = MediaAppender()

    // MARK: Steps

    /// Performs the next steps of a track.
    mutating func advance(
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ playlists: PlaylistFollower,
        _ moment: PlaybackMoment,
        startOfPlayback: MediaTime,
        _ sink: inout EffectSink
    ) -> Step {
        if case .obsolete(let job) = plan.tracks[kind].fetch {
            plan.tracks[kind].fetch = .cancelling(job)
            sink.add(.cancel(request: job.request))
        }
        plan.tracks[kind].nextStepTime = nil
        while !plan.tracks[kind].isFetching {
            if case .loading(let load) = plan.tracks[kind].load {
                advanceSubstitute(load, &plan, moment, &sink)
                return .settled
            }
            guard !plan.tracks[kind].isLoadingPlaylist else { return .settled }
            switch SegmentPlanner.decide(kind, &plan, moment, &sink) {
            case .wait(let time):
                plan.tracks[kind].nextStepTime = time
                return .settled
            case .loadPlaylist(let source): return .loadPlaylist(source)
            case .fetch(let segment):
                guard let source = plan.tracks[kind].source else { return .settled }
                fetch(segment, from: source, for: kind, &plan, &sink)
            case .pass(let segment):
                pass(segment, kind, .gap, nil, &plan, moment, &sink)
            case .jump(let range):
                let step = jump(over: range, kind, &plan, playlists, moment, startOfPlayback, &sink)
                if let step { return step }
            case .useMuxedAudio:
                plan.useMuxedAudio(&sink)
                return .settled
            case .decideAgain: break
            }
        }
        return .settled
    }

    /// Fetches segments of the former variant while the playlist of the next one is loaded.
    private func advanceSubstitute(
        _ load: PlaylistRequest,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        switch SubstitutePlanner.decide(load, plan, moment) {
        case .wait(let time): if let time { plan.tracks.main.nextStepTime = time }
        case .fetch(let segment, let source): fetch(segment, from: source, for: .main, &plan, &sink)
        case .stop:
            var load = load
            load.substitute = nil
            plan.tracks.main.load = .loading(load)
        }
    }

    // MARK: Transfers

    private func fetch(
        _ segment: SegmentReference,
        from source: StreamSource,
        for kind: TrackKind,
        _ plan: inout FetchPlan,
        _ sink: inout EffectSink
    ) {
        let job = FetchJob(
            request: sink.nextRequest(),
            segment: segment,
            source: source,
            began: sink.now,
            isSubstitute: source != plan.tracks[kind].source
        )
        plan.tracks[kind].fetch = .transferring(job)
        sink.add(.begin(.fetch(request: job.request, segment, kind)))
        if kind == .main { measureTransfer(&plan, &sink) }
    }

    /// Measures the transfer of the main track if it may be abandoned for a lower variant.
    func measureTransfer(_ plan: inout FetchPlan, _ sink: inout EffectSink) {
        plan.tracks.main.nextReviewTime = nil
        guard let job = plan.tracks.main.job, !job.isSubstitute,
            plan.catalog.chooser.hasLowerVariant(than: plan.catalog.variant(of: job.source))
        else { return }
        plan.tracks.main.nextReviewTime = sink.now + Self.reviewInterval
        if job.began < sink.now { sink.add(.measureTransfer(request: job.request)) }
    }

    /// Abandons the transfer of the main track if a segment of a lower variant will arrive sooner.
    mutating func review(
        _ progress: TransferProgress,
        of request: Int,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        guard let job = plan.tracks.main.job, job.request == request,
            let measurement = progress.measurement, let variant = plan.catalog.variant(of: job.source),
            let choice = plan.catalog.chooser.review(
                measurement,
                progress,
                of: job,
                variant: variant,
                bufferLevel: plan.tracks.ahead(moment),
                isStarting: !moment.isPositioned,
                capacity: plan.tracks.capacity(moment).duration,
                now: moment.now
            )
        else { return }
        endTransfer(.main, &plan)
        sink.add(.cancel(request: request))
        sink.noteChange()
        report(job, .main, nil, progress, plan, &sink)
        guard plan.catalog.isTrickPlay(job.source) == plan.tracks.trickPlay.isActive else { return }
        plan.catalog.chooser.add(abandoned: job, measurement, now: moment.now)
        plan.follow(choice, moment, &sink)
    }

    private func endTransfer(_ kind: TrackKind, _ plan: inout FetchPlan) {
        plan.tracks[kind].fetch = .idle
        plan.tracks[kind].nextReviewTime = nil
        if kind == .main { plan.tracks.main.isVariantDecided = false }
    }

    /// Ends a transfer that was canceled because it was no longer needed.
    func cancelled(
        _ request: Int,
        _ progress: TransferProgress,
        _ plan: inout FetchPlan,
        _ sink: inout EffectSink
    ) {
        for kind in TrackKind.allCases {
            guard case .cancelling(let job) = plan.tracks[kind].fetch, job.request == request else { continue }
            endTransfer(kind, &plan)
            report(job, kind, nil, progress, plan, &sink)
            sink.noteChange()
        }
    }

    /// Applies the result of a transfer.
    mutating func receive(
        _ result: Result<SegmentLoader.Loaded, any Error>,
        _ progress: TransferProgress,
        for request: Int,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        guard let kind = TrackKind.allCases.first(where: { plan.tracks[$0].job?.request == request }),
            let job = plan.tracks[kind].job
        else { return nil }
        endTransfer(kind, &plan)
        // I-frames are not needed after trick play, and other media is not needed during it.
        let isNeeded = kind != .main || plan.catalog.isTrickPlay(job.source) == plan.tracks.trickPlay.isActive
        switch result {
        case .success(let loaded) where isNeeded:
            plan.catalog.renewal.loaded(.segment, from: job.source)
            appender.append(loaded, of: job, kind, &plan, &sink)
            return nil
        case .failure(let error) where isNeeded:
            report(job, kind, error, progress, plan, &sink)
            sink.noteChange()
            return recover(from: error, job, kind, &plan, moment, &sink)
        case .success, .failure:
            report(job, kind, nil, progress, plan, &sink)
            sink.noteChange()
            return nil
        }
    }

    /// Reports a request that failed or was abandoned.
    private func report(
        _ job: FetchJob,
        _ kind: TrackKind,
        _ error: (any Error)?,
        _ progress: TransferProgress?,
        _ plan: FetchPlan,
        _ sink: inout EffectSink
    ) {
        var cause = error
        if case .transport(let error, let what) = error as? SegmentLoader.Failure {
            // Requests for keys and initialization sections are reported separately.
            guard what == .mediaSegment else { return }
            cause = error
        }
        let request = TransportRequest(job.segment.address, kind: .segment, byteRange: job.segment.byteRange)
        let began = progress?.attemptStart ?? job.began
        var made = ResourceRequest(.mediaSegment, request, began: began, now: sink.now, cause)
        made.mediaType = plan.mediaType(of: kind)
        made.variant = plan.catalog.variant(of: job.source).map { VariantDescription($0) }
        made.segmentDuration = job.segment.duration
        made.indexAddress = job.source.address.withoutUserInformation.text
        if let measurement = progress?.measurement {
            made.bytes = measurement.bytes
            made.serverAddress = measurement.serverAddress
            made.wasReadFromCache = measurement.isFromCache
            made.responseStart = measurement.timeToFirstByte.map { measurement.requestStart + $0 }
        }
        sink.report(.resourceRequest(made))
    }

    // MARK: Gaps

    /// Appends a gap instead of a segment, unless another variant may have the segment.
    private func pass(
        _ segment: SegmentReference,
        _ kind: TrackKind,
        _ reason: SkippedSegment.Reason,
        _ error: StreamingError?,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        // Another variant may have the segment that this one lacks.
        if reason == .gap, kind == .main, !plan.tracks.trickPlay.isActive, let source = plan.tracks.main.source {
            plan.tracks.main.failures.tried.insert(source)
            if plan.useOtherSource(for: .main, besides: source, cause: "gap", moment, &sink) { return }
        }
        let gap = MediaAppender.Gap(
            range: segment.range,
            segment: appender.identification(of: segment),
            domain: segment.domain,
            reason: reason,
            error: error
        )
        appender.append(gap, kind, &plan, &sink)
    }

    /// Continues after a range for which the playlist lists no segments.
    ///
    /// - Returns: The step with which the track ends its steps; `nil` if the next segment can be decided.
    private func jump(
        over range: MediaTimeRange,
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ playlists: PlaylistFollower,
        _ moment: PlaybackMoment,
        _ startOfPlayback: MediaTime,
        _ sink: inout EffectSink
    ) -> Step? {
        var gap = MediaAppender.Gap(range: range, reason: .outOfWindow)
        guard !moment.isBackward else {
            appender.append(gap, kind, &plan, &sink)
            return nil
        }
        if kind == .main, !plan.tracks.trickPlay.isActive,
            plan.fill(range, moment, &sink, timeline: { playlists.knownTimeline(of: $0) })
        {
            return nil
        }
        let isShort = range.duration <= MediaTime(seconds: 2)
        let isStart = moment.seek?.isStart
        guard kind == .main, !isShort, isStart != false, let timeline = plan.tracks.main.timeline else {
            if let domain = plan.tracks[kind].timeline?.segment(atOrAfter: range.end)?.domain { gap.domain = domain }
            appender.append(gap, kind, &plan, &sink)
            return nil
        }
        // The buffer before the range is played first.
        guard
            plan.tracks.isBufferEmpty(moment, startOfPlayback: startOfPlayback)
                || moment.desiredRate == 0 && moment.position < range.start
        else {
            let reach = plan.tracks.playableReach(from: moment.position, moment)
            plan.tracks.main.nextStepTime = moment.time(reaching: max(range.start, reach))
            return .settled
        }
        guard timeline.isLive else { return .consequence(.jump(to: range.end)) }
        let start = StartPosition(
            in: timeline,
            declared: plan.catalog.presentation?.start,
            liveOffset: moment.limits.liveOffset
        )
        return .consequence(.jump(to: max(start.time, range.end)))
    }

    // MARK: Failures

    /// Performs the action that the recovery policy decides after the failure of a segment.
    private mutating func recover(
        from cause: any Error,
        _ job: FetchJob,
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        if cause is CancellationError { return nil }
        let failed = SegmentFailure(cause, of: job.segment)
        if plan.renewAddresses(after: failed.error, of: .segment, from: job.source, for: kind, &sink) { return nil }
        plan.tracks[kind].failures.tried.insert(job.source)
        let isLive = plan.tracks[kind].timeline?.isLive ?? false
        let isUrgent = moment.seek != nil || plan.tracks.ahead(moment) < .seconds(1)
        let action = plan.recover(
            from: failed.failure,
            of: .segment(at: job.segment.start),
            from: job.source,
            for: kind,
            moment
        ) {
            $0.isLive = isLive
            $0.isUrgent = isUrgent
            $0.hasMedia = appender.hasMedia
        }
        return perform(action, after: failed, job, kind, &plan, moment, &sink)
    }

    private func perform(
        _ action: RecoveryPolicy.Action,
        after failed: SegmentFailure,
        _ job: FetchJob,
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        switch action {
        case .retry(let delay):
            sink.reportRecovered(failed.error)
            plan.tracks[kind].failures.retryTime = moment.now + delay
        case .useOtherSource(.skip):
            sink.reportRecovered(failed.error)
            if !plan.useOtherSource(for: kind, besides: job.source, cause: "segment-failed", moment, &sink) {
                pass(job.segment, kind, failed.reason, failed.error, &plan, moment, &sink)
            }
        case .useOtherSource(let alternative):
            guard plan.useOtherSource(for: kind, besides: job.source, cause: "segment-failed", moment, &sink) else {
                let action = RecoveryPolicy.Action(alternative)
                return perform(action, after: failed, job, kind, &plan, moment, &sink)
            }
            sink.reportRecovered(failed.error)
        case .useNormalPlayback, .useFormerSource, .reload: sink.reportRecovered(failed.error)
        case .skip:
            sink.reportRecovered(failed.error)
            pass(job.segment, kind, failed.reason, failed.error, &plan, moment, &sink)
        case .dropTrack:
            sink.reportRecovered(failed.error)
            plan.drop(kind, &sink)
        case .endAfterBuffer:
            plan.tracks[kind].failures.terminalError = failed.error
            sink.noteChange()
        case .fail: return .fail(failed.error)
        }
        return nil
    }

    // MARK: Appending

    /// Applies the result of appending media to the pipeline.
    mutating func appended(
        _ result: Result<MediaTimeRange, any Error>,
        for request: Int,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> (consequence: Consequence?, discarded: DiscardedRange?) {
        for kind in TrackKind.allCases {
            switch plan.tracks[kind].fetch {
            case .appending(let append) where append.job.request == request:
                plan.tracks[kind].fetch = .idle
                sink.noteChange()
                switch result {
                case .success(let range): return (nil, appender.finish(append, range, kind, &plan, &sink))
                case .failure(let error):
                    return (recover(from: error, append.job, kind, &plan, moment, &sink), nil)
                }
            case .appendingGap(let append) where append.request == request:
                plan.tracks[kind].fetch = .idle
                sink.noteChange()
                let range = (try? result.get()) ?? append.range
                let discarded = appender.finish(append, range, kind, &plan, &sink)
                // Playback fails if there is no other media.
                guard let error = append.error, !appender.hasMedia, kind.isRequired, moment.seek?.isStart != false,
                    plan.tracks.isComplete(moment)
                else { return (nil, discarded) }
                return (.fail(error), discarded)
            case .idle, .transferring, .obsolete, .cancelling, .appending, .appendingGap: continue
            }
        }
        return (nil, nil)
    }
}
