public import MediaTiming

/// Times of the current item as its play head reaches them.
///
/// What becomes due while the reader is busy is dropped, not queued. It ends when the player is gone.
public struct TimeUpdates: AsyncSequence, Sendable {
    /// What it gives: where the play head is, on the timeline of the current item.
    public typealias Element = MediaTime
    /// It never fails.
    public typealias Failure = Never

    struct Source: Sendable {
        let time: any TimeSource
        let read: @Sendable () -> (motion: Motion, version: UInt64, isFinished: Bool)
        let wait: @Sendable (_ seen: UInt64, _ deadline: Duration?) async -> Void
    }

    let source: Source
    let schedule: @Sendable (Motion, Duration) -> any TimeSchedule

    /// Begins to watch; only what happens from now on counts.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: source, schedule: schedule(source.read().motion, source.time.now))
    }

    /// Gives one time after the other.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private let source: Source
        private var schedule: any TimeSchedule
        private var hasFired = false

        init(source: Source, schedule: any TimeSchedule) {
            self.source = source
            self.schedule = schedule
        }

        /// Waits for the next time that is due.
        ///
        /// - Parameter actor: Where the caller is.
        /// - Returns: The time; `nil` when there will be none, and when cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> MediaTime? {
            if hasFired { schedule.drop(source.read().motion, at: source.time.now) }
            while !Task.isCancelled {
                let (motion, version, isFinished) = source.read()
                if isFinished { return nil }
                switch schedule.step(motion, at: source.time.now) {
                case .fire(let time):
                    hasFired = true
                    return time
                case .wait(let deadline): await source.wait(version, deadline)
                }
            }
            return nil
        }
    }
}
