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
        /// Whether anything of it was played.
        var wasPlayed = true
        /// Whether a viewer went elsewhere.
        var wasLeft = false
    }

    /// Plays the events of a break, and lets the item go on behind them.
    mutating func play(_ due: InterstitialSchedule.Break) async {
        guard let item else { return }
        heldPosition = item.currentTime()
        hasStopped = false
        patienceEnd = time.now + InterstitialLoading.patience
        change { $0.setHeld(true) }
        var played: [(event: InterstitialEvent, offset: MediaTime)] = []
        var isNothing = true
        for (index, event) in due.events.enumerated() {
            let outcome = await play(event, of: item, startOffset: index == 0 ? due.startOffset : nil)
            if outcome.wasLeft {
                schedule.left(event)
            } else {
                schedule.note(event, offset: outcome.offset, wasPlayed: outcome.wasPlayed)
            }
            played.append((event, outcome.offset))
            if outcome.wasPlayed { isNothing = false }
            if outcome.endsBreak || Task.isCancelled { break }
        }
        show(nil)
        if isNothing, let wanted = due.wanted { return await resume(item, at: wanted) }
        var target = InterstitialSchedule.target(due.resumption, played)
        // Where a viewer wants to be is no matter of borders, nor where it was left for nothing.
        let aligns = !isNothing && played.contains(where: \.event.alignsResumptionWithPrimarySegmentBoundary)
        if aligns, case .offset = due.resumption, let borders = primaryState?.playback.segmentBorders {
            target = borders.nearest(to: target, latest: true) ?? target
        }
        await resume(item, at: target)
    }

    private mutating func resume(_ item: PlayerItem, at target: MediaTime) async {
        guard let state = primaryState, state.currentItem == item, state.playback.status == .readyToPlay,
            !state.playback.hasPlayedToEnd
        else { return }
        guard !state.playback.isSeeking, !hasMoved(state) else { return stand() }
        var target = target
        if let duration = state.playback.duration { target = min(target, duration) }
        if !target.isNear(item.currentTime(), within: Self.closeness) {
            let completion = await item.seek(.time(target), tolerance: .exact)
            // Somebody wants to be elsewhere.
            guard completion.isFinished else { return stand() }
            target = completion.landed
            arrival = target
        }
        schedule.resumed(at: target)
        if let state = primaryState, state.currentItem == item, state.timebase.rate == 0 {
            // It stood: from here on it moves by itself.
            let hasArrived = state.timebase.mediaTime.isNear(target, within: Self.closeness)
            if hasArrived { arrival = nil }
            if hasArrived || arrival != nil { motion = state.motion }
        }
        change { $0.setHeld(false) }
    }

    /// What follows counts from where the item stood.
    private mutating func stand() {
        guard let heldPosition, let item else { return }
        motion = Motion(item: ObjectIdentifier(item), timebase: Timebase(mediaTime: heldPosition))
    }

    /// Whether a viewer moved the play head of the item since it stands.
    private mutating func hasMoved(_ state: PlayerState) -> Bool {
        guard state.timebase.rate == 0, !state.playback.isSeeking, let heldPosition else { return false }
        let position = state.timebase.mediaTime
        guard hasStopped else {
            // Until it stopped it went a little further.
            let seconds = max(1, min(32, state.rate.rounded(.up)))
            guard position.isNear(heldPosition, within: MediaTime(seconds: Int64(saturating: seconds))) else {
                return true
            }
            self.heldPosition = position
            hasStopped = true
            return false
        }
        return !position.isNear(heldPosition, within: MediaTime(value: 250, timescale: 1000))
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
        let isRestricted = event.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement)
        if isRestricted { restrict(true, [item]) }
        defer { if isRestricted { restrict(false, [item]) } }
        do {
            switch try await collect(event, of: item, startOffset: startOffset) {
            case .items(let items):
                if isRestricted { restrict(true, items) }
                let end = await playOut(items, event, of: item)
                player.setRate(0)
                player.removeAllItems()
                return conclude(event, items, end)
            case .ended(let end):
                unprepare()
                return conclude(event, [], end)
            }
        } catch {
            unprepare()
            forgetList(of: event)
            hub.update { _, told in told.append(.eventWasUnscheduled(event, error)) }
            return Outcome(offset: .zero, wasPlayed: false)
        }
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
        let isEnded = end == .played || end == .abandoned
        let isNothing = isEnded && playout == .zero && (failures.count == items.count || end == .abandoned)
        if isNothing, !items.isEmpty {
            let cause = failures.first?.state.error
            let reason = cause?.message ?? player.state.error?.message
            let message = reason.map { "No part of the interstitial can be played: \($0)" }
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
        var outcome = Outcome(offset: event.resumptionOffset ?? playout, wasPlayed: !isNothing)
        switch end {
        case .cancelled(let offset):
            outcome.endsBreak = true
            if let offset { outcome.offset = offset }
        case .left: (outcome.endsBreak, outcome.wasLeft) = (true, true)
        // The address of a single asset that fails cancels the event; of a list, what it says holds (§D.5).
        case _ where isNothing: outcome.offset = isList ? event.resumptionOffset ?? .zero : .zero
        case .skipped:
            let durations = items.map(\.state.duration)
            let known = durations.contains(nil) ? nil : durations.compactMap { $0 }.reduce(.zero) { $0 + $1 }
            let whole = known ?? event.plannedDuration ?? playout
            outcome.offset = event.resumptionOffset ?? event.playoutLimit.map { min($0, whole) } ?? whole
        case .played, .limit, .abandoned: break
        }
        return outcome
    }

    /// Lets nothing be passed over, or lets it again.
    private func restrict(_ isRestricted: Bool, _ items: [PlayerItem]) {
        // Also of a player whose item is another by now.
        primary?.change { $0.setRequiresNormalRate(isRestricted) }
        player.change { $0.setRequiresNormalRate(isRestricted) }
        for item in items { item.ask { $0.state.configuration.forbidsPassingOver = isRestricted } }
    }

    // MARK: Its items

    /// What an event consists of, or why nobody waits for it any more.
    private enum Collected {
        case items([PlayerItem])
        case ended(End)
    }

    /// The items of an event; waits for its list for a while.
    ///
    /// - Throws: Where they cannot be had.
    private mutating func collect(
        _ event: InterstitialEvent,
        of item: PlayerItem,
        startOffset: MediaTime?
    ) async throws(PlayerError) -> Collected {
        if let prepared, prepared.event == event {
            self.prepared = nil
            adoptList(of: event)
            return .items(prepared.items)
        }
        unprepare()
        // What failed when it was loaded ahead may be there now.
        if case .list(let address) = event.content, case .failure? = hub.state.lists[address.text] {
            forgetList(of: event)
        }
        let loading = InterstitialLoading(primary: item.asset, sessionID: item.sessionID)
        while true {
            let seen = seen
            if let assets = try assets(of: event, loading, startOffset: startOffset) {
                adoptList(of: event)
                return .items(try queue(assets, besides: item))
            }
            guard let state = primaryState, state.currentItem == item, state.isHeld,
                state.playback.status != .failed, !hasMoved(state), !Task.isCancelled
            else { return .ended(.left) }
            switch takeRequest() {
            case .skip: return .ended(.skipped)
            case .cancel(let offset): return .ended(.cancelled(resumptionOffset: offset))
            case nil: break
            }
            guard time.now < patienceEnd else {
                throw PlayerError(.notLoaded, "The list of an interstitial did not come in time.")
            }
            await wait(after: seen, until: patienceEnd)
        }
    }

    /// Puts assets into the queue, to be heard as the item is.
    func queue(_ assets: [Asset], besides item: PlayerItem) throws(PlayerError) -> [PlayerItem] {
        if let state = primaryState { adoptSound(of: state) }
        let items = assets.map { makeItem($0, besides: item) }
        for item in items { try player.insert(item, after: nil) }
        return items
    }

    private func adoptSound(of state: PlayerState) {
        if player.volume != state.volume { player.volume = state.volume }
        if player.isMuted != state.isMuted { player.isMuted = state.isMuted }
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
        let isRestricted = event.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement)
        var rate: Double?
        var isObeyed = false
        var current: PlayerItem?
        while !Task.isCancelled {
            let seen = seen
            guard let state = primaryState, state.currentItem == item, state.isHeld,
                state.playback.status != .failed, !hasMoved(state)
            else { break }
            adoptSound(of: state)
            if state.rate != rate {
                rate = state.rate
                let wanted = isRestricted ? min(1, max(0, state.rate)) : max(0, state.rate)
                isObeyed = player.setRate(wanted)
            }
            let own = player.state
            // Without a decoder it will play nothing any more.
            guard own.status != .failed else {
                if let current { count(current) }
                return .abandoned
            }
            if own.currentItem != current {
                if let current { count(current) }
                current = own.currentItem
            }
            guard let now = current else { return .played }
            let hasEnded = own.playback.hasPlayedToEnd && own.actionAtItemEnd != .advance
            if own.playback.status == .failed || hasEnded {
                // The last one stays where it failed, and any where it ended, if the application wants it so.
                player.remove(now)
                continue
            }
            let elapsed = hub.state.state.playedBefore + now.currentTime()
            note(elapsed, of: event)
            if let end = requestedEnd(at: elapsed, of: event) {
                if end != .limit { count(now) }
                return end
            }
            // A pause is no waiting, whoever asked for it.
            let isPaused = state.rate == 0 || own.rate == 0 && isObeyed
            if own.timebase.rate != 0 || isPaused { patienceEnd = time.now + InterstitialLoading.patience }
            guard time.now < patienceEnd else {
                count(now)
                return .abandoned
            }
            await wait(
                after: seen,
                until: nextMoment(of: event, own, elapsed: elapsed) ?? (isPaused ? nil : patienceEnd)
            )
        }
        if let current { count(current) }
        return .left
    }

    /// What ends an event before its end.
    private func requestedEnd(at elapsed: MediaTime, of event: InterstitialEvent) -> End? {
        switch takeRequest() {
        case .skip: return .skipped
        case .cancel(let offset): return .cancelled(resumptionOffset: offset)
        case nil: break
        }
        guard let limit = event.playoutLimit, elapsed >= limit else { return nil }
        hub.update { core, _ in core.state.playedBefore = limit }
        return .limit
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
