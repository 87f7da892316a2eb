import PlaybackReporting
import StreamingEngine

extension Player {
    /// Changes the queue under the lock, publishes the events, and performs the resulting effects after the lock is
    /// released.
    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout QueueStateMachine) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let reports = callbacks
        let (result, effects) = try hub.update { core, events throws(Failure) in
            let result = try body(&core.queue)
            return (result, makeEffects(&core, &events, reports))
        }
        for effect in effects { effect.perform() }
        return result
    }

    /// Changes the items of the queue.
    func edit(_ body: (inout [PlayerItem]) throws(PlayerError) -> Void) throws(PlayerError) {
        try change { queue throws(PlayerError) in
            var items = queue.state.items
            try body(&items)
            queue.setItems(items)
        }
    }

    /// Publishes events, releases removed items, and returns the effects that the actions require.
    private func makeEffects(
        _ core: inout PlayerCore,
        _ events: inout [PlayerEvent],
        _ callbacks: PlayerCore.Callbacks
    ) -> [PlayerCore.Effect] {
        for item in core.queue.takeRemovedItems() { item.release(by: id) }
        events += core.queue.takeEvents()
        return core.execute(core.queue.takeActions(), pipelines: pipelines, callbacks: callbacks)
    }

    private var callbacks: PlayerCore.Callbacks {
        PlayerCore.Callbacks(
            output: { [weak self] output, item, session in
                let events = item.receive(output, from: session)
                self?.receive(output, events, from: item, session)
                self?.activateInterstitials(for: output)
            },
            didSetRate: { [weak self] item, session in
                self?.receive([], from: item, session) { $0.confirmRateCommand(of: item) }
            }
        )
    }

    /// Creates the interstitial controller if the stream schedules interstitials and there is no controller yet.
    private func activateInterstitials(for output: PlaybackEngineOutput) {
        guard case .snapshot(let snapshot) = output, !snapshot.interstitialRanges.isEmpty, interstitials.isAwaited
        else {
            return
        }
        _ = interstitialController
    }

    private func receive(
        _ output: PlaybackEngineOutput,
        _ events: [PlayerItem.Event],
        from item: PlayerItem,
        _ session: ItemSession
    ) {
        receive(events, from: item, session) { queue in
            switch output {
            case .snapshot(let snapshot): queue.processSnapshot(of: item, snapshot)
            case .event(let event): queue.processEvent(of: item, event.kind)
            }
        }
    }

    /// Publishes the events of an item, and processes the output of its engine unless the session was dismissed.
    private func receive(
        _ told: [PlayerItem.Event],
        from item: PlayerItem,
        _ session: ItemSession,
        _ body: (inout QueueStateMachine) -> Void
    ) {
        let reports = callbacks
        let effects = hub.update { core, events in
            events += told.map { .item(item, $0) }
            guard core.isCurrent(session, of: item) else { return [] as [PlayerCore.Effect] }
            body(&core.queue)
            return makeEffects(&core, &events, reports)
        }
        for effect in effects { effect.perform() }
    }
}

extension PlayerItem {
    /// Claims the item for a player.
    ///
    /// - Throws: ``PlayerError/Code/itemInUse`` if a player already has the item.
    func claimOrThrow(for player: ObjectIdentifier) throws(PlayerError) {
        guard claim(for: player) else {
            throw PlayerError(
                .itemInUse,
                "The item is already in a player: create another item for its asset, or remove it from that player first.",
                address: asset.address
            )
        }
    }

    /// Processes an output of an engine.
    ///
    /// - Returns: The events of the item that resulted from the output.
    func receive(_ output: PlaybackEngineOutput, from session: ItemSession) -> [Event] {
        let (events, waiting, playbackSession) = hub.update { core, events in
            let hasCommands = core.process(output, from: session, events: &events)
            return (events.map(\.event), hasCommands ? core.session : nil, core.recorder?.session)
        }
        waiting?.commands.wake()
        if case .event(let event) = output, !events.isEmpty, let playbackSession {
            eventObservers.deliver(event, of: playbackSession)
        }
        return events
    }
}
