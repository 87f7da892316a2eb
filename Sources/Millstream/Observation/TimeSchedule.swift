import MediaTiming

/// A schedule that determines when a time observer is due.
///
/// It has no clock: it receives the motion of the playhead and the current time, and returns the next step.
protocol TimeSchedule: Sendable {
    /// Returns the next step for the observer.
    mutating func step(_ motion: Motion, at now: Duration) -> TimeStep

    /// Skips times that became due while the observer was busy; jumps, starts and stops of the playhead are still
    /// reported.
    mutating func skipElapsed(_ motion: Motion, at now: Duration)
}

/// A step of a time observer.
enum TimeStep: Sendable, Hashable {
    /// Report this time to the observer.
    case fire(MediaTime)
    /// Wait until this time or until the motion changes.
    case wait(until: Duration?)
}
