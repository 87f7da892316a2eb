import PlaybackReporting
import StreamingEngine

extension Player {
    /// Changes the queue under the lock, publishes the events, and performs the resulting effects after the lock is
    /// released.
    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout Lineup) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let reports = reports
        let (result, effects) = try hub.update { core, events throws(Failure) in
            let result = try body(&core.lineup)
            return (result, follow(&core, &events, reports))
        }
        for effect in effects { effect.perform() }
        return result
    }

    /// Changes the items of the queue.
    func edit(_ body: (inout [PlayerItem]) throws(PlayerError) -> Void) throws(PlayerError) {
        try change { lineup throws(PlayerError) in
            var items = lineup.state.items
            try body(&items)
            lineup.setItems(items)
        }
    }

    /// Publishes events, releases removed items, and returns the effects that the actions require.
    private func follow(
        _ core: inout PlayerCore,
        _ events: inout [PlayerEvent],
        _ reports: PlayerCore.Reports
    ) -> [PlayerCore.Effect] {
        for item in core.lineup.takeLeavers() { item.release(by: id) }
        events += core.lineup.takeEvents()
        return core.carryOut(core.lineup.takeActions(), environment, reports)
    }

    private var reports: PlayerCore.Reports {
        PlayerCore.Reports(
            output: { [weak self] output, item, session in
                let told = item.receive(output, from: session)
                self?.receive(output, told, from: item, session)
                self?.heedInterstitials(of: output)
            },
            didSetRate: { [weak self] item, session in
                self?.receive([], from: item, session) { $0.rateWasSet(of: item) }
            }
        )
    }

    /// Creates the interstitial controller if the stream schedules interstitials and there is no controller yet.
    private func heedInterstitials(of output: PlaybackEngineOutput) {
        guard case .snapshot(let snapshot) = output, !snapshot.interstitialRanges.isEmpty, interstitials.isAwaited
        else {
            return
        }
        _ = interstitialController
    }

    private func receive(
        _ output: PlaybackEngineOutput,
        _ told: [PlayerItem.Event],
        from item: PlayerItem,
        _ session: ItemSession
    ) {
        receive(told, from: item, session) { lineup in
            switch output {
            case .snapshot(let snapshot): lineup.snapshotCame(of: item, snapshot)
            case .event(let event): lineup.eventCame(of: item, event.kind)
            }
        }
    }

    /// Publishes the events of an item, and processes the output of its engine unless the session was dismissed.
    private func receive(
        _ told: [PlayerItem.Event],
        from item: PlayerItem,
        _ session: ItemSession,
        _ body: (inout Lineup) -> Void
    ) {
        let reports = reports
        let effects = hub.update { core, events in
            events += told.map { .item(item, $0) }
            guard core.isCurrent(session, of: item) else { return [] as [PlayerCore.Effect] }
            body(&core.lineup)
            return follow(&core, &events, reports)
        }
        for effect in effects { effect.perform() }
    }
}

extension PlayerItem {
    /// Claims the item for a player.
    ///
    /// - Throws: ``PlayerError/Code/itemInUse`` if a player already has the item.
    func beTaken(by player: ObjectIdentifier) throws(PlayerError) {
        guard claim(for: player) else {
            throw PlayerError(
                .itemInUse,
                "The item is in a player already: make another one of its asset, or take it out there first.",
                address: asset.address
            )
        }
    }

    /// Processes an output of an engine.
    ///
    /// - Returns: The events of the item that resulted from the output.
    func receive(_ output: PlaybackEngineOutput, from session: ItemSession) -> [Event] {
        let (events, waiting) = hub.update { core, told in
            let hasAnswer = core.take(output, from: session, &told)
            return (told.map(\.event), hasAnswer ? core.session : nil)
        }
        waiting?.commands.wake()
        return events
    }
}
