import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// An action of ``EngineState`` that ``PlaybackEngine`` performs.
enum EngineEffect: Sendable {
    /// Passes an event to the observer.
    case report(PlaybackEvent)
    /// Passes a snapshot to the observer.
    case publish(PlaybackSnapshot)
    /// Returns the result of a command to its caller.
    case resume(waiter: Int, SeekResult)
    /// Begins work that takes time, and ends with an event.
    case begin(EngineWork)
    /// Cancels a transfer, and delivers ``EngineEvent/transferCancelled(request:_:)`` at once.
    case cancel(request: Int)
    /// Measures a transfer, and delivers ``EngineEvent/transferMeasured(request:_:)`` at once.
    case measureTransfer(request: Int)
    /// Cancels all operations in progress, and delivers ``EngineEvent/stopped``.
    case finish
}

/// Work that takes time, which ``EngineOperations`` performs.
enum EngineWork: Sendable {
    /// Loads the address of the item.
    case open
    /// Loads the address of the item again, to renew the addresses of its variants and renditions.
    case reopen(request: Int)
    /// Loads the steering manifest.
    case loadSteeringManifest(request: Int, ResourceAddress)
    /// Reads the index of a media file.
    case indexFile(head: [UInt8], ResourceAddress, length: Int64?, began: Duration)
    /// Loads a media playlist.
    case loadPlaylist(request: Int, TransportRequest, variables: [String: String])
    /// Loads a segment of a track, with its key and its initialization section.
    case fetch(request: Int, SegmentReference, TrackKind)
    /// Appends media to the pipeline.
    case append(request: Int, PipelineSegment)
    /// Performs a command of the pipeline.
    case pipeline(PipelineCommand)
    /// Closes the pipeline.
    case closePipeline
}

/// A command for the pipeline, which performs one command at a time.
enum PipelineCommand: Sendable, Equatable {
    case seek(Int, to: MediaTime, SeekTolerance)
    case setRate(Double, at: Duration?)
    case step(count: Int, waiter: Int)
    case discard([DiscardedRange])
    /// Like `discard`; the result is ``PipelineResult/trickPlayDiscarded``.
    case discardTrickPlay([DiscardedRange])
    case selectCaptions(String?)
    /// Selects the track of a media file that is played of a media type.
    case selectTrack(MediaType, FileTrack?)
    case setAudioSettings(AudioSettings)
}

/// A range of the media of one type that is removed from the pipeline.
struct DiscardedRange: Sendable, Equatable {
    let type: MediaType
    let range: MediaTimeRange

    /// All subtitles, wherever their cues are.
    static let allSubtitles = DiscardedRange(
        type: .subtitles,
        range: MediaTimeRange(start: MediaTime(seconds: -4_294_967_296), end: MediaTime(seconds: 4_294_967_296))
    )

    /// Returns the ranges in a fixed order, so that equal events always lead to equal effects.
    static func ranges(_ ranges: [MediaType: MediaTimeRange]) -> [DiscardedRange] {
        MediaType.allCases.compactMap { type in ranges[type].map { DiscardedRange(type: type, range: $0) } }
    }
}

/// A queue of commands for the pipeline, of which at most one is in progress.
struct PipelineQueue: Sendable {
    private enum Phase {
        case idle
        case busy(waiting: [PipelineCommand])
    }

    private var phase = Phase.idle

    /// A Boolean value that indicates whether no command is in progress.
    var isIdle: Bool { if case .idle = phase { true } else { false } }

    /// Adds a command.
    ///
    /// - Returns: The effect that begins it; `nil` if it waits for other commands.
    mutating func add(_ command: PipelineCommand) -> EngineEffect? {
        switch phase {
        case .idle:
            phase = .busy(waiting: [])
            return .begin(.pipeline(command))
        case .busy(let waiting):
            phase = .busy(waiting: waiting + [command])
            return nil
        }
    }

    /// Ends the command that is in progress.
    ///
    /// - Returns: The effect that begins the next command; `nil` if there is none.
    mutating func finish() -> EngineEffect? {
        guard case .busy(var waiting) = phase, !waiting.isEmpty else {
            phase = .idle
            return nil
        }
        let next = waiting.removeFirst()
        phase = .busy(waiting: waiting)
        return .begin(.pipeline(next))
    }

    /// Removes all commands.
    mutating func removeAll() { phase = .idle }
}

/// The collector of the effects of an event, which adds the time and the media time to reports.
struct EffectSink: Sendable {
    /// The requests until the buffer first suffices for playback, which are part of the report of the start.
    private enum StartRequests {
        case collected([ResourceRequest])
        case reported
    }

    /// The position of the snapshot among the effects of an event.
    ///
    /// The snapshot itself shows the state after all of them.
    private enum SnapshotRequest {
        case none
        case before(effect: Int)
    }

    /// The maximum number of requests in the report of the start; later ones are left out of it.
    private static let mostStartRequests = 64

    /// The time of the event.
    private(set) var now: Duration
    /// The position of the playhead, for reports; `nil` before the playhead has a position.
    var mediaTime: MediaTime?
    /// The cost of the current network; `nil` if it is unknown.
    var networkCost: NetworkCost?
    private var effects: [EngineEffect] = []
    private var startRequests = StartRequests.collected([])
    private var lastRequest = 0
    private var hasChanges = false
    private var pipeline = PipelineQueue()
    private var snapshot = SnapshotRequest.none

    init(now: Duration) { self.now = now }

    /// Begins an event.
    mutating func begin(at now: Duration) { self.now = now }

    /// Adds an effect.
    mutating func add(_ effect: EngineEffect) { effects.append(effect) }

    /// Reports an event, with the current time and media time.
    mutating func report(_ kind: PlaybackEvent.Kind) {
        var kind = kind
        if case .resourceRequest(var request) = kind {
            if let networkCost, !request.wasReadFromCache {
                request.usedCellularNetwork = networkCost.contains(.cellular)
                kind = .resourceRequest(request)
            }
            if case .collected(let requests) = startRequests, requests.count < Self.mostStartRequests {
                startRequests = .collected(requests + [request])
            }
        }
        effects.append(.report(PlaybackEvent(time: now, mediaTime: mediaTime, kind: kind)))
    }

    /// Reports an error after which playback continues.
    mutating func reportRecovered(_ error: StreamingError) {
        report(.error(PlaybackErrorRecord(error, didRecover: true)))
    }

    /// Returns the requests until the buffer first sufficed for playback; empty from the second call on.
    mutating func takeStartRequests() -> [ResourceRequest] {
        defer { startRequests = .reported }
        guard case .collected(let requests) = startRequests else { return [] }
        return requests
    }

    /// Returns a new request number.
    mutating func nextRequest() -> Int {
        lastRequest += 1
        return lastRequest
    }

    /// Records a change, after which all state machines decide again.
    mutating func noteChange() { hasChanges = true }

    /// Returns whether a change was recorded since the last call.
    mutating func takeChange() -> Bool {
        defer { hasChanges = false }
        return hasChanges
    }

    /// Inserts a snapshot before the effects that follow.
    mutating func requestSnapshot() {
        if case .none = snapshot { snapshot = .before(effect: effects.count) }
    }

    /// A Boolean value that indicates whether the effects of the event include a snapshot.
    var isSnapshotRequested: Bool { if case .none = snapshot { false } else { true } }

    /// Returns the effects of the event, with the snapshot at its position, and removes them.
    mutating func takeEffects(with snapshot: PlaybackSnapshot?) -> [EngineEffect] {
        if case .before(let index) = self.snapshot, let snapshot { effects.insert(.publish(snapshot), at: index) }
        self.snapshot = .none
        defer { effects = [] }
        return effects
    }

    // MARK: Pipeline

    /// A Boolean value that indicates whether the pipeline has performed all commands.
    var isPipelineIdle: Bool { pipeline.isIdle }

    /// Adds a command for the pipeline, after earlier ones.
    mutating func command(_ command: PipelineCommand) {
        if let effect = pipeline.add(command) { add(effect) }
    }

    /// Records that the pipeline has performed a command, and begins the next one.
    mutating func pipelineFinished() {
        if let effect = pipeline.finish() { add(effect) }
    }

    /// Removes the commands that the pipeline has not performed.
    mutating func forgetCommands() { pipeline.removeAll() }
}

extension PlaybackErrorRecord {
    /// Creates the record of an error for the logs.
    init(_ error: StreamingError, didRecover: Bool) {
        let cause = error.cause as? TransportError
        self.init(
            statusCode: error.status ?? error.number,
            domain: error.domain,
            comment: error.message,
            address: error.address?.withoutUserInformation.text,
            serverAddress: cause?.serverAddress?.withoutPort,
            responseHeaders: cause?.headerFields ?? [:],
            didRecover: didRecover
        )
    }
}
