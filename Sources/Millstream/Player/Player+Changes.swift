import PlaybackReporting
import StreamingEngine

extension Player {
    /// Decides under the lock, tells, and has the decisions carried out after it.
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

    /// Changes the items.
    func edit(_ body: (inout [PlayerItem]) throws(PlayerError) -> Void) throws(PlayerError) {
        try change { lineup throws(PlayerError) in
            var items = lineup.state.items
            try body(&items)
            lineup.setItems(items)
        }
    }

    /// Tells what was decided, gives back items that went, and hands the rest to engines.
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

    /// A stream that schedules something in between needs somebody who plays it.
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

    /// Passes on what is told of an item, and takes what its engine says unless it was dismissed.
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
    /// - Throws: Where somebody else has it.
    func beTaken(by player: ObjectIdentifier) throws(PlayerError) {
        guard claim(for: player) else {
            throw PlayerError(
                .itemInUse,
                "The item is in a player already: make another one of its asset, or take it out there first.",
                address: asset.address
            )
        }
    }

    /// Takes what an engine says.
    ///
    /// - Returns: What was told of it.
    func receive(_ output: PlaybackEngineOutput, from session: ItemSession) -> [Event] {
        let (events, waiting) = hub.update { core, told in
            let hasAnswer = core.take(output, from: session, &told)
            return (told.map(\.event), hasAnswer ? core.session : nil)
        }
        waiting?.commands.wake()
        return events
    }
}
