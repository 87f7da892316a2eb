import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine

/// The interface between a player and the engine of an item; see ``PlaybackEngine``.
protocol ItemEngine: Actor {
    func run() async
    func setRate(_ rate: Double, reason: RateChange.Reason, atOnce: Bool)
    func setRate(_ rate: Double, mediaTime target: MediaTime?, atHostTime moment: Duration) async -> Bool
    func seek(to target: SeekTarget, tolerance: SeekTolerance) async -> SeekResult
    func step(by count: Int) async -> Bool
    func setEnabled(_ type: MediaType, _ isEnabled: Bool) async
    func cancelPendingSeeks()
    func select(_ option: MediaSelectionOption?, for type: Rendition.MediaType)
    func update(_ change: @Sendable (inout StreamingOptions) -> Void)
}

/// The target of a seek: a media time or a program date.
enum SeekTarget: Sendable, Hashable {
    case time(MediaTime)
    case date(ProgramDateTime)
}

extension PlaybackEngine: ItemEngine {
    func seek(to target: SeekTarget, tolerance: SeekTolerance) async -> SeekResult {
        switch target {
        case .time(let time): await seek(to: time, tolerance: tolerance)
        case .date(let date): await seek(to: date, tolerance: tolerance)
        }
    }
}

extension ItemEngine {
    /// Executes commands in order until the queue is closed.
    func execute(_ commands: CommandQueue, didSetRate: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { group in
            while let command = await commands.next() {
                switch command {
                case .setRate(let rate, _, _, let start?):
                    let started = Broadcast()
                    group.addTask {
                        await self.startSynchronized(start, rate: rate, begun: started)
                        // Reported only after the start: until then the engine reports rate 0, which must not replace
                        // the requested rate.
                        didSetRate()
                    }
                    // Later commands must not overtake a synchronized start, just as they must not overtake a seek.
                    await started.wait(after: 0)
                case .setRate(let rate, let reason, let atOnce, nil):
                    setRate(rate, reason: reason, atOnce: atOnce)
                    didSetRate()
                case .seek(let request):
                    group.addTask { await self.perform(request) }
                    // Later commands must not overtake a seek: at the end of an item, `play()` needs the seek that
                    // precedes it.
                    await request.waitUntilStarted()
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

    private func startSynchronized(
        _ start: QueueStateMachine.SynchronizedStart,
        rate: Double,
        begun started: Broadcast
    ) async {
        // Same actor isolation and no suspension point: no other command runs between this line and the call below.
        started.notify()
        // An engine that has ended would never return from the call.
        guard !Task.isCancelled else { return }
        _ = await setRate(rate, mediaTime: start.mediaTime, atHostTime: start.hostTime)
    }

    private func perform(_ request: SeekRequest) async {
        // Same actor isolation and no suspension point: no other command runs between this line and the start of the
        // seek.
        request.markStarted()
        // An engine that has ended would never return from the seek.
        guard !Task.isCancelled, !request.isComplete else { return }
        request.complete(await seek(to: request.target, tolerance: request.tolerance))
    }
}
