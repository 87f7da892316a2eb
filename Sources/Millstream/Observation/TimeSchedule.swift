import MediaTiming

/// Decides when an observer of time is due.
///
/// It knows no clock: it is told how the play head moves, and says what to do.
protocol TimeSchedule: Sendable {
    /// What to do now.
    mutating func step(_ motion: Motion, at now: Duration) -> TimeStep

    /// Leaves out what became due while the observer was busy; that the play head jumped, started or stopped is still told.
    mutating func drop(_ motion: Motion, at now: Duration)
}

/// What an observer of time is to do.
enum TimeStep: Sendable, Hashable {
    /// It hears this time.
    case fire(MediaTime)
    /// It waits until this time, or for another motion.
    case wait(until: Duration?)
}
