import MediaTiming
import ResourceAddressing
import StreamingEngine

// The decisions during a break: the interstitials one after the other, and the resumption of the primary item.
extension InterstitialStateMachine {
    /// Begins a break.
    mutating func begin(_ due: InterstitialSchedule.Break, _ prepared: PreparedInterstitial?) {
        players.setSuspended(true)
        let position = players.observation.primary.position(at: players.now)
        let current = InterstitialBreak(
            due,
            of: players.observation.primary.item,
            at: position,
            timeoutTime: players.now + InterstitialLoading.timeout
        )
        beginEvent(current, prepared)
    }

    /// Begins the current interstitial of a break.
    private mutating func beginEvent(_ current: InterstitialBreak, _ prepared: PreparedInterstitial?) {
        let event = current.event
        show(event)
        if event.forbidsAdvancing { players.perform(.setForbidsAdvancing(true)) }
        if let prepared, prepared.event == event {
            if let error = prepared.rejection { return unschedule(current, error) }
            return play(current, prepared.items)
        }
        if let prepared, !prepared.items.isEmpty { players.clearQueue() }
        if case .list(let address) = event.content {
            // A list that failed when it was loaded in advance may be available now.
            if case .failed = lists[address] { clearList(of: event) }
            if lists[address] == nil { load(address, startOffset: current.startOffset) }
        }
        playWhenLoaded(current)
    }

    /// Plays the current interstitial, or waits for its asset list.
    private mutating func playWhenLoaded(_ current: InterstitialBreak) {
        if let items = makeItems(of: current.event) {
            players.enqueue(items)
            return play(current, items)
        }
        if case .list(let address) = current.event.content, case .failed(let error) = lists[address] {
            return unschedule(current, error)
        }
        guard players.now < current.timeoutTime else {
            let error = PlayerError(.notLoaded, "The asset list of an interstitial did not load in time.")
            return unschedule(current, error)
        }
        activity = .loadingList(current)
    }

    /// Begins the playout of items that are in the queue.
    private mutating func play(_ current: InterstitialBreak, _ items: [InterstitialItem]) {
        adoptList(of: current.event)
        var playout = InterstitialPlayout(current.event, skipControl: players.state.currentEvent?.skipControl, items)
        guard !items.isEmpty else { return finish(current, playout, .played) }
        if let rate = playout.followRate(players.observation.primary.rate) { players.perform(.setRate(rate)) }
        activity = .playing(current, playout)
    }

    // MARK: Progress

    /// Waits further for an asset list, until the time limit.
    mutating func continueLoading(_ current: InterstitialBreak) {
        var current = current
        guard continues(&current) else { return end(.left) }
        playWhenLoaded(current)
    }

    /// Continues to play an interstitial.
    mutating func continuePlaying(_ current: InterstitialBreak, _ playout: InterstitialPlayout) {
        var (current, playout) = (current, playout)
        guard continues(&current) else { return end(.left) }
        players.followVolume()
        if let rate = playout.followRate(players.observation.primary.rate) { players.perform(.setRate(rate)) }
        let step = playout.step(players.observation, timeoutTime: &current.timeoutTime, at: players.now)
        activity = .playing(current, playout)
        switch step {
        case .wait: publishProgress(of: playout)
        case .remove(let number): players.perform(.removeItem(number))
        case .end(let reason): end(reason)
        }
    }

    /// Returns whether the primary item is still suspended at the position of the break.
    private func continues(_ current: inout InterstitialBreak) -> Bool {
        let primary = players.observation.primary
        return primary.isSuspended && primary.playback.status != .failed && !current.position.hasMoved(primary)
    }

    /// Removes an item that must not be loaded.
    mutating func reject(_ number: Int, _ error: PlayerError) {
        players.reject(number)
        switch activity {
        case .watching(var watch):
            guard var prepared = watch.prepared, prepared.items.contains(where: { $0.number == number }) else { return }
            prepared.items.removeAll { $0.number == number }
            if case .address = prepared.event.content { prepared.rejection = error }
            watch.prepared = prepared
            activity = .watching(watch)
        case .playing(let current, var playout):
            guard playout.items.contains(where: { $0.number == number }) else { return }
            if case .address = playout.event.content {
                players.perform(.setRate(0))
                return unschedule(current, error)
            }
            playout.reject(number)
            activity = .playing(current, playout)
        case .loadingList, .resuming: break
        }
    }

    // MARK: Ends

    /// Ends the current interstitial; does nothing without one.
    mutating func end(_ reason: InterstitialPlayout.End) {
        switch activity {
        case .watching, .resuming: break
        case .loadingList(let current):
            let playout = InterstitialPlayout(current.event, skipControl: nil, [])
            finish(current, playout, reason)
        case .playing(let current, var playout):
            playout.end(reason, players.observation.queue, at: players.now)
            let outcome = playout.outcome(of: reason, players.observation.queue)
            players.perform(.setRate(0))
            players.clearQueue()
            finish(current, playout, reason, outcome)
        }
    }

    private mutating func finish(
        _ current: InterstitialBreak,
        _ playout: InterstitialPlayout,
        _ reason: InterstitialPlayout.End,
        _ outcome: InterstitialPlayout.Outcome? = nil
    ) {
        let event = current.event
        let outcome = outcome ?? playout.outcome(of: reason, players.observation.queue)
        clearList(of: event)
        if reason == .skipped { players.publish(.currentEventWasSkipped(event)) }
        players.publish(outcome.notification) { $0.playedBefore = playout.playedBefore }
        if event.forbidsAdvancing { players.perform(.setForbidsAdvancing(false)) }
        var current = current
        switch reason {
        case .played, .limit, .skipped, .abandoned:
            schedule.recordPlayed(event, offset: outcome.offset, wasPlayed: outcome.wasPlayed)
            current.finishEvent(offset: outcome.offset, wasPlayed: outcome.wasPlayed)
            return goOn(current)
        case .canceled(let offset):
            schedule.recordPlayed(event, offset: offset ?? outcome.offset, wasPlayed: outcome.wasPlayed)
            current.finishEvent(offset: offset ?? outcome.offset, wasPlayed: outcome.wasPlayed)
        case .left:
            schedule.left(event)
            current.finishEvent(offset: outcome.offset, wasPlayed: outcome.wasPlayed)
        }
        resume(current)
    }

    /// Continues the break without the current interstitial, which cannot be played.
    private mutating func unschedule(_ current: InterstitialBreak, _ error: PlayerError) {
        let event = current.event
        clearList(of: event)
        players.publish(.eventWasUnscheduled(event, error))
        if event.forbidsAdvancing { players.perform(.setForbidsAdvancing(false)) }
        schedule.recordPlayed(event, offset: .zero, wasPlayed: false)
        goOn(current)
    }

    private mutating func goOn(_ current: InterstitialBreak) {
        var current = current
        if current.beginNextEvent() {
            beginEvent(current, nil)
        } else {
            resume(current)
        }
    }

    /// Resumes the primary item after a break.
    private mutating func resume(_ current: InterstitialBreak) {
        activity = .watching(InterstitialWatch())
        show(nil)
        let playback = players.observation.primary.playback
        // An item that is at its end is not resumed here: the events after it may still follow.
        guard players.observation.primary.item == current.item, playback.status == .readyToPlay,
            !playback.hasPlayedToEnd
        else { return }
        var position = current.position
        guard !playback.isSeeking, !position.hasMoved(players.observation.primary) else {
            return playhead.stop(at: position.time)
        }
        var target = current.resumptionTime(playback.segmentBorders)
        if let duration = playback.duration { target = min(target, duration) }
        guard !target.isNear(playback.timebase.mediaTime(at: players.now), within: .interstitialTolerance) else {
            return resume(at: target, hasJumped: false)
        }
        let request = players.makeNumber()
        activity = .resuming(request: request, position)
        players.perform(.seek(request: request, target))
    }

    /// Accepts the end of the seek to the position where the item resumes.
    mutating func arrive(_ completion: SeekResult, from position: SuspendedPosition) {
        activity = .watching(InterstitialWatch())
        // If another seek came first, a viewer moved the playhead from the position at which the item was suspended.
        guard completion.isFinished else { return playhead.stop(at: position.time) }
        resume(at: completion.position, hasJumped: true)
    }

    private mutating func resume(at position: MediaTime, hasJumped: Bool) {
        schedule.resumed(at: position)
        playhead.resume(at: position, hasJumped: hasJumped, players.observation.primary.playback.timebase)
        players.setSuspended(false)
    }

    // MARK: Publishing

    /// Publishes the current event.
    private mutating func show(_ event: InterstitialEvent?) {
        func change(_ state: inout InterstitialController.State) {
            (state.playedBefore, state.skippability, state.currentEvent) = (.zero, .notSkippable, event)
        }
        players.state.currentEvent == event
            ? players.publish(change: change)
            : players.publish(.currentEventDidChange(event), change: change)
    }

    /// Applies the skip control of an event's asset list.
    private mutating func adoptList(of event: InterstitialEvent) {
        guard case .list(let address) = event.content, case .loaded(let list) = lists[address],
            list.skipControl != nil
        else { return }
        players.publish { $0.currentEvent?.apply(list.skipControl) }
    }

    private mutating func publishProgress(of playout: InterstitialPlayout) {
        let elapsed = playout.elapsed(players.observation.queue, at: players.now)
        let skippability = playout.skippability(at: elapsed)
        let playedBefore = playout.playedBefore
        if skippability != players.state.skippability {
            players.publish(.currentEventSkippabilityDidChange(playout.event, skippability)) {
                ($0.skippability, $0.playedBefore) = (skippability, playedBefore)
            }
        } else if playedBefore != players.state.playedBefore {
            players.publish { $0.playedBefore = playedBefore }
        }
    }
}
