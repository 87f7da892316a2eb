public import HLSPlaylist
public import MediaTiming
public import StreamingEngine

extension PlayerItem {
    /// Moves the play head near a time, to where that is fast.
    ///
    /// An item that no engine plays will begin there.
    ///
    /// - Parameter time: On the timeline of the item.
    /// - Returns: Where it landed, and whether another seek came first.
    @discardableResult
    public func seek(to time: MediaTime) async -> SeekCompletion { await seek(.time(time), tolerance: .any) }

    /// Moves the play head to a time, no further from it than is tolerated.
    ///
    /// The less is tolerated the longer it takes: with zero and zero, the exact frame is decoded from the picture before it
    /// that stands alone.
    ///
    /// - Parameters:
    ///   - time: On the timeline of the item.
    ///   - before: How much earlier it may land; `nil` for as much as suits.
    ///   - after: How much later; `nil` for as much as suits.
    /// - Returns: Where it landed, and whether another seek came first.
    @discardableResult
    public func seek(
        to time: MediaTime,
        toleranceBefore before: MediaTime?,
        toleranceAfter after: MediaTime?
    ) async -> SeekCompletion {
        await seek(.time(time), tolerance: SeekTolerance(before: before, after: after))
    }

    /// Moves the play head to a date, as the stream has them.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - tolerance: How far it may miss; by default not at all.
    /// - Returns: Where it landed. Without an engine the item will begin there, but where that is nobody knows yet.
    @discardableResult
    public func seek(to date: ProgramDateTime, tolerance: SeekTolerance = .exact) async -> SeekCompletion {
        await seek(.date(date), tolerance: tolerance)
    }

    /// Goes on by single frames, while the player is paused.
    ///
    /// - Parameter count: How many frames; below zero for those before. Does nothing where ``PlaybackAbilities`` does not permit it.
    public func step(byCount count: Int) {
        ask { core in
            guard count > 0 ? core.state.canStepForward : core.state.canStepBackward,
                count < 0 || !core.state.configuration.forbidsPassingOver
            else { return }
            core.session?.commands.add(.step(count))
        }
    }

    /// Gives up seeks that are under way: they end as not finished.
    public func cancelPendingSeeks() {
        ask { core in _ = core.session?.commands.add(.cancelSeeks) }
    }

    func seek(_ target: SeekTarget, tolerance: SeekTolerance) async -> SeekCompletion {
        await completion(of: beginSeek(to: target, tolerance: tolerance))
    }

    /// Begins a seek, before all that is asked of the item later.
    ///
    /// - Returns: The seek, which is complete already where it is refused or the item has no engine.
    func beginSeek(to target: SeekTarget, tolerance: SeekTolerance) -> SeekTicket {
        let ticket = SeekTicket(target, tolerance: tolerance)
        let core = hub.state
        // Where a viewer cannot seek forward, seeking backward is allowed all the same.
        if core.state.configuration.forbidsPassingOver, !target.isBehind(core.position) {
            ticket.complete(SeekCompletion(isFinished: false, landed: core.position))
        } else if let completion = ask({ $0.seek(ticket) }) {
            ticket.complete(completion)
        }
        return ticket
    }

    /// Waits until a seek ends.
    ///
    /// - Returns: Where it landed; when canceled, the current position, while the seek itself goes on.
    func completion(of ticket: SeekTicket) async -> SeekCompletion {
        await withTaskCancellationHandler {
            await ticket.completion()
        } onCancel: {
            ticket.complete(SeekCompletion(isFinished: false, landed: currentTime()))
        }
    }
}

extension SeekTarget {
    /// Whether it is certain that it lies where the play head was already.
    fileprivate func isBehind(_ position: MediaTime) -> Bool {
        if case .time(let time) = self { time <= position } else { false }
    }
}
