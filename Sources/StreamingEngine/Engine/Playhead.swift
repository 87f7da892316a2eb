import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The start of playback at a scheduled time of the clock.
enum ScheduledStart: Sendable, Equatable {
    case none
    /// The time is passed to the pipeline with the next rate.
    ///
    /// If `isAnnounced`, playback is reported as waiting until then.
    case requested(Duration, isAnnounced: Bool)
    /// The time was passed to the pipeline.
    case given(Duration, isAnnounced: Bool)

    /// The scheduled time while playback is reported as waiting for it; `nil` otherwise.
    var announcedTime: Duration? {
        switch self {
        case .requested(let time, isAnnounced: true), .given(let time, isAnnounced: true): time
        case .none, .requested(_, isAnnounced: false), .given(_, isAnnounced: false): nil
        }
    }

    /// Stops reporting playback as waiting for the scheduled time.
    mutating func withdrawAnnouncement() {
        switch self {
        case .none: break
        case .requested(let time, _): self = .requested(time, isAnnounced: false)
        case .given(let time, _): self = .given(time, isAnnounced: false)
        }
    }
}

/// A controller that sets the rate of the pipeline to the one that the state machine decided.
struct RateControl: Sendable, Equatable {
    private enum Phase: Equatable {
        case settled
        /// A command that sets a rate is in progress.
        case applying(Double)
        /// The pipeline did not accept the rate, which is set again after the next event.
        case refused
    }

    private var phase = Phase.settled
    /// The rate that the pipeline should have.
    private(set) var wanted = 0.0
    /// The scheduled time at which the next rate takes effect.
    var start = ScheduledStart.none

    /// Changes the rate that the pipeline should have.
    mutating func want(_ rate: Double) { wanted = rate }

    /// Returns the command that sets the rate of the pipeline; `nil` if it already has the rate.
    mutating func command(actualRate: Double) -> PipelineCommand? {
        switch phase {
        case .applying: return nil
        case .refused:
            phase = .settled
            return nil
        case .settled: break
        }
        var startTime: Duration?
        if wanted != 0, case .requested(let time, let isAnnounced) = start {
            startTime = time
            start = .given(time, isAnnounced: isAnnounced)
        } else if actualRate == wanted {
            return nil
        }
        phase = .applying(wanted)
        return .setRate(wanted, at: startTime)
    }

    /// Records that the pipeline has performed the command.
    mutating func applied(actualRate: Double) {
        // A pipeline that cannot play is not asked repeatedly. The rate of the command may differ from the one that is
        // wanted now.
        guard case .applying(let rate) = phase else { return }
        phase = actualRate == 0 && rate != 0 ? .refused : .settled
    }
}

/// The position and the rate of playback.
struct Playhead: Sendable {
    private enum Position {
        /// Playback has no position yet.
        case unknown
        /// The pipeline determines the position.
        case moving
        /// The playhead is at the end.
        case atEnd(MediaTime)
    }

    var machine: PlaybackStateMachine
    var rate = RateControl()
    /// The state of the pipeline and the network, as observed for this event.
    var observation = EngineObservation()
    private var place = Position.unknown

    init(start: Duration, waitsToMinimizeStalls: Bool) {
        machine = PlaybackStateMachine(start: start)
        machine.waitsToMinimizeStalls = waitsToMinimizeStalls
    }

    var timebase: Timebase { observation.timebase }

    /// A Boolean value that indicates whether the playhead has a position.
    var isPositioned: Bool { if case .unknown = place { false } else { true } }

    /// The end of playback if the playhead is at the end; `nil` otherwise.
    var end: MediaTime? {
        guard case .atEnd(let end) = place else { return nil }
        return end
    }

    /// Returns the position at a time.
    func position(at now: Duration) -> MediaTime { end ?? max(.zero, timebase.mediaTime(at: now)) }

    /// Records that the pipeline moved the playhead.
    mutating func land() { place = .moving }

    /// Records that the playhead reached the end.
    mutating func reachEnd(_ end: MediaTime) { place = .atEnd(end) }

    /// Records that the playhead is no longer at the end.
    mutating func leaveEnd() {
        if case .atEnd = place { place = .moving }
    }
}

/// A seek that has not ended.
struct PendingSeek: Sendable {
    /// The reason for a seek.
    enum Origin: Sendable, Equatable {
        /// Playback starts at its start position.
        case start
        /// The media at the position was replaced.
        case refresh
        /// The stream has no media at the position, and playback continues after it.
        case jump
        /// The application requested the seek.
        case command(waiter: Int)
        /// The application requested a synchronized start.
        case synchronizedStart
    }

    let id: Int
    var target: MediaTime
    let tolerance: SeekTolerance
    let origin: Origin
    /// A Boolean value that indicates whether the media of the target was loaded when the seek began.
    let isInBuffer: Bool
    /// A Boolean value that indicates whether the seek moves the playhead to the start position.
    let isStart: Bool

    /// A Boolean value that indicates whether the start and the end of the seek are reported.
    var isReported: Bool {
        switch origin {
        case .command, .synchronizedStart, .jump: true
        case .start, .refresh: false
        }
    }
}

/// The seek that is in progress.
struct SeekState: Sendable {
    /// The state of a seek.
    enum Phase: Sendable {
        case none
        /// The seek waits for the first playlist, because the position of its date is unknown before.
        case waitingForDate(ProgramDateTimeSeek)
        /// The seek waits for the media of its target.
        case waitingForMedia(PendingSeek)
        /// The pipeline moves the playhead.
        case moving(PendingSeek)
    }

    private(set) var phase = Phase.none
    private var lastID = 0

    /// The seek with a known target; `nil` if there is none.
    var pending: PendingSeek? {
        switch phase {
        case .none, .waitingForDate: nil
        case .waitingForMedia(let seek), .moving(let seek): seek
        }
    }

    /// The seek to a date whose position is not yet known; `nil` if there is none.
    var pendingDate: ProgramDateTimeSeek? {
        guard case .waitingForDate(let seek) = phase else { return nil }
        return seek
    }

    /// Returns a new seek number.
    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Begins a seek, which replaces the current one.
    mutating func begin(_ seek: PendingSeek) { phase = .waitingForMedia(seek) }

    /// Begins a seek to a date.
    mutating func begin(_ seek: ProgramDateTimeSeek) { phase = .waitingForDate(seek) }

    /// Changes the target of the seek before the pipeline performs it.
    mutating func move(to target: MediaTime) {
        guard case .waitingForMedia(var seek) = phase else { return }
        seek.target = target
        phase = .waitingForMedia(seek)
    }

    /// Returns the command that moves the playhead, and records that the media of the target is loaded.
    mutating func moveCommand() -> PipelineCommand? {
        guard case .waitingForMedia(let seek) = phase else { return nil }
        phase = .moving(seek)
        return .seek(seek.id, to: seek.target, seek.tolerance)
    }

    /// Returns the seek that the pipeline performed; `nil` if another seek has replaced it.
    func moved(_ id: Int) -> PendingSeek? {
        guard case .moving(let seek) = phase, seek.id == id else { return nil }
        return seek
    }

    /// Ends the seek that is in progress.
    mutating func end() { phase = .none }
}
