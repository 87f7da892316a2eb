public import HLSPlaylist
public import MediaTiming
public import StreamingEngine

extension Player {
    /// Returns the position of the playhead in the current item; zero if there is none.
    public func currentTime() -> MediaTime { state.currentItem?.currentTime() ?? .zero }

    /// Moves the playhead to a position near a time that can be reached quickly.
    ///
    /// - Parameter time: A time on the timeline of the current item.
    /// - Returns: The new position, and whether the seek was completed or interrupted by another seek or another item.
    @discardableResult
    public func seek(to time: MediaTime) async -> SeekResult { await seek(.time(time), .any) }

    /// Moves the playhead to a time, within the given tolerances.
    ///
    /// - Parameters:
    ///   - time: A time on the timeline of the current item.
    ///   - before: The maximum distance before the time; `nil` for any.
    ///   - after: The maximum distance after the time; `nil` for any.
    /// - Returns: The new position, and whether the seek was completed or interrupted by another seek or another item.
    @discardableResult
    public func seek(
        to time: MediaTime,
        toleranceBefore before: MediaTime?,
        toleranceAfter after: MediaTime?
    ) async -> SeekResult {
        await seek(.time(time), SeekTolerance(before: before, after: after))
    }

    /// Moves the playhead to a program date of the stream.
    ///
    /// - Parameters:
    ///   - date: The program date.
    ///   - tolerance: The maximum distance from the date; zero by default.
    /// - Returns: The new position, and whether the seek was completed or interrupted by another seek or another item.
    @discardableResult
    public func seek(to date: ProgramDateTime, tolerance: SeekTolerance = .exact) async -> SeekResult {
        await seek(.date(date), tolerance)
    }

    /// Cancels pending seeks of the current item, which return as not finished.
    public func cancelPendingSeeks() { state.currentItem?.cancelPendingSeeks() }

    private func seek(_ target: SeekTarget, _ tolerance: SeekTolerance) async -> SeekResult {
        guard let item = state.currentItem else { return SeekResult(isFinished: false, position: .zero) }
        return await item.seek(target, tolerance: tolerance)
    }
}
