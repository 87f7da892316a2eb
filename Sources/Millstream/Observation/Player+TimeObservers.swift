public import MediaTiming

extension Player {
    /// The source of times for observers; it does not retain the player.
    private var timeSource: TimeUpdates.Source {
        let (hub, time) = (hub, environment.time)
        return TimeUpdates.Source(
            time: time,
            read: {
                let reading = hub.read()
                return (reading.state.queue.state.motion, reading.version, reading.isFinished)
            },
            wait: { await hub.wait(after: $0, until: $1, time) }
        )
    }

    /// Returns a sequence of times: each multiple of an interval of media time, and the position when the playhead
    /// jumps, starts or stops.
    ///
    /// At twice the rate, times are returned twice as often. Times that become due while the reader is busy are
    /// dropped.
    ///
    /// - Parameter interval: The interval in media time; must be positive.
    /// - Returns: The sequence; each iterator reports the times after its creation.
    public func periodicTimes(every interval: MediaTime) -> TimeUpdates {
        precondition(interval > .zero, "the interval of a periodic observer is positive")
        return TimeUpdates(source: timeSource) { PeriodicSchedule(every: interval, from: $0, at: $1) }
    }

    /// Returns a sequence of the given times, each when playback passes it; a seek passes none.
    public func boundaryTimes(_ times: [MediaTime]) -> TimeUpdates {
        TimeUpdates(source: timeSource) { BoundarySchedule(times, from: $0, at: $1) }
    }

    /// Adds an observer that runs a block on the main actor at each multiple of an interval of media time, when the
    /// playhead jumps, and when it starts or stops.
    ///
    /// Times that become due while the block runs are dropped.
    ///
    /// - Parameters:
    ///   - interval: The interval in media time; must be positive.
    ///   - block: Receives the position of the playhead.
    /// - Returns: The observer; the block runs only as long as the observer is retained.
    public func addPeriodicTimeObserver(
        forInterval interval: MediaTime,
        using block: @escaping @MainActor @Sendable (MediaTime) -> Void
    ) -> TimeObserver {
        TimeObserver(periodicTimes(every: interval), owner: id, onMainActor(block))
    }

    /// Adds an observer that runs a block at each multiple of an interval of media time, when the playhead jumps, and
    /// when it starts or stops.
    ///
    /// - Parameters:
    ///   - interval: The interval in media time; must be positive.
    ///   - block: Receives the position of the playhead; runs in its own isolation.
    /// - Returns: The observer; the block runs only as long as the observer is retained.
    public func addPeriodicTimeObserver(
        forInterval interval: MediaTime,
        performing block: @escaping @Sendable (MediaTime) async -> Void
    ) -> TimeObserver {
        TimeObserver(periodicTimes(every: interval), owner: id, inOwnIsolation(block))
    }

    /// Adds an observer that runs a block on the main actor each time playback passes one of the given times.
    ///
    /// - Parameters:
    ///   - times: The times, in any order.
    ///   - block: Receives the time that was passed.
    /// - Returns: The observer; the block runs only as long as the observer is retained.
    public func addBoundaryTimeObserver(
        forTimes times: [MediaTime],
        using block: @escaping @MainActor @Sendable (MediaTime) -> Void
    ) -> TimeObserver {
        TimeObserver(boundaryTimes(times), owner: id, onMainActor(block))
    }

    /// Adds an observer that runs a block each time playback passes one of the given times.
    ///
    /// - Parameters:
    ///   - times: The times, in any order.
    ///   - block: Receives the time that was passed; runs in its own isolation.
    /// - Returns: The observer; the block runs only as long as the observer is retained.
    public func addBoundaryTimeObserver(
        forTimes times: [MediaTime],
        performing block: @escaping @Sendable (MediaTime) async -> Void
    ) -> TimeObserver {
        TimeObserver(boundaryTimes(times), owner: id, inOwnIsolation(block))
    }

    /// Removes a time observer: its block does not start again, but a block that is running is not interrupted.
    ///
    /// - Parameter observer: An observer that was added to this player and has not been removed; any other is a
    ///   programming error.
    public func removeTimeObserver(_ observer: TimeObserver) {
        precondition(observer.owner == id, "a time observer must be removed from the player to which it was added")
        let isFirst = observer.end()
        precondition(isFirst, "a time observer must be removed only once")
    }

    private func onMainActor(
        _ block: @escaping @MainActor @Sendable (MediaTime) -> Void
    ) -> @Sendable (MediaTime, TimeObserver.Permit) async -> Void {
        { time, permit in
            await MainActor.run {
                // Checked on the main actor, so that the block cannot start after the observer was removed there.
                if permit.isValid { block(time) }
            }
        }
    }

    private func inOwnIsolation(
        _ block: @escaping @Sendable (MediaTime) async -> Void
    ) -> @Sendable (MediaTime, TimeObserver.Permit) async -> Void {
        { time, permit in
            if permit.isValid { await block(time) }
        }
    }
}
