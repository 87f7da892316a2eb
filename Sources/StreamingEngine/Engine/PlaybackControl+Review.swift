import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

// The review of the playhead: the next command for the pipeline, the ends of playback, and the live offset.
extension PlaybackControl {
    /// Performs the next command that the playhead needs: a seek, the beginning or end of trick play, or a change of
    /// the rate, such as a stop if there is no media to play.
    mutating func reviewPlayhead(_ item: ItemFacts) -> Consequence? {
        guard sink.isPipelineIdle else {
            review = .afterCommands
            return nil
        }
        review = .none
        for change in output.changes(options, plan.catalog.selection) { sink.command(change) }
        reviewTrickPlay(item)
        if plan.tracks.trickPlay.isLeaving { return nil }
        if let move = seekCommand(item) {
            sink.command(move)
            return nil
        }
        if let consequence = evaluate(item) { return consequence }
        if let rate = playhead.rate.command(actualRate: playhead.timebase.rate) {
            sink.command(rate)
            return nil
        }
        let discarded = plan.tracks.discardPlayed(
            moment,
            backBuffer: MediaTime(options.backBufferDuration),
            backBytes: options.backBufferByteLimit,
            startOfSeekableRange: live.seekableRange?.start ?? .zero
        )
        if !discarded.isEmpty { sink.command(.discard(discarded)) }
        sink.requestSnapshot()
        review = nextReviewTime(item).map { .at($0) } ?? .none
        return nil
    }

    /// Requests another review immediately, so that a snapshot is published after the caller of a command has
    /// continued.
    ///
    /// Until the caller has continued, the player ignores the rates in snapshots.
    mutating func reviewAgain() {
        if case .afterCommands = review { return }
        review = .at(sink.now)
    }

    /// Begins or ends trick play, depending on the rate.
    private mutating func reviewTrickPlay(_ item: ItemFacts) {
        let rate = playhead.machine.desiredRate
        let isWanted =
            rate != 0 && !playhead.observation.abilities.fullPresentationRates.contains(rate) && playhead.isPositioned
            && item.playbackType == .vod && !item.isFile
        let wanted = isWanted ? plan.trickPlaySource(moment) : nil
        switch (wanted, plan.tracks.trickPlay.isActive) {
        case (let source?, let isActive) where !isActive || source != plan.tracks.main.source:
            plan.beginTrickPlay(with: source, moment, &sink)
        case (nil, true): leaveTrickPlay()
        case (_?, _), (nil, false): break
        }
    }

    /// Ends trick play: removes the I-frames from the buffer, and returns to the source that was played before.
    mutating func leaveTrickPlay() {
        let discarded = plan.tracks.leaveTrickPlay()
        guard discarded.isEmpty else { return sink.command(.discardTrickPlay(discarded)) }
        plan.endTrickPlay(moment, &sink)
        guard seek.pending == nil, !playhead.machine.hasEnded else { return }
        beginSeek(to: position, tolerance: .exact, origin: .refresh)
    }

    private mutating func evaluate(_ item: ItemFacts) -> Consequence? {
        live.update(plan.tracks.main.timeline, &sink)
        if let error = plan.tracks.terminalError {
            if !moment.isSettled { return .fail(error) }
            let machine = playhead.machine
            if !machine.hasEnded, machine.desiredRate != 0, bufferState.isEmpty { return .fail(error) }
        }
        guard moment.isSettled, !playhead.machine.hasEnded else { return nil }
        let state = bufferState
        perform(playhead.machine.bufferChanged(state, variant: plan.playedVariant, at: sink.now))
        plan.notePlayedVariant(moment, bufferLevel: state.bufferedDuration, &sink)
        stopAtEnds(state, item)
        correctLiveOffset(ahead: state.bufferedDuration, item)
        reportFrames(isFinal: false)
        return nil
    }

    private mutating func stopAtEnds(_ state: BufferState, _ item: ItemFacts) {
        if playhead.machine.desiredRate < 0, moment.isBackward, state.reachesEnd, position <= startOfPlayback {
            let reason = RateChange.Reason.reversePlaybackReachedStartOfSeekableRange
            perform(playhead.machine.setRate(0, reason: reason, at: sink.now))
        }
        if let end = plan.tracks.endOfPlayback(moment), position >= end, playhead.machine.rate >= 0,
            playhead.machine.desiredRate > 0, state.reachesEnd
        {
            playhead.reachEnd(end)
            stampReports()
            let actions = playhead.machine.reachedEnd(pausing: options.pausesAtEnd, at: sink.now)
            // Observers of the end read the position from the snapshot.
            sink.requestSnapshot()
            perform(actions)
        }
        if item.playbackType == .live, playhead.machine.desiredRate > 1, let range = live.seekableRange,
            position >= range.end
        {
            perform(playhead.machine.setRate(1, reason: .playheadReachedLiveEdge, at: sink.now))
        }
    }

    private mutating func correctLiveOffset(ahead: Duration, _ item: ItemFacts) {
        // The distance from the live edge is not corrected before a scheduled start.
        guard playhead.timebase.time <= sink.now else { return }
        let isCorrected =
            item.playbackType == .live && options.preservesTimeOffsetFromLive
            && playhead.machine.desiredRate == 1
        let edge = isCorrected ? LiveState.edge(of: plan.tracks.main.playlist) : nil
        let factor = live.rateFactor(
            offset: edge.map { $0.mediaTime(at: sink.now) - position },
            asked: options.timeOffsetFromLive,
            ahead: ahead,
            segment: plan.tracks.main.timeline?.targetDuration.duration ?? .seconds(6)
        )
        perform(playhead.machine.correctRate(by: factor, at: sink.now))
    }

    /// Reports the number of frames since the last report.
    mutating func reportFrames(isFinal: Bool) {
        guard
            let report = frames.report(
                playhead.observation.frameCounts,
                rate: playhead.machine.rate,
                isFinal: isFinal || playhead.machine.hasEnded,
                at: sink.now
            )
        else { return }
        sink.report(.frames(report.frames))
        guard let variant = plan.playedVariant, report.areAllShown else { return }
        plan.catalog.chooser.add(report.frames, of: variant, now: sink.now)
    }

    /// Returns the time at which the playhead must be reviewed even without a change; `nil` if there is none.
    private func nextReviewTime(_ item: ItemFacts) -> Duration? {
        let moment = moment
        guard moment.rate != 0, moment.isSettled, !playhead.machine.hasEnded else { return nil }
        var times = [moment.timebase.time(reaching: plan.tracks.playableReach(from: moment.position, moment))]
        if moment.isBackward {
            times.append(moment.timebase.time(reaching: startOfPlayback))
        } else if let end = plan.tracks.endOfPlayback(moment) {
            times.append(moment.timebase.time(reaching: end))
        }
        if let next = plan.tracks.nextVariantChange(from: plan.playedVariant, moment) {
            times.append(moment.timebase.time(reaching: next))
        }
        if item.playbackType == .live { times.append(sink.now + .seconds(1)) }
        if let start = playhead.rate.start.announcedTime, start > sink.now { times.append(start) }
        // Because of rounding, a time may be reached a moment later; one that was reached long ago changes nothing.
        return times.compactMap(\.self)
            .map { time in
                sink.now - time > .milliseconds(100) ? sink.now + .seconds(1) : max(time, sink.now + .milliseconds(1))
            }
            .min()
    }
}
