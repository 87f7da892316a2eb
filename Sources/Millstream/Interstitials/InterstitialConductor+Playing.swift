import MediaTiming
import PlaybackReporting
import StreamingEngine

extension InterstitialConductor {
    /// How an event ended.
    private struct Outcome {
        /// How far behind its place the item goes on for it.
        var offset: MediaTime
        /// Whether nothing more of the break is played.
        var endsBreak = false
    }

    /// Plays the events of a break, and lets the item go on behind them.
    mutating func play(_ due: InterstitialSchedule.Break) async {
        guard let item else { return }
        heldPosition = nil
        change { $0.setHeld(true) }
        var played: [(event: InterstitialEvent, offset: MediaTime)] = []
        for (index, event) in due.events.enumerated() {
            let outcome = await play(event, of: item, startOffset: index == 0 ? due.startOffset : nil)
            played.append((event, outcome.offset))
            if outcome.endsBreak || Task.isCancelled { break }
        }
        show(nil)
        await resume(item, due, played)
    }

    private mutating func resume(
        _ item: PlayerItem,
        _ due: InterstitialSchedule.Break,
        _ played: [(event: InterstitialEvent, offset: MediaTime)]
    ) async {
        guard let state = primaryState, state.currentItem == item, !state.playback.hasPlayedToEnd, !hasMoved(state)
        else { return }
        let position = item.currentTime()
        var target = InterstitialSchedule.target(due.resumption, played)
        let aligns = played.contains { $0.event.alignsResumptionWithPrimarySegmentBoundary }
        if aligns, let border = state.playback.segmentBorders.nearest(to: target, latest: true) { target = border }
        if let duration = state.playback.duration { target = min(target, duration) }
        if !target.isNear(position, within: Self.closeness) {
            let completion = await item.seek(.time(target), tolerance: .exact)
            if completion.isFinished { target = completion.landed }
            arrival = completion.isFinished ? target : nil
        }
        schedule.resumed(at: target)
        if let state = primaryState, state.currentItem == item, state.playback.timebase.rate == 0 {
            // It stood: from here on it moves by itself.
            let hasArrived = state.timebase.mediaTime.isNear(target, within: Self.closeness)
            if hasArrived { arrival = nil }
            if hasArrived || arrival != nil { motion = state.motion }
        }
        change { $0.setHeld(false) }
    }

    /// Whether a viewer moved the play head of the item since it stands.
    private mutating func hasMoved(_ state: PlayerState) -> Bool {
        guard state.timebase.rate == 0, !state.playback.isSeeking else { return false }
        guard let heldPosition else {
            heldPosition = state.timebase.mediaTime
            return false
        }
        return !state.timebase.mediaTime.isNear(heldPosition, within: MediaTime(value: 250, timescale: 1000))
    }

    /// Says what is played now.
    private func show(_ event: InterstitialEvent?) {
        hub.update { core, told in
            core.request = nil
            core.state.playedBefore = .zero
            core.state.skippability = .notSkippable
            guard core.state.currentEvent != event else { return }
            core.state.currentEvent = event
            told.append(.currentEventDidChange(event))
        }
    }

    private mutating func play(
        _ event: InterstitialEvent,
        of item: PlayerItem,
        startOffset: MediaTime?
    ) async -> Outcome {
        show(event)
        let items: [PlayerItem]
        do {
            guard let found = try await collect(event, of: item, startOffset: startOffset) else {
                unprepare()
                return Outcome(offset: .zero, endsBreak: true)
            }
            items = found
        } catch {
            unprepare()
            hub.update { _, told in told.append(.eventWasUnscheduled(event, error)) }
            return Outcome(offset: .zero)
        }
        let isRestricted = event.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement)
        if isRestricted { restrict(true) }
        let end = await playOut(items, event, of: item)
        if isRestricted { restrict(false) }
        player.setRate(0)
        player.removeAllItems()
        return conclude(event, items, end)
    }

    /// What an event ended with.
    private enum End: Equatable {
        case played
        case limit
        case skipped
        case cancelled(resumptionOffset: MediaTime?)
        /// Nothing came for too long.
        case abandoned
        /// The viewer went elsewhere.
        case left
    }

    private mutating func conclude(_ event: InterstitialEvent, _ items: [PlayerItem], _ end: End) -> Outcome {
        forgetList(of: event)
        let playout = hub.state.state.playedBefore
        let failures = items.filter { $0.state.status == .failed }
        let isNothing = failures.count == items.count || end == .abandoned && playout == .zero
        if isNothing, !items.isEmpty {
            let cause = failures.first?.state.error
            let message = cause.map { "No part of the interstitial can be played: \($0.message)" }
            let error = PlayerError(
                .notLoaded,
                message ?? "The interstitial did not come within \(InterstitialLoading.patience).",
                address: items.first?.asset.address,
                cause: cause
            )
            hub.update { _, told in told.append(.eventWasUnscheduled(event, error)) }
        } else {
            let isWhole = end == .played && failures.isEmpty
            hub.update { _, told in
                if end == .skipped { told.append(.currentEventWasSkipped(event)) }
                told.append(.eventDidFinish(event, playoutTime: playout, didPlayEntireEvent: isWhole))
            }
        }
        let isList = if case .list = event.content { true } else { false }
        switch end {
        case .cancelled(let offset):
            return Outcome(offset: offset ?? event.resumptionOffset ?? playout, endsBreak: true)
        case .left: return Outcome(offset: .zero, endsBreak: true)
        // The address of a single asset that fails cancels the event; of a list, what it says holds (§D.5).
        case _ where isNothing: return Outcome(offset: isList ? event.resumptionOffset ?? .zero : .zero)
        case .skipped:
            let whole = items.reduce(.zero as MediaTime?) { sum, item in
                sum.flatMap { sum in item.state.duration.map { sum + $0 } }
            }
            return Outcome(offset: event.resumptionOffset ?? whole ?? event.plannedDuration ?? playout)
        case .played, .limit, .abandoned: return Outcome(offset: event.resumptionOffset ?? playout)
        }
    }

    private func restrict(_ isRestricted: Bool) {
        change { $0.setRequiresNormalRate(isRestricted) }
        player.change { $0.setRequiresNormalRate(isRestricted) }
    }

    // MARK: Its items

    /// The items of an event; waits for its list for a while.
    ///
    /// - Returns: `nil` where it is no longer wanted.
    /// - Throws: Where they cannot be had.
    private mutating func collect(
        _ event: InterstitialEvent,
        of item: PlayerItem,
        startOffset: MediaTime?
    ) async throws(PlayerError) -> [PlayerItem]? {
        if let prepared, prepared.id == event.id {
            self.prepared = nil
            adoptList(of: event)
            return prepared.items
        }
        unprepare()
        let loading = InterstitialLoading(primary: item.asset, sessionID: item.sessionID)
        let deadline = time.now + InterstitialLoading.patience
        while true {
            let seen = seen
            if let assets = try assets(of: event, loading, startOffset: startOffset) {
                adoptList(of: event)
                let items = assets.map { makeItem($0, besides: item) }
                for item in items { try player.insert(item, after: nil) }
                return items
            }
            guard time.now < deadline else {
                throw PlayerError(.notLoaded, "The list of an interstitial did not come in time.")
            }
            guard let state = primaryState, state.currentItem == item, !hasMoved(state), takeRequest() == nil,
                !Task.isCancelled
            else { return nil }
            await wait(after: seen, until: deadline)
        }
    }

    /// An item that is played as the other is: with its limits, in its language, over the same network.
    func makeItem(_ asset: Asset, besides primary: PlayerItem) -> PlayerItem {
        let state = primary.state
        var options = state.configuration.options
        (options.startTime, options.startDate) = (nil, nil)
        (options.forwardPlaybackEndTime, options.reversePlaybackEndTime) = (nil, nil)
        (options.pinnedVariant, options.timeOffsetFromLive) = (nil, nil)
        options.sound.mix = AudioMix()
        options.initialThroughput = state.playback.throughput ?? options.initialThroughput
        if let language = state.currentMediaSelection[.audio]?.language {
            options.selectionRules.audioLanguages.insert(language, at: 0)
        }
        if let language = state.currentMediaSelection[.subtitles]?.language {
            options.selectionRules.subtitleLanguages.insert(language, at: 0)
        }
        let item = PlayerItem(asset: asset)
        item.ask { [options] in $0.state.configuration.options = options }
        return item
    }

    /// Takes over what the list of an event says of it.
    private func adoptList(of event: InterstitialEvent) {
        guard case .list(let address) = event.content else { return }
        hub.update { core, _ in
            guard let list = try? core.lists[address.text]?.get(), core.state.currentEvent == event else { return }
            core.state.currentEvent?.adopt(list.skipControl)
        }
    }

    /// What was loaded for an event was for this time: its server may decide otherwise the next.
    private mutating func forgetList(of event: InterstitialEvent) {
        guard case .list(let address) = event.content else { return }
        loads.removeValue(forKey: address.text)?.cancel()
        hub.update { core, told in
            guard core.lists.removeValue(forKey: address.text) != nil else { return }
            told.append(.assetListStatusDidChange(event, .cleared))
        }
    }

    private func takeRequest() -> InterstitialController.Request? {
        guard hub.state.request != nil else { return nil }
        return hub.update { core, _ in core.request.take() }
    }

    // MARK: Playing

    /// Plays items until they are over, or something else ends them.
    private mutating func playOut(_ items: [PlayerItem], _ event: InterstitialEvent, of item: PlayerItem) async -> End {
        var rate: Double?
        var current: PlayerItem?
        var patienceEnd = time.now + InterstitialLoading.patience
        while !Task.isCancelled {
            let seen = seen
            guard let state = primaryState, state.currentItem == item, !hasMoved(state) else { return .left }
            if state.rate != rate {
                let isRestricted = event.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement)
                rate = state.rate
                player.setRate(isRestricted ? min(1, max(0, state.rate)) : max(0, state.rate))
            }
            if player.volume != state.volume { player.volume = state.volume }
            if player.isMuted != state.isMuted { player.isMuted = state.isMuted }
            let own = player.state
            if own.currentItem != current {
                if let current { count(current) }
                current = own.currentItem
            }
            guard let now = current else { return .played }
            if own.playback.status == .failed {
                // The last one stays where it failed.
                player.remove(now)
                continue
            }
            let position = now.currentTime()
            let elapsed = hub.state.state.playedBefore + position
            note(elapsed, of: event)
            switch takeRequest() {
            case .skip:
                count(now)
                return .skipped
            case .cancel(let offset):
                count(now)
                return .cancelled(resumptionOffset: offset)
            case nil: break
            }
            if let limit = event.playoutLimit, elapsed >= limit {
                hub.update { core, _ in core.state.playedBefore = limit }
                return .limit
            }
            if own.timebase.rate != 0 || own.rate == 0 { patienceEnd = time.now + InterstitialLoading.patience }
            guard time.now < patienceEnd else {
                count(now)
                return .abandoned
            }
            let moment = nextMoment(of: event, own, elapsed: elapsed)
            await wait(after: seen, until: moment ?? (own.rate == 0 ? nil : patienceEnd))
        }
        return .left
    }

    /// An item is over.
    private func count(_ item: PlayerItem) {
        let played = item.state.hasPlayedToEnd ? item.state.duration ?? item.currentTime() : item.currentTime()
        guard item.state.status != .failed || played > .zero else { return }
        hub.update { core, _ in core.state.playedBefore = core.state.playedBefore + played }
    }

    /// Says whether a viewer may skip it after so much of it.
    private func note(_ elapsed: MediaTime, of event: InterstitialEvent) {
        let current = hub.state.state
        let control = current.currentEvent?.skipControl
        let skippability: InterstitialController.Skippability
        if let control {
            let isOver = control.duration.map { elapsed >= control.offset + $0 } ?? false
            skippability = elapsed < control.offset ? .notYetEligible : isOver ? .noLongerEligible : .eligible
        } else {
            skippability = .notSkippable
        }
        guard skippability != current.skippability else { return }
        hub.update { core, told in
            core.state.skippability = skippability
            told.append(.currentEventSkippabilityDidChange(event, skippability))
        }
    }

    private func nextMoment(of event: InterstitialEvent, _ state: PlayerState, elapsed: MediaTime) -> Duration? {
        guard state.timebase.rate > 0 else { return nil }
        var moments: [MediaTime] = []
        if let limit = event.playoutLimit { moments.append(limit) }
        if let control = hub.state.state.currentEvent?.skipControl {
            moments.append(control.offset)
            if let duration = control.duration { moments.append(control.offset + duration) }
        }
        guard let next = moments.filter({ $0 > elapsed }).min() else { return nil }
        return time.now + ((next - elapsed).duration / state.timebase.rate)
    }
}
