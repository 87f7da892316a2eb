import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// A seek to a date, before the position of the date is known.
struct ProgramDateTimeSeek: Sendable {
    let date: ProgramDateTime
    let tolerance: SeekTolerance
    let waiter: Int
}

/// A start at a given media time and time of the clock, which takes seeks before.
///
/// A seek takes a while; what has passed by then is caught up with by another seek, for which all media is loaded.
enum SynchronizedStart: Sendable, Equatable {
    /// A start that was asked for.
    struct Request: Sendable, Equatable {
        let rate: Double
        let target: MediaTime?
        /// The time of the clock at which the playhead is to be at the target.
        let time: Duration
        let waiter: Int
    }

    /// The next step.
    enum Step: Sendable, Equatable {
        case seek(to: MediaTime)
        case start(Request)
    }

    case idle
    /// A seek to the position for the time `aimed` is in progress; `remaining` others may follow.
    case seeking(Request, aimed: Duration, remaining: Int)

    /// The maximum number of seeks.
    private static let mostSeeks = 4
    /// The delay of a seek that is not caught up with.
    private static let tolerance = Duration.milliseconds(20)

    /// The start that is in progress.
    var request: Request? {
        guard case .seeking(let request, _, _) = self else { return nil }
        return request
    }

    /// Begins a start.
    mutating func begin(_ request: Request, at now: Duration) -> Step {
        self = .idle
        guard let target = request.target else { return .start(request) }
        return seek(request, target, remaining: Self.mostSeeks, at: now)
    }

    /// Notes that the seek has ended at its target.
    mutating func seekFinished(at now: Duration) -> Step? {
        guard case .seeking(let request, let aimed, let remaining) = self, let target = request.target else {
            return nil
        }
        self = .idle
        guard now - aimed >= Self.tolerance, remaining > 0 else { return .start(request) }
        return seek(request, target, remaining: remaining, at: now)
    }

    /// Cancels the start.
    ///
    /// - Returns: The caller to answer.
    mutating func cancel() -> Int? {
        defer { self = .idle }
        return request?.waiter
    }

    private mutating func seek(
        _ request: Request,
        _ target: MediaTime,
        remaining: Int,
        at now: Duration
    ) -> Step {
        let aimed = max(request.time, now)
        self = .seeking(request, aimed: aimed, remaining: remaining - 1)
        return .seek(to: target + MediaTime(aimed - request.time, scaledBy: request.rate))
    }
}
