import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine

/// What a player asks of the engine of an item; see ``PlaybackEngine``.
protocol ItemEngine: Actor {
    func run() async
    func setRate(_ rate: Double, reason: RateChange.Reason, atOnce: Bool)
    func setRate(_ rate: Double, from target: MediaTime?, at moment: Duration) async -> Bool
    func move(to target: SeekTarget, tolerance: SeekTolerance) async -> SeekCompletion
    func step(by count: Int) async -> Bool
    func setEnabled(_ type: MediaType, _ isEnabled: Bool) async
    func cancelPendingSeeks()
    func select(_ option: MediaSelectionOption?, for type: Rendition.MediaType)
    func update(_ change: @Sendable (inout StreamingOptions) -> Void)
}

/// Where a seek goes.
enum SeekTarget: Sendable, Hashable {
    case time(MediaTime)
    case date(ProgramDateTime)
}

extension PlaybackEngine: ItemEngine {
    func move(to target: SeekTarget, tolerance: SeekTolerance) async -> SeekCompletion {
        let result =
            switch target {
            case .time(let time): await seek(to: time, tolerance: tolerance)
            case .date(let date): await seek(to: date, tolerance: tolerance)
            }
        return SeekCompletion(isFinished: result.isFinished, landed: result.landed)
    }
}

extension ItemEngine {
    /// Does what it is told until there is nothing more to come, one after the other.
    func obey(_ commands: CommandQueue, didSetRate: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { group in
            while let command = await commands.next() {
                switch command {
                case .setRate(let rate, _, _, let departure?):
                    let begun = Signal()
                    group.addTask {
                        await self.depart(departure, rate, begun)
                        // Until then it stands, and that is not what it was asked for.
                        didSetRate()
                    }
                    // What comes behind it must not overtake it, no more than a seek.
                    await begun.wait(after: 0)
                case .setRate(let rate, let reason, let atOnce, nil):
                    setRate(rate, reason: reason, atOnce: atOnce)
                    didSetRate()
                case .seek(let ticket):
                    group.addTask { await self.perform(ticket) }
                    // What comes behind a seek must not overtake it: at the end, play() needs the seek before it.
                    await ticket.waitUntilBegun()
                case .step(let count): _ = await step(by: count)
                case .setEnabled(let type, let isEnabled): await setEnabled(type, isEnabled)
                case .cancelSeeks: cancelPendingSeeks()
                case .select(let option, let type): select(option, for: type)
                case .update(let change): update(change)
                }
            }
            group.cancelAll()
        }
    }

    private func depart(_ departure: Lineup.Departure, _ rate: Double, _ begun: Signal) async {
        // The same isolation, and so the same job: nothing comes between this and the beginning.
        begun.notify()
        // An engine that was ended would never answer.
        guard !Task.isCancelled else { return }
        _ = await setRate(rate, from: departure.time, at: departure.hostTime)
    }

    private func perform(_ ticket: SeekTicket) async {
        // The same isolation, and so the same job: nothing comes between this and the beginning of the seek.
        ticket.begin()
        // An engine that was ended would never answer.
        guard !Task.isCancelled, !ticket.isComplete else { return }
        ticket.complete(await move(to: ticket.target, tolerance: ticket.tolerance))
    }
}
