public import MediaTiming

extension Player {
    /// Where time is read from: it does not keep the player.
    private var timeSource: TimeUpdates.Source {
        let (hub, time) = (hub, environment.time)
        return TimeUpdates.Source(
            time: time,
            read: {
                let reading = hub.read()
                return (reading.state.lineup.state.motion, reading.version, reading.isFinished)
            },
            wait: { await hub.wait(after: $0, until: $1, time) }
        )
    }

    /// The play head at each multiple of an interval of media time, when it jumps, and when it starts or stops.
    ///
    /// At twice the speed twice as many come in the same time. What becomes due while the reader is busy is dropped.
    ///
    /// - Parameter interval: Media time; positive.
    /// - Returns: The times, from the moment that somebody begins to read on.
    public func periodicTimes(every interval: MediaTime) -> TimeUpdates {
        precondition(interval > .zero, "the interval of a periodic observer is positive")
        return TimeUpdates(source: timeSource) { PeriodicSchedule(every: interval, from: $0, at: $1) }
    }

    /// Each of these times as play passes it; a seek passes none.
    public func boundaryTimes(_ times: [MediaTime]) -> TimeUpdates {
        TimeUpdates(source: timeSource) { BoundarySchedule(times, from: $0, at: $1) }
    }

    /// Runs a block on the main actor at each multiple of an interval of media time, when the play head jumps, and when it
    /// starts or stops.
    ///
    /// A block that still runs when the next is due makes that one drop out.
    ///
    /// - Parameters:
    ///   - interval: Media time; positive.
    ///   - block: Told where the play head is.
    /// - Returns: What it is removed with; keep it, for without it no block runs.
    public func addPeriodicTimeObserver(
        forInterval interval: MediaTime,
        using block: @escaping @MainActor @Sendable (MediaTime) -> Void
    ) -> TimeObserver {
        TimeObserver(periodicTimes(every: interval), owner: id, onMainActor(block))
    }

    /// Runs a block at each multiple of an interval of media time, when the play head jumps, and when it starts or stops.
    ///
    /// - Parameters:
    ///   - interval: Media time; positive.
    ///   - block: Told where the play head is; runs wherever its own isolation says.
    /// - Returns: What it is removed with; keep it, for without it no block runs.
    public func addPeriodicTimeObserver(
        forInterval interval: MediaTime,
        performing block: @escaping @Sendable (MediaTime) async -> Void
    ) -> TimeObserver {
        TimeObserver(periodicTimes(every: interval), owner: id, anywhere(block))
    }

    /// Runs a block on the main actor each time that play passes one of these times.
    ///
    /// - Parameters:
    ///   - times: In any order.
    ///   - block: Told which.
    /// - Returns: What it is removed with; keep it, for without it no block runs.
    public func addBoundaryTimeObserver(
        forTimes times: [MediaTime],
        using block: @escaping @MainActor @Sendable (MediaTime) -> Void
    ) -> TimeObserver {
        TimeObserver(boundaryTimes(times), owner: id, onMainActor(block))
    }

    /// Runs a block each time that play passes one of these times.
    ///
    /// - Parameters:
    ///   - times: In any order.
    ///   - block: Told which; runs wherever its own isolation says.
    /// - Returns: What it is removed with; keep it, for without it no block runs.
    public func addBoundaryTimeObserver(
        forTimes times: [MediaTime],
        performing block: @escaping @Sendable (MediaTime) async -> Void
    ) -> TimeObserver {
        TimeObserver(boundaryTimes(times), owner: id, anywhere(block))
    }

    /// Ends an observer of time: after this no block of it begins; one that runs comes to its end.
    ///
    /// - Parameter observer: One that this player gave, and that was not removed; anything else is a programmer's error.
    public func removeTimeObserver(_ observer: TimeObserver) {
        precondition(observer.owner == id, "an observer of time is removed from the player that it was added to")
        let isFirst = observer.end()
        precondition(isFirst, "an observer of time is removed once")
    }

    private func onMainActor(
        _ block: @escaping @MainActor @Sendable (MediaTime) -> Void
    ) -> @Sendable (MediaTime, TimeObserver.Permit) async -> Void {
        { time, permit in
            await MainActor.run {
                // Asked here: who removes it on the main actor is sure that it runs no more.
                if permit.isValid { block(time) }
            }
        }
    }

    private func anywhere(
        _ block: @escaping @Sendable (MediaTime) async -> Void
    ) -> @Sendable (MediaTime, TimeObserver.Permit) async -> Void {
        { time, permit in
            if permit.isValid { await block(time) }
        }
    }
}
