public import HLSPlaylist
public import MediaTiming
public import StreamingEngine

extension Player {
    /// Where the play head of the current item is; zero without one.
    public func currentTime() -> MediaTime { state.currentItem?.currentTime() ?? .zero }

    /// Moves the play head near a time, to where that is fast.
    ///
    /// - Parameter time: On the timeline of the current item.
    /// - Returns: Where it landed, and whether another seek or another item came first.
    @discardableResult
    public func seek(to time: MediaTime) async -> SeekCompletion { await seek(.time(time), .any) }

    /// Moves the play head to a time, no further from it than is tolerated.
    ///
    /// - Parameters:
    ///   - time: On the timeline of the current item.
    ///   - before: How much earlier it may land; `nil` for as much as suits.
    ///   - after: How much later; `nil` for as much as suits.
    /// - Returns: Where it landed, and whether another seek or another item came first.
    @discardableResult
    public func seek(
        to time: MediaTime,
        toleranceBefore before: MediaTime?,
        toleranceAfter after: MediaTime?
    ) async -> SeekCompletion {
        await seek(.time(time), SeekTolerance(before: before, after: after))
    }

    /// Moves the play head to a date, as the stream has them.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - tolerance: How far it may miss; by default not at all.
    /// - Returns: Where it landed, and whether another seek or another item came first.
    @discardableResult
    public func seek(to date: ProgramDateTime, tolerance: SeekTolerance = .exact) async -> SeekCompletion {
        await seek(.date(date), tolerance)
    }

    /// Gives up seeks of the current item that are under way: they end as not finished.
    public func cancelPendingSeeks() { state.currentItem?.cancelPendingSeeks() }

    private func seek(_ target: SeekTarget, _ tolerance: SeekTolerance) async -> SeekCompletion {
        guard let item = state.currentItem else { return SeekCompletion(isFinished: false, landed: .zero) }
        return await item.seek(target, tolerance: tolerance)
    }
}
