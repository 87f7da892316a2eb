import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// A seek to a date whose position is not yet known.
struct ProgramDateTimeSeek: Sendable {
    let date: ProgramDateTime
    let tolerance: SeekTolerance
    let waiter: Int
}

/// The start of playback at a given media time and time of the clock, after seeks to that media time.
///
/// If a seek takes longer than expected, another one follows to the media time that should be reached by then, for
/// which all media is already loaded.
enum SynchronizedStart: Sendable, Equatable {
    /// A requested start.
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
    /// A seek to the position for the time `aimed` is in progress; up to `remaining` more seeks may follow.
    case seeking(Request, aimed: Duration, remaining: Int)

    /// The maximum number of seeks, after which playback starts late.
    private static let mostSeeks = 4
    /// The delay of a seek below which no other seek follows.
    private static let tolerance = Duration.milliseconds(20)

    /// The start that is in progress; `nil` if there is none.
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

    /// Records that the seek reached its target.
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
    /// - Returns: The caller to whom the result must be returned; `nil` if there is none.
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
