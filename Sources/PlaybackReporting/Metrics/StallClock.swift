/// The measurement of startup time and of the number and duration of stalls.
struct StallClock: Sendable, Hashable {
    let creation: Duration
    private(set) var startupTime: Duration?
    private(set) var stallCount = 0
    private(set) var stallDuration = Duration.zero

    private var stallStart: Duration?

    /// Creates a measurement at the start of the session.
    init(creation: Duration) {
        self.creation = creation
    }

    /// Records that the playback position begins to move.
    ///
    /// - Returns: The notice for the console, if any.
    mutating func beginPlayback(at time: Duration) -> PlaybackNotice? {
        if startupTime == nil {
            let taken = time.subtractingClampedToZero(creation)
            startupTime = taken
            // The time of a stall before anything was played belongs to the startup time.
            stallStart = nil
            return .started(after: taken)
        }
        return endStall(at: time).map { .resumed(after: $0) }
    }

    /// Records the beginning of a stall.
    mutating func beginStall(at time: Duration) -> PlaybackNotice? {
        guard stallStart == nil else { return nil }
        stallStart = time
        stallCount = stallCount.addingClamped(1)
        return .stalled
    }

    /// Records the end of a stall.
    ///
    /// - Returns: The duration of the stall, or `nil` if there was none.
    mutating func endStall(at time: Duration) -> Duration? {
        guard let start = stallStart else { return nil }
        stallStart = nil
        let duration = time.subtractingClampedToZero(start)
        stallDuration = stallDuration.addingClamped(duration)
        return duration
    }

    /// Returns the total duration of the stalls up to a time, including a current stall.
    func stallDuration(at time: Duration) -> Duration {
        stallDuration.addingClamped(stallStart.map { time.subtractingClampedToZero($0) } ?? .zero)
    }
}
