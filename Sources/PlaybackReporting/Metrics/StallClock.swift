/// How long playing took to begin, and how long it stood for want of media.
struct StallClock: Sendable, Hashable {
    let creation: Duration
    private(set) var startupTime: Duration?
    private(set) var stallCount = 0
    private(set) var stallDuration = Duration.zero

    private var stallStart: Duration?

    /// Begins to wait for the first movement of the play head.
    init(creation: Duration) {
        self.creation = creation
    }

    /// The play head begins to move.
    ///
    /// - Returns: What is to be said about it.
    mutating func moves(at time: Duration) -> PlaybackNotice? {
        if startupTime == nil {
            let taken = time.subtractingToZero(creation)
            startupTime = taken
            // A stall before anything was played is part of the start.
            stallStart = nil
            return .started(after: taken)
        }
        return endStall(at: time).map { .resumed(after: $0) }
    }

    /// Nothing is left to play.
    mutating func stalls(at time: Duration) -> PlaybackNotice? {
        guard stallStart == nil else { return nil }
        stallStart = time
        stallCount = stallCount.addingClamped(1)
        return .stalled
    }

    /// The stall is over.
    ///
    /// - Returns: How long it was; `nil` where there was none.
    mutating func endStall(at time: Duration) -> Duration? {
        guard let start = stallStart else { return nil }
        stallStart = nil
        let duration = time.subtractingToZero(start)
        stallDuration = stallDuration.addingClamped(duration)
        return duration
    }

    /// How long playing stood up to a moment, with the stall that goes on then.
    func stallDuration(at time: Duration) -> Duration {
        stallDuration.addingClamped(stallStart.map { time.subtractingToZero($0) } ?? .zero)
    }
}
