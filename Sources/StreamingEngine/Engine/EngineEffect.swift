import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// An output of ``EngineState``, which ``PlaybackEngine`` performs.
enum EngineEffect: Sendable {
    /// Give an event to the observer.
    case report(PlaybackEvent)
    /// Give a snapshot to the observer.
    case publish(PlaybackSnapshot)
    /// Answer a caller that waits for a command.
    case resume(waiter: Int, SeekResult)
    /// Begin work that takes time and ends in an event.
    case begin(EngineWork)
    /// Cancel a transfer, and deliver ``EngineEvent/transferCancelled(request:_:)`` at once.
    case cancel(request: Int)
    /// Measure a transfer, and deliver ``EngineEvent/transferMeasured(request:_:)`` at once.
    case measureTransfer(request: Int)
    /// End all that is in progress, and deliver ``EngineEvent/stopped``.
    case finish
}

/// Work that takes time; ``EngineOperations`` carries it out.
enum EngineWork: Sendable {
    /// Load the address of the item.
    case open
    /// Read the index of a media file.
    case indexFile(head: [UInt8], ResourceAddress, length: Int64?, began: Duration)
    /// Load a media playlist.
    case loadPlaylist(request: Int, TransportRequest, variables: [String: String])
    /// Load a segment and all that it needs.
    case fetch(request: Int, SegmentReference, TransportRequest.Kind)
    /// Give a piece to the pipeline.
    case append(request: Int, MediaPiece)
    /// Carry out a command in the pipeline.
    case pipeline(PipelineCommand)
    /// Close the pipeline.
    case closePipeline
}

/// A command for the pipeline; one is carried out after the other.
enum PipelineCommand: Sendable, Equatable {
    case seek(Int, to: MediaTime, SeekTolerance)
    case setRate(Double, at: Duration?)
    case step(count: Int, waiter: Int)
    case discard([DiscardedRange])
    /// As `discard`; the result is ``PipelineResult/trickPlayDiscarded``.
    case discardTrickPlay([DiscardedRange])
    case selectCaptions(String?)
    case setSound(SoundSettings)
}

/// A range of the media of one type that is removed from the pipeline.
struct DiscardedRange: Sendable, Equatable {
    let type: MediaType
    let range: MediaTimeRange

    /// Returns the ranges in a fixed order, so that the same events lead to the same effects.
    static func ranges(_ ranges: [MediaType: MediaTimeRange]) -> [DiscardedRange] {
        MediaType.allCases.compactMap { type in ranges[type].map { DiscardedRange(type: type, range: $0) } }
    }
}

/// The commands for the pipeline in their order: at most one is in progress.
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
    /// - Returns: The effect that begins it; `nil` if it has to wait for others.
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
    /// - Returns: The effect that begins the next one.
    mutating func finish() -> EngineEffect? {
        guard case .busy(var waiting) = phase, !waiting.isEmpty else {
            phase = .idle
            return nil
        }
        let next = waiting.removeFirst()
        phase = .busy(waiting: waiting)
        return .begin(.pipeline(next))
    }

    /// Forgets all commands.
    mutating func removeAll() { phase = .idle }
}

/// The effects of one event, and what is stamped on its reports.
struct EffectSink: Sendable {
    /// The requests up to the first time that the buffer suffices, which are part of that report.
    private enum StartRequests {
        case collected([ResourceRequest])
        case reported
    }

    /// The place of the snapshot among the effects of an event: it shows the state after all of them.
    private enum SnapshotRequest {
        case none
        case before(effect: Int)
    }

    /// The maximum number of requests that are part of the report of the start.
    private static let mostStartRequests = 64

    /// The time of the event.
    private(set) var now: Duration
    /// The position of the playhead for reports; `nil` before it has one.
    var mediaTime: MediaTime?
    /// The cost of the network that is in use; `nil` if it is unknown.
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

    /// Reports an event, at the time and the position that hold.
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

    /// Reports an error that playback goes on after.
    mutating func reportRecovered(_ error: StreamingError) {
        report(.error(PlaybackErrorRecord(error, didRecover: true)))
    }

    /// Returns the requests up to the first time that the buffer suffices; empty from the second call on.
    mutating func takeStartRequests() -> [ResourceRequest] {
        defer { startRequests = .reported }
        guard case .collected(let requests) = startRequests else { return [] }
        return requests
    }

    /// Returns the number of a new request.
    mutating func nextRequest() -> Int {
        lastRequest += 1
        return lastRequest
    }

    /// Notes that all machines have to decide again.
    mutating func noteChange() { hasChanges = true }

    /// Returns whether something changed since the last call.
    mutating func takeChange() -> Bool {
        defer { hasChanges = false }
        return hasChanges
    }

    /// Publishes a snapshot before the effects that follow.
    mutating func requestSnapshot() {
        if case .none = snapshot { snapshot = .before(effect: effects.count) }
    }

    /// A Boolean value that indicates whether the effects of the event include a snapshot.
    var isSnapshotRequested: Bool { if case .none = snapshot { false } else { true } }

    /// Returns the effects of the event.
    mutating func takeEffects(with snapshot: PlaybackSnapshot?) -> [EngineEffect] {
        if case .before(let index) = self.snapshot, let snapshot { effects.insert(.publish(snapshot), at: index) }
        self.snapshot = .none
        defer { effects = [] }
        return effects
    }

    // MARK: Pipeline

    /// A Boolean value that indicates whether the pipeline has carried out all commands.
    var isPipelineIdle: Bool { pipeline.isIdle }

    /// Gives a command to the pipeline, after those before it.
    mutating func command(_ command: PipelineCommand) {
        if let effect = pipeline.add(command) { add(effect) }
    }

    /// Notes that the pipeline has carried out a command.
    mutating func pipelineFinished() {
        if let effect = pipeline.finish() { add(effect) }
    }

    /// Forgets the commands that the pipeline has not carried out.
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
            address: error.address?.text,
            serverAddress: cause?.serverAddress?.withoutPort,
            responseHeaders: cause?.headerFields ?? [:],
            didRecover: didRecover
        )
    }
}
