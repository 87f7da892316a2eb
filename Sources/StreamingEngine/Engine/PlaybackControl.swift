import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The properties of the item on which decisions about the playhead depend.
struct ItemFacts: Sendable {
    let playbackType: PlaybackType?
    /// A Boolean value that indicates whether the item is a media file.
    let isFile: Bool
    /// A Boolean value that indicates whether the pipeline has accepted media of a required track.
    let hasMedia: Bool
}

/// The control of the playhead: its rate, its seeks, and the start and the end of playback.
struct PlaybackControl: Sendable {
    /// The time at which ``reviewPlayhead(_:)`` must be called next.
    enum Review: Sendable {
        /// The playhead is reviewed with the next change.
        case none
        /// The playhead is reviewed with the next change, or at a time.
        case at(Duration)
        /// The playhead is reviewed as soon as the pipeline has performed its commands.
        case afterCommands
    }

    private(set) var options: StreamingOptions
    var playhead: Playhead
    private(set) var seek = SeekState()
    var plan: FetchPlan
    var live = LiveState()
    var sink: EffectSink
    var review = Review.none
    private var limits: PlaybackMoment.Limits
    private var synchronizedStart = SynchronizedStart.idle
    var frames = FrameReporter()
    var output = OutputSettings()

    init(options: StreamingOptions, at now: Duration) {
        self.options = options
        limits = PlaybackMoment.Limits(options)
        playhead = Playhead(start: now, waitsToMinimizeStalls: options.waitsToMinimizeStalls)
        plan = FetchPlan(policy: options.recovery, chooser: VariantChooser(options))
        sink = EffectSink(now: now)
    }

    // MARK: State

    /// The state of playback on which decisions about the tracks depend.
    var moment: PlaybackMoment {
        PlaybackMoment(
            now: sink.now,
            position: position,
            isPositioned: playhead.isPositioned,
            seek: seek.pending.map { PlaybackMoment.Seek(target: $0.target, isStart: $0.isStart) },
            desiredRate: playhead.machine.desiredRate,
            isPausedAtStart: playhead.machine.isPausedAtStart,
            rate: playhead.machine.rate,
            timebase: playhead.timebase,
            limits: limits,
            unfinishedBytes: playhead.observation.unfinishedBytes.bytes
        )
    }

    /// The position of the playhead.
    var position: MediaTime { playhead.position(at: sink.now) }

    /// The media time at which reverse playback ends; the start of the item by default.
    var startOfPlayback: MediaTime {
        // The playhead does not move before zero, even if the presentation begins there.
        let start = max(.zero, live.seekableRange?.start ?? plan.tracks.main.timeline?.range.start ?? .zero)
        return limits.reverseEnd.map { max(start, $0) } ?? start
    }

    /// The state of the buffer ahead of the playhead.
    var bufferState: BufferState { plan.bufferState(moment, startOfPlayback: startOfPlayback) }

    // MARK: Rate

    /// Changes the options of playback.
    mutating func update(_ changed: StreamingOptions) {
        let pinned = options.pinnedVariant
        options = changed
        limits = PlaybackMoment.Limits(changed)
        playhead.machine.waitsToMinimizeStalls = changed.waitsToMinimizeStalls
        plan.catalog.chooser.options = changed
        if changed.pinnedVariant != pinned { plan.followPin(moment, &sink) }
        sink.noteChange()
    }

    /// Sets the requested rate.
    mutating func setRate(_ rate: Double, _ reason: RateChange.Reason, atOnce: Bool) {
        guard rate.isFinite, rate >= 0 || playhead.observation.abilities.supportsReversePlayback else { return }
        let former = playhead.machine.desiredRate
        // Failed tracks are tried again when playback begins or its direction changes.
        if rate != 0, former == 0 || (rate < 0) != (former < 0) { plan.tracks.retryFailedTracks() }
        cancelSynchronizedStart()
        playhead.rate.start = .none
        if rate < 0, playhead.machine.hasEnded, let end = playhead.end {
            // I-frames that were loaded for trick play have been removed by now, so the media at the end may have to be
            // loaded again.
            if plan.tracks.playableRanges(moment).contains(end - MediaTime(value: 1, timescale: 10)) {
                playhead.leaveEnd()
            } else {
                beginSeek(to: end, tolerance: .exact, origin: .refresh)
            }
        }
        let turned = bufferState(turningTo: rate)
        perform(
            playhead.machine.setRate(rate, reason: reason, immediately: atOnce, turnedBuffer: turned, at: sink.now)
        )
        sink.noteChange()
    }

    /// Returns the state of the buffer in the direction of a rate; `nil` if the direction stays, or a seek measures the
    /// buffer when it ends.
    private func bufferState(turningTo rate: Double) -> BufferState? {
        guard rate != 0, moment.isSettled, (rate < 0) != moment.isBackward else { return nil }
        return plan.bufferState(moment.requesting(rate: rate), startOfPlayback: startOfPlayback)
    }

    /// Begins playback such that a given media time is played at a given time of the clock.
    mutating func startSynchronized(_ request: SynchronizedStart.Request) {
        guard request.rate != 0, request.rate.isFinite, playhead.isPositioned else {
            return sink.add(.resume(waiter: request.waiter, unfinishedSeek))
        }
        plan.tracks.retryFailedTracks()
        cancelSynchronizedStart()
        playhead.rate.start = .none
        perform(playhead.machine.setRate(0, reason: .setRateCalled, at: sink.now))
        sink.noteChange()
        follow(synchronizedStart.begin(request, at: sink.now))
    }

    private mutating func follow(_ step: SynchronizedStart.Step?) {
        switch step {
        case nil: break
        case .seek(let target): beginSeek(to: target, tolerance: .exact, origin: .synchronizedStart)
        case .start(let request):
            playhead.rate.start = .requested(request.time, isAnnounced: true)
            let turned = bufferState(turningTo: request.rate)
            perform(
                playhead.machine.setRate(
                    request.rate,
                    reason: .setRateCalled,
                    immediately: true,
                    turnedBuffer: turned,
                    at: sink.now
                )
            )
            sink.add(.resume(waiter: request.waiter, SeekResult(isFinished: true, position: position)))
            sink.noteChange()
        }
    }

    private mutating func cancelSynchronizedStart() {
        if let waiter = synchronizedStart.cancel() { sink.add(.resume(waiter: waiter, unfinishedSeek)) }
    }

    // MARK: Seeks

    /// Begins a seek, and cancels transfers that it does not need.
    mutating func beginSeek(to asked: MediaTime, tolerance: SeekTolerance, origin: PendingSeek.Origin) {
        let target = clamped(asked)
        let unfinished = unfinishedSeek
        if origin != .synchronizedStart { cancelSynchronizedStart() }
        endSeek(unfinished)
        playhead.rate.start.withdrawAnnouncement()
        let pending = PendingSeek(
            id: seek.nextID(),
            target: target,
            tolerance: tolerance,
            origin: origin,
            isInBuffer: playhead.isPositioned && plan.tracks.isLoaded(target),
            isStart: origin == .start || !playhead.isPositioned
        )
        seek.begin(pending)
        if pending.isReported { sink.report(.seekStarted(to: target)) }
        playhead.leaveEnd()
        stampReports()
        if plan.tracks.separateAudioEnd != nil {
            plan.tracks.outdateVideoWithoutAudio(from: target)
            plan.applyRenditions(atOnce: true, moment, &sink)
        }
        perform(playhead.machine.seekBegan(at: sink.now))
        for kind in TrackKind.allCases { plan.tracks[kind].seek(to: target) }
        plan.catalog.chooser.resetAfterSeek()
        sink.noteChange()
    }

    /// Begins a seek to a date.
    mutating func beginSeek(to date: ProgramDateTime, _ tolerance: SeekTolerance, _ waiter: Int) {
        guard let timeline = plan.tracks.main.timeline else {
            // The position of the date is unknown before the first playlist; until then another seek may replace this
            // one.
            endSeek(unfinishedSeek)
            return seek.begin(ProgramDateTimeSeek(date: date, tolerance: tolerance, waiter: waiter))
        }
        guard let found = timeline.position(of: date) else {
            return sink.add(.resume(waiter: waiter, unfinishedSeek))
        }
        beginSeek(to: found.time, tolerance: tolerance, origin: .command(waiter: waiter))
    }

    /// Ends the seek that is in progress with a result.
    private mutating func endSeek(_ result: SeekResult) {
        if let asked = seek.pendingDate { sink.add(.resume(waiter: asked.waiter, result)) }
        if let pending = seek.pending {
            if pending.isReported { report(pending, landed: nil) }
            if case .command(let waiter) = pending.origin { sink.add(.resume(waiter: waiter, result)) }
        }
        seek.end()
    }

    private mutating func report(_ seek: PendingSeek, landed: MediaTime?) {
        sink.report(
            .seekEnded(SeekRecord(target: seek.target, landed: landed, didSeekInBuffer: seek.isInBuffer))
        )
    }

    /// The result of a seek that was not carried out.
    var unfinishedSeek: SeekResult { SeekResult(isFinished: false, position: position) }

    private func clamped(_ target: MediaTime) -> MediaTime {
        let end = plan.tracks.endOfPlayback(moment)
        return live.clamped(target, in: plan.tracks.main.playlist, endOfPlayback: end, at: sink.now)
    }

    /// Ends the seek that the application requested; the playhead is not moved.
    mutating func cancelPendingSeeks() {
        guard seek.pendingDate != nil || seek.pending?.isReported == true else { return }
        let isSeeking = seek.pending != nil
        cancelSynchronizedStart()
        endSeek(unfinishedSeek)
        sink.noteChange()
        guard isSeeking else { return }
        perform(playhead.machine.seekEnded(bufferState, at: sink.now))
        // If the playhead has no position yet, it is moved to the default start position.
        placePlayhead()
    }

    /// Ends a seek whose target will never have media; the playhead is not moved.
    mutating func abandonSeek() {
        guard playhead.isPositioned, let pending = seek.pending else { return }
        cancelSynchronizedStart()
        endSeek(unfinishedSeek)
        sink.reportRecovered(StreamingError(.stuck, "no media is available at \(pending.target)"))
        perform(playhead.machine.seekEnded(bufferState, at: sink.now))
        sink.noteChange()
    }

    /// Returns the command that moves the playhead, if the media of the target is loaded; `nil` otherwise.
    mutating func seekCommand(_ item: ItemFacts) -> PipelineCommand? {
        guard let pending = seek.pending, plan.tracks.isLoaded(pending.target) else { return nil }
        // The first position is set only when there is media to show, or when only gaps follow for a long time.
        guard
            playhead.isPositioned || item.hasMedia
                || plan.tracks.isFilledWithGaps(at: pending.target, moment)
        else { return nil }
        return seek.moveCommand()
    }

    /// Applies the result of a seek that the pipeline has performed.
    mutating func sought(_ id: Int, _ result: Result<MediaTime, any Error>) -> Consequence? {
        sink.noteChange()
        guard let ended = seek.moved(id) else { return nil }
        switch result {
        case .success(let landed): arrive(ended, at: landed)
        case .failure(let error):
            if (error as? MediaPipelineError)?.code == .deviceLost {
                return .fail(StreamingError(.pipelineLost, "\(error)", cause: error))
            }
            if ended.origin == .synchronizedStart { cancelSynchronizedStart() }
            endSeek(unfinishedSeek)
            let message = "nothing can be shown at \(ended.target): \(error)"
            sink.reportRecovered(StreamingError(.damaged, message))
            perform(playhead.machine.seekEnded(bufferState, at: sink.now))
        }
        return nil
    }

    private mutating func arrive(_ ended: PendingSeek, at landed: MediaTime) {
        seek.end()
        let wasPositioned = playhead.isPositioned
        playhead.land()
        stampReports()
        if case .command(let waiter) = ended.origin {
            sink.add(.resume(waiter: waiter, SeekResult(isFinished: true, position: landed)))
        }
        if !wasPositioned { sink.report(.statusChanged(.readyToPlay)) }
        if !wasPositioned || ended.origin != .refresh { sink.report(.timeJumped(from: nil, to: landed)) }
        if !wasPositioned { perform(playhead.machine.becomeReady(at: sink.now)) }
        if ended.isReported { report(ended, landed: landed) }
        perform(playhead.machine.seekEnded(bufferState, at: sink.now))
        if ended.origin == .synchronizedStart { follow(synchronizedStart.seekFinished(at: sink.now)) }
    }

    /// Moves the playhead to the start position, which is known after the first playlist is loaded.
    mutating func placePlayhead() {
        guard let timeline = plan.tracks.main.timeline else { return }
        if let asked = seek.pendingDate {
            seek.end()
            if let found = timeline.position(of: asked.date) {
                let origin = PendingSeek.Origin.command(waiter: asked.waiter)
                return beginSeek(to: found.time, tolerance: asked.tolerance, origin: origin)
            }
            sink.add(.resume(waiter: asked.waiter, unfinishedSeek))
        }
        guard !playhead.isPositioned, !timeline.segments.isEmpty else { return }
        if let pending = seek.pending { return seek.move(to: clamped(pending.target)) }
        if let asked = options.startTime ?? options.startDate.flatMap({ timeline.position(of: $0)?.time }) {
            return beginSeek(to: asked, tolerance: .exact, origin: .start)
        }
        let declared = plan.catalog.presentation?.start
        let start = StartPosition(in: timeline, declared: declared, liveOffset: options.timeOffsetFromLive)
        beginSeek(to: start.time, tolerance: start.isPrecise ? .exact : .any, origin: .start)
    }

    /// Applies the result of a step by frames that the pipeline has performed.
    mutating func stepped(_ landed: MediaTime?, _ waiter: Int) {
        sink.noteChange()
        guard let landed else { return sink.add(.resume(waiter: waiter, unfinishedSeek)) }
        if let end = playhead.end, landed < end {
            playhead.leaveEnd()
            playhead.machine.resumeFromEnd()
        }
        perform(playhead.machine.bufferChanged(bufferState, variant: plan.playedVariant, at: sink.now))
        sink.requestSnapshot()
        sink.add(.resume(waiter: waiter, SeekResult(isFinished: true, position: landed)))
    }

    // MARK: End

    /// Ends the seeks that callers wait for.
    mutating func endSeeks() {
        cancelSynchronizedStart()
        endSeek(unfinishedSeek)
    }

    /// Stops the playhead, because the item is no longer played.
    mutating func stopPlayhead() { perform(playhead.machine.fail(at: sink.now)) }

    /// Stops the pipeline.
    ///
    /// - Returns: Whether the pipeline reports the stop; `false` if it has already stopped.
    mutating func stopPipeline() -> Bool {
        sink.forgetCommands()
        guard playhead.timebase.rate != playhead.machine.rate else { return false }
        sink.command(.setRate(playhead.machine.rate, at: nil))
        return true
    }

    // MARK: Reports

    /// Sets the position of the playhead for the reports that follow.
    mutating func stampReports() { sink.mediaTime = playhead.isPositioned ? position : nil }

    /// Performs the actions of the state machine of the playhead.
    mutating func perform(_ actions: [PlaybackStateMachine.Action]) {
        for action in actions {
            switch action {
            case .setRate(let rate): playhead.rate.want(rate)
            case .report(let kind): sink.report(completed(kind))
            }
        }
        if !actions.isEmpty { sink.noteChange() }
    }

    /// Adds the variant, the loaded time ranges and the requests to an event, which the state machine of the playhead
    /// does not know.
    private mutating func completed(_ kind: PlaybackEvent.Kind) -> PlaybackEvent.Kind {
        let variant = plan.fetchedVariant.map { VariantDescription($0) }
        if case .rateChanged(let change) = kind, change.variant == nil {
            let (rate, previous) = (change.rate, change.previousRate)
            return .rateChanged(RateChange(rate: rate, previousRate: previous, reason: change.reason, variant: variant))
        }
        guard case .likelyToKeepUp(let keepUp) = kind else { return kind }
        return .likelyToKeepUp(
            LikelyToKeepUpReport(
                isInitial: keepUp.isInitial,
                variant: variant ?? keepUp.variant,
                timeTaken: keepUp.timeTaken,
                loadedTimeRanges: plan.tracks.loadedRanges(moment).ranges,
                requests: keepUp.isInitial ? sink.takeStartRequests() : []
            )
        )
    }
}
