import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The start of playback at a given time of the clock.
enum ScheduledStart: Sendable, Equatable {
    case none
    /// The pipeline is told of the time with the next rate; until the time has come, playback counts as waiting unless a
    /// seek came after the request.
    case requested(Duration, isAnnounced: Bool)
    /// The pipeline was told of the time.
    case given(Duration, isAnnounced: Bool)

    /// The time at which playback starts, while it counts as waiting for it.
    var announcedTime: Duration? {
        switch self {
        case .requested(let time, isAnnounced: true), .given(let time, isAnnounced: true): time
        case .none, .requested(_, isAnnounced: false), .given(_, isAnnounced: false): nil
        }
    }

    /// Counts playback no longer as waiting for the time.
    mutating func withdrawAnnouncement() {
        switch self {
        case .none: break
        case .requested(let time, _): self = .requested(time, isAnnounced: false)
        case .given(let time, _): self = .given(time, isAnnounced: false)
        }
    }
}

/// Brings the rate of a pipeline to the one that was decided.
struct RateControl: Sendable, Equatable {
    private enum Phase: Equatable {
        case settled
        /// The pipeline was told of a rate; the command is in progress.
        case applying(Double)
        /// The pipeline did not take the rate; it is told again after the next event.
        case refused
    }

    private var phase = Phase.settled
    /// The rate that the playhead is to have.
    private(set) var wanted = 0.0
    /// The time at which the next rate holds.
    var start = ScheduledStart.none

    /// Sets the rate that the playhead is to have.
    mutating func want(_ rate: Double) { wanted = rate }

    /// Returns the command that brings the pipeline to the rate; `nil` if it has it.
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

    /// Notes that the pipeline carried out the command.
    mutating func applied(actualRate: Double) {
        // A pipeline that cannot play is not asked again and again. The rate that it was told of may not be wanted any more.
        guard case .applying(let rate) = phase else { return }
        phase = actualRate == 0 && rate != 0 ? .refused : .settled
    }
}

/// The position and the rate of playback.
struct Playhead: Sendable {
    private enum Position {
        /// Playback has not begun anywhere.
        case unknown
        /// The pipeline knows the position.
        case moving
        /// The playhead is at the end.
        case atEnd(MediaTime)
    }

    var machine: PlaybackStateMachine
    var rate = RateControl()
    /// The pipeline and the network, as observed for this event.
    var observation = EngineObservation()
    private var place = Position.unknown

    init(start: Duration, waitsToMinimizeStalls: Bool) {
        machine = PlaybackStateMachine(start: start)
        machine.waitsToMinimizeStalls = waitsToMinimizeStalls
    }

    var timebase: Timebase { observation.timebase }

    /// A Boolean value that indicates whether playback has begun somewhere.
    var isPositioned: Bool { if case .unknown = place { false } else { true } }

    /// The end, if the playhead is there; `nil` elsewhere.
    var end: MediaTime? {
        guard case .atEnd(let end) = place else { return nil }
        return end
    }

    /// Returns the position at a time.
    func position(at now: Duration) -> MediaTime { end ?? max(.zero, timebase.mediaTime(at: now)) }

    /// Notes that the pipeline moved the playhead.
    mutating func land() { place = .moving }

    /// Notes that the playhead reached the end.
    mutating func reachEnd(_ end: MediaTime) { place = .atEnd(end) }

    /// Notes that the playhead is no longer at the end.
    mutating func leaveEnd() {
        if case .atEnd = place { place = .moving }
    }
}

/// A seek.
struct PendingSeek: Sendable {
    /// The reason for a seek.
    enum Origin: Sendable, Equatable {
        /// Playback begins.
        case start
        /// The media at the position was replaced.
        case refresh
        /// The stream has nothing at the position; playback goes on after it.
        case jump
        /// The application asked for it.
        case command(waiter: Int)
        /// The application asked for a synchronized start.
        case synchronizedStart
    }

    let id: Int
    var target: MediaTime
    let tolerance: SeekTolerance
    let origin: Origin
    /// A Boolean value that indicates whether the media of the target was loaded when the seek began.
    let isInBuffer: Bool
    /// A Boolean value that indicates whether playback begins with it.
    let isStart: Bool

    /// A Boolean value that indicates whether its beginning and its end are reported.
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
        /// The position of a date is not known before the first playlist.
        case waitingForDate(ProgramDateTimeSeek)
        /// The media of the target is awaited.
        case waitingForMedia(PendingSeek)
        /// The pipeline moves the playhead.
        case moving(PendingSeek)
    }

    private(set) var phase = Phase.none
    private var lastID = 0

    /// The seek whose target is known.
    var pending: PendingSeek? {
        switch phase {
        case .none, .waitingForDate: nil
        case .waitingForMedia(let seek), .moving(let seek): seek
        }
    }

    /// The seek to a date that is not known yet.
    var pendingDate: ProgramDateTimeSeek? {
        guard case .waitingForDate(let seek) = phase else { return nil }
        return seek
    }

    /// Returns the number of a new seek.
    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Begins a seek; the one before is replaced.
    mutating func begin(_ seek: PendingSeek) { phase = .waitingForMedia(seek) }

    /// Begins a seek to a date.
    mutating func begin(_ seek: ProgramDateTimeSeek) { phase = .waitingForDate(seek) }

    /// Changes the target of the seek before the pipeline is told of it.
    mutating func move(to target: MediaTime) {
        guard case .waitingForMedia(var seek) = phase else { return }
        seek.target = target
        phase = .waitingForMedia(seek)
    }

    /// Returns the command that moves the playhead, once the media is there.
    mutating func moveCommand() -> PipelineCommand? {
        guard case .waitingForMedia(let seek) = phase else { return nil }
        phase = .moving(seek)
        return .seek(seek.id, to: seek.target, seek.tolerance)
    }

    /// Returns the seek that the pipeline carried out; `nil` if another seek has replaced it.
    func moved(_ id: Int) -> PendingSeek? {
        guard case .moving(let seek) = phase, seek.id == id else { return nil }
        return seek
    }

    /// Ends the seek that is in progress.
    mutating func end() { phase = .none }
}
