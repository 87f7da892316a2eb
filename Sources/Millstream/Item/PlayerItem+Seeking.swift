public import HLSPlaylist
public import MediaTiming
public import StreamingEngine

extension PlayerItem {
    /// Moves the playhead quickly to a position near the given time, such as the nearest sync sample.
    ///
    /// If the item has not been loaded for playback yet, playback will start at the given time.
    ///
    /// - Parameter time: The time, on the timeline of the item.
    /// - Returns: The position of the playhead, and whether the seek finished; it did not if another seek replaced it.
    @discardableResult
    public func seek(to time: MediaTime) async -> SeekResult { await seek(.time(time), tolerance: .any) }

    /// Moves the playhead to a position within the given tolerances of a time.
    ///
    /// Smaller tolerances take longer: with a tolerance of zero on both sides, the exact frame is decoded from the sync
    /// sample before it.
    ///
    /// - Parameters:
    ///   - time: The time, on the timeline of the item.
    ///   - before: The maximum distance before the time; `nil` for any distance.
    ///   - after: The maximum distance after the time; `nil` for any distance.
    /// - Returns: The position of the playhead, and whether the seek finished; it did not if another seek replaced it.
    @discardableResult
    public func seek(
        to time: MediaTime,
        toleranceBefore before: MediaTime?,
        toleranceAfter after: MediaTime?
    ) async -> SeekResult {
        await seek(.time(time), tolerance: SeekTolerance(before: before, after: after))
    }

    /// Moves the playhead to a date in a stream with `EXT-X-PROGRAM-DATE-TIME` tags.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - tolerance: The tolerance; by default, the seek is exact.
    /// - Returns: The position of the playhead, and whether the seek finished. If the item has not been loaded for
    ///   playback yet, playback will start at the date; its position is not known before.
    @discardableResult
    public func seek(to date: ProgramDateTime, tolerance: SeekTolerance = .exact) async -> SeekResult {
        await seek(.date(date), tolerance: tolerance)
    }

    /// Moves the playhead by a number of frames while the player is paused.
    ///
    /// - Parameter count: The number of frames; negative for earlier frames. The call has no effect if
    ///   ``PlaybackAbilities`` does not permit the step.
    public func step(byCount count: Int) {
        modify { core in
            guard count > 0 ? core.state.canStepForward : core.state.canStepBackward,
                count < 0 || !core.state.configuration.requiresLinearPlayback
            else { return }
            core.session?.commands.add(.step(count))
        }
    }

    /// Cancels the seeks that are in progress; their results indicate that they did not finish.
    public func cancelPendingSeeks() {
        modify { core in _ = core.session?.commands.add(.cancelSeeks) }
    }

    func seek(_ target: SeekTarget, tolerance: SeekTolerance) async -> SeekResult {
        await completion(of: beginSeek(to: target, tolerance: tolerance))
    }

    /// Begins a seek, which is performed before all commands that the item receives later.
    ///
    /// - Returns: The seek, which is already complete if it was refused or if no engine plays the item.
    func beginSeek(to target: SeekTarget, tolerance: SeekTolerance) -> SeekRequest {
        let request = SeekRequest(target, tolerance: tolerance)
        let core = hub.state
        // If a viewer must not seek forward, seeking backward is still allowed.
        if core.state.configuration.requiresLinearPlayback, !target.isAtOrBefore(core.position) {
            request.complete(SeekResult(isFinished: false, position: core.position))
        } else if let completion = modify({ $0.seek(request) }) {
            request.complete(completion)
        }
        return request
    }

    /// Waits until a seek ends.
    ///
    /// - Returns: The result of the seek. When the task is canceled, it is the current position, and the seek
    ///   continues.
    func completion(of request: SeekRequest) async -> SeekResult {
        await withTaskCancellationHandler {
            await request.completion()
        } onCancel: {
            request.complete(SeekResult(isFinished: false, position: currentTime()))
        }
    }
}

extension SeekTarget {
    /// Returns whether the target is known to be at or before a position; the position of a date is unknown.
    fileprivate func isAtOrBefore(_ position: MediaTime) -> Bool {
        if case .time(let time) = self { time <= position } else { false }
    }
}
