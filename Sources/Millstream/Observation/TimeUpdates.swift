public import MediaTiming

/// An asynchronous sequence of times of the current item, each returned when the playhead reaches it.
///
/// Times that become due while the reader is busy are dropped, not queued. The sequence ends when the player is
/// deallocated.
public struct TimeUpdates: AsyncSequence, Sendable {
    /// The type of the elements: positions of the playhead on the timeline of the current item.
    public typealias Element = MediaTime
    /// The type of errors; the sequence never throws.
    public typealias Failure = Never

    struct Source: Sendable {
        let time: any TimeSource
        let read: @Sendable () -> (motion: Motion, version: UInt64, isFinished: Bool)
        let wait: @Sendable (_ seen: UInt64, _ deadline: Duration?) async -> Void
    }

    let source: Source
    let schedule: @Sendable (Motion, Duration) -> any TimeSchedule

    /// Creates an iterator, which reports the times after its creation.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: source, schedule: schedule(source.read().motion, source.time.now))
    }

    /// An iterator over times.
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
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The time; `nil` if the player is deallocated or the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> MediaTime? {
            if hasFired { schedule.skipElapsed(source.read().motion, at: source.time.now) }
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
