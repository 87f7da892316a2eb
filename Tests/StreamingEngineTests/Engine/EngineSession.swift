import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// A session of an ``EngineState`` with a scripted network and a scripted pipeline.
///
/// Every event, effect, report and change of the snapshot is a line of its transcript.
struct EngineSession {
    /// The outcome of a request.
    enum Outcome {
        case loaded
        /// The server answers with a status; `retryAfter` is the value of the Retry-After header, in seconds.
        case status(Int, retryAfter: Int? = nil)
        case unreachable
        /// Access to the key is denied.
        case keyRefused
        /// The media arrives, and the pipeline cannot decode it.
        case notDecodable
        /// The media arrives, and the decoder is lost.
        case decoderLost
        /// The server never answers.
        case none
    }

    /// The folder of all resources.
    static let root = "https://origin.example/"

    /// The maximum number of events.
    ///
    /// A session that exceeds it repeats the same events without end.
    private static let mostEvents = 4_000

    /// The texts of the playlists by name.
    ///
    /// Each request returns the next one, and the last one is repeated.
    var playlists: [String: [String]] = [:]
    /// The outcomes of the requests for a resource by name.
    ///
    /// Each request has the next one, and the last one is repeated.
    var outcomes: [String: [Outcome]] = [:]
    /// The duration of a request, in seconds, by the prefix of the resource's name; the longest matching prefix counts.
    var transferTimes = ["": 1.0]
    /// The size of segments, in bytes; 2 000 000 at most.
    var segmentSize = 1_000_000
    /// The time that the pipeline needs for each command, in seconds.
    var commandTime = 0.0
    /// The commands of the pipeline that fail, by the prefix of their text in the transcript.
    var failingCommands: Set<String> = []
    /// A Boolean value that indicates whether the transcript is written.
    var recordsLines = true
    /// A Boolean value that indicates whether the pipeline refuses to play.
    var refusesToPlay = false
    var observation = EngineObservation()

    private(set) var state: EngineState
    private(set) var lines: [String] = []
    private(set) var now = Duration.zero
    /// A Boolean value that indicates whether the engine canceled everything that was in progress.
    private(set) var isFinished = false
    /// A Boolean value that indicates whether the engine closed the pipeline.
    private(set) var isClosed = false
    /// The callers whose commands have no result yet.
    private(set) var waiters: Set<Int> = []
    /// The number of events.
    private var eventCount = 0
    private var scheduled: Timebase?
    private var queue: [(time: Duration, event: EngineEvent)] = []
    private var transfers: [Int: (name: String, began: Duration, time: Double)] = [:]
    private var snapshot = PlaybackSnapshot()

    init(_ options: StreamingOptions = StreamingOptions()) {
        state = EngineState(options: options, at: .zero)
        observation.abilities = MediaPipelineCapabilities(supportsReversePlayback: true, supportsStepping: true)
    }

    // MARK: Events

    /// Starts the engine with the playlist of the given name as its item.
    mutating func start(_ name: String) {
        item = name
        deliver(.started)
    }

    private var item = ""

    /// Gives a command to the engine.
    mutating func command(_ command: EngineCommand) {
        switch command {
        case .seek(_, _, let waiter), .seekToDate(_, _, let waiter), .step(_, let waiter),
            .setRateSynchronized(_, _, _, let waiter):
            waiters.insert(waiter)
        case .setRate, .cancelPendingSeeks, .select, .update: break
        }
        deliver(.command(command))
    }

    /// Sets the rate.
    mutating func setRate(_ rate: Double, atOnce: Bool = false) {
        command(.setRate(rate, reason: .setRateCalled, atOnce: atOnce))
    }

    /// Changes the options.
    mutating func update(_ change: (inout StreamingOptions) -> Void) {
        var options = state.control.options
        change(&options)
        command(.update(options))
    }

    /// Delivers an event of the pipeline.
    mutating func report(_ event: MediaPipelineEvent) { deliver(.pipelineReported(event)) }

    /// Delivers a request for a key that ended, and a failed attempt that is repeated.
    mutating func completeRequestsAside() {
        let address = ResourceAddress(Self.root + "key")
        let error = TransportError(.connectionLost, "the connection broke", address: address)
        let request = TransportRequest(address, kind: .key)
        var ended = ResourceRequest(.contentKey, request, began: now, now: now, nil)
        ended.wasAbandoned = false
        let failed = ResourceRequest(.contentKey, request, began: now, now: now, error)
        deliver(.requestsCompleted([(failed, error), (ended, nil)]))
    }

    /// Stops the engine.
    mutating func stop() {
        queue = []
        deliver(.stopped)
        while let next = queue.first {
            queue.removeFirst()
            deliver(next.event)
        }
    }

    /// Delivers responses and deadlines until a time, in seconds.
    mutating func run(until seconds: Double) {
        let end = Duration.seconds(seconds)
        while let time = nextTime, time <= end, !isFinished {
            guard eventCount < Self.mostEvents else {
                lines.append("the session has no end")
                Issue.record("the session has no end")
                return
            }
            now = max(now, time)
            if let next = queue.first, next.time <= now {
                queue.removeFirst()
                deliver(next.event)
            } else {
                deliver(.timerFired)
            }
        }
        now = max(now, end)
    }

    private var nextTime: Duration? { [queue.first?.time, state.nextDeadline].compactMap(\.self).min() }

    /// A Boolean value that indicates whether the engine waits for no response and no deadline.
    var isAtRest: Bool { queue.isEmpty && state.nextDeadline == nil }

    private mutating func enqueue(_ event: EngineEvent, after seconds: Double) {
        let time = now + .seconds(seconds)
        let position = queue.firstIndex { $0.time > time } ?? queue.count
        queue.insert((time, event), at: position)
    }

    private mutating func deliver(_ event: EngineEvent) {
        if let scheduled, scheduled.time <= now { (observation.timebase, self.scheduled) = (scheduled, nil) }
        var seen = observation
        seen.timebase = scheduled ?? observation.timebase
        let observed = state.handle(.observed(seen), at: now)
        #expect(observed.isEmpty)
        eventCount += 1
        if recordsLines { lines.append("\(text(now)) \(text(event))") }
        var effects = state.handle(event, at: now)[...]
        while let effect = effects.popFirst() {
            perform(effect).map { effects += state.handle($0, at: now) }
        }
    }

    // MARK: Effects

    /// Performs an effect.
    ///
    /// - Returns: The event that the effect delivers at once; `nil` if there is none.
    private mutating func perform(_ effect: EngineEffect) -> EngineEvent? {
        switch effect {
        case .report(let event): note("report \(text(event.kind))\(event.mediaTime.map { " at \(text($0))" } ?? "")")
        case .publish(let new):
            if recordsLines { for change in Self.changes(from: snapshot, to: new) { note("snapshot \(change)") } }
            snapshot = new
        case .resume(let waiter, let result):
            waiters.remove(waiter)
            note("answer \(waiter) \(result.isFinished ? "finished" : "unfinished") at \(text(result.position))")
        case .cancel(let request):
            note("cancel \(request)")
            guard let progress = progress(of: request) else { return nil }
            transfers[request] = nil
            queue.removeAll { Self.request(of: $0.event) == request }
            return .transferCancelled(request: request, progress)
        case .measureTransfer(let request):
            note("measure \(request)")
            return progress(of: request).map { .transferMeasured(request: request, $0) }
        case .finish:
            note("finish")
            isFinished = true
        case .begin(let work): begin(work)
        }
        return nil
    }

    private static func request(of event: EngineEvent) -> Int? {
        guard case .segmentReceived(let request, _, _) = event else { return nil }
        return request
    }

    private mutating func note(_ line: String) { if recordsLines { lines.append("    \(line)") } }

    private mutating func begin(_ work: EngineWork) {
        switch work {
        case .open:
            note("open")
            enqueue(opening(), after: time(of: item))
        case .reopen(let request):
            note("reopen \(request)")
            switch opening() {
            case .opened(.presentation(let presentation, _, _), let made):
                enqueue(.reopened(request: request, .success(presentation), made), after: time(of: item))
            case .openingFailed(let error, let made):
                enqueue(.reopened(request: request, .failure(error), made), after: time(of: item))
            default: Issue.record("the item cannot be opened again")
            }
        case .loadSteeringManifest(let request, let address):
            let name = Self.name(address.text)
            note("steer \(request) \(name)")
            let file = String(name.prefix { $0 != "?" })
            let event = steering(request, at: address, file)
            event.map { enqueue($0, after: time(of: file)) }
        case .indexFile: note("index")
        case .loadPlaylist(let request, let resource, _):
            let name = Self.name(resource.address.text)
            note("load \(request) \(name)")
            let file = String(name.prefix { $0 != "?" })
            let response = response(to: resource, file)
            response.map { enqueue(.playlistReceived(request: request, $0), after: time(of: file)) }
        case .fetch(let request, let segment, _):
            let name = Self.name(segment.address.text)
            note("fetch \(request) \(name) \(text(segment.range))")
            fetch(request, name, segment)
        case .append(let request, let piece):
            var isGap = false
            if case .gap = piece.content { isGap = true }
            note("append \(request) \(piece.type) \(isGap ? "gap " : "")\(text(piece.range))")
            let failure = isGap ? nil : failingPieces.removeValue(forKey: request)
            enqueue(.appended(request: request, failure.map { .failure($0) } ?? .success(piece.range)), after: 0)
        case .pipeline(let command):
            note(text(command))
            enqueue(.pipelineFinished(carryOut(command)), after: commandTime)
        case .closePipeline:
            note("close")
            isClosed = true
        }
    }

    private var failingPieces: [Int: MediaPipelineError] = [:]

    // MARK: Network

    private mutating func outcome(of name: String) -> Outcome {
        guard var list = outcomes[name], let first = list.first else { return .loaded }
        if list.count > 1 { list.removeFirst() }
        outcomes[name] = list
        return first
    }

    private func time(of name: String) -> Double {
        let found = transferTimes.filter { name.hasPrefix($0.key) }.max { $0.key.count < $1.key.count }
        return found?.value ?? 1
    }

    private mutating func opening() -> EngineEvent {
        let address = ResourceAddress(Self.root + item)
        let began = now
        let end = now + .seconds(time(of: item))
        let request = TransportRequest(address, kind: .playlist)
        if let error = error(outcome(of: item), address) {
            return .openingFailed(
                StreamingError(error, "the playlist"),
                ResourceRequest(.multivariantPlaylist, request, began: began, now: end, error)
            )
        }
        let text = nextText(of: item)
        let context = PlaylistContext(address: address)
        do {
            let playlist = try Playlist.parse(Array(text.utf8), context: context)
            var made = ResourceRequest(.multivariantPlaylist, request, began: began, now: end, nil)
            made.wasAbandoned = false
            let media: MediaPlaylist? = if case .media(let media) = playlist { media } else { nil }
            return .opened(.presentation(Presentation(playlist), media: media, address), made)
        } catch {
            return .openingFailed(StreamingError(.unreadablePlaylist, "\(error)", address: address), nil)
        }
    }

    private mutating func nextText(of name: String) -> String {
        guard var texts = playlists[name], let first = texts.first else { return "" }
        if texts.count > 1 { texts.removeFirst() }
        playlists[name] = texts
        return first
    }

    private func error(_ outcome: Outcome, _ address: ResourceAddress) -> TransportError? {
        switch outcome {
        case .status(let status, let retryAfter):
            TransportError(
                .status,
                "status \(status)",
                address: address,
                status: status,
                retryAfter: retryAfter.map { .seconds($0) }
            )
        case .unreachable: TransportError(.cannotConnect, "no connection", address: address)
        case .loaded, .keyRefused, .notDecodable, .decoderLost, .none: nil
        }
    }

    private mutating func response(to request: TransportRequest, _ name: String) -> PlaylistResponse? {
        let outcome = outcome(of: name)
        if case .none = outcome { return nil }
        let end = now + .seconds(time(of: name))
        if let error = error(outcome, request.address) {
            let failed = ResourceRequest(.mediaPlaylist, request, began: now, now: end, error)
            return PlaylistResponse(request: failed, result: .failure(StreamingError(error, "a media playlist")))
        }
        var made = ResourceRequest(.mediaPlaylist, request, began: now, now: end, nil)
        made.wasAbandoned = false
        do {
            let text = nextText(of: name)
            let context = PlaylistContext(address: request.address)
            let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: context)
            return PlaylistResponse(request: made, result: .success(playlist))
        } catch {
            let failure = StreamingError(.unreadablePlaylist, "\(error)", address: request.address)
            return PlaylistResponse(request: made, result: .failure(failure))
        }
    }

    private mutating func steering(_ number: Int, at address: ResourceAddress, _ name: String) -> EngineEvent? {
        let outcome = outcome(of: name)
        if case .none = outcome { return nil }
        let request = TransportRequest(address, kind: .other)
        let end = now + .seconds(time(of: name))
        if let error = error(outcome, address) {
            let failed = ResourceRequest(.other, request, began: now, now: end, error)
            let failure = StreamingError(error, "the steering manifest")
            return .steeringManifestReceived(request: number, .failure(failure), failed)
        }
        var made = ResourceRequest(.other, request, began: now, now: end, nil)
        made.wasAbandoned = false
        do throws(StreamingError) {
            let manifest = try SteeringManifest(parsing: Array(nextText(of: name).utf8), at: address)
            return .steeringManifestReceived(request: number, .success(manifest), made)
        } catch {
            return .steeringManifestReceived(request: number, .failure(error), made)
        }
    }

    private mutating func fetch(_ request: Int, _ name: String, _ segment: SegmentReference) {
        let time = time(of: name)
        transfers[request] = (name, now, time)
        let outcome = outcome(of: name)
        let progress = TransferProgress(
            measurement: measurement(began: now, part: 1),
            expectedBytes: Int64(segmentSize)
        )
        switch outcome {
        case .none: return
        case .keyRefused:
            let refused = TransportError(.status, "status 403", address: segment.address, status: 403)
            let failure = SegmentLoader.Failure.transport(refused, .contentKey)
            enqueue(.segmentReceived(request: request, .failure(failure), progress), after: time)
        case .status, .unreachable:
            guard let error = error(outcome, segment.address) else { return }
            let failure = SegmentLoader.Failure.transport(error, .mediaSegment)
            enqueue(.segmentReceived(request: request, .failure(failure), progress), after: time)
        case .loaded, .notDecodable, .decoderLost:
            if case .notDecodable = outcome { failingPieces[request] = MediaPipelineError(.notDecodable, "not media") }
            if case .decoderLost = outcome { failingPieces[request] = MediaPipelineError(.deviceLost, "no decoder") }
            let bytes = Self.payload.getSlice(at: 0, length: segmentSize) ?? ByteBuffer()
            let loaded = SegmentLoader.Loaded(
                content: .media(bytes, initialization: nil),
                protection: nil,
                fetched: FetchedResource(
                    bytes: bytes,
                    address: segment.address,
                    contentType: nil,
                    measurement: measurement(began: now, part: 1),
                    startTime: now,
                    endTime: now + .seconds(time),
                    status: 200
                )
            )
            enqueue(.segmentReceived(request: request, .success(loaded), progress), after: time)
        }
    }

    private static let payload = ByteBuffer(repeating: 1, count: 2_000_000)

    private func measurement(began: Duration, part: Double) -> TransferMeasurement {
        var measurement = TransferMeasurement(requestStart: began)
        measurement.timeToFirstByte = .zero
        measurement.bytes = ByteCount(Int64(Double(segmentSize) * part))
        return measurement
    }

    private func progress(of request: Int) -> TransferProgress? {
        guard let transfer = transfers[request] else { return nil }
        let part = min(1, (now - transfer.began) / .seconds(max(transfer.time, 0.001)))
        let expected = Int64(segmentSize)
        return TransferProgress(measurement: measurement(began: transfer.began, part: part), expectedBytes: expected)
    }

    // MARK: Pipeline

    private mutating func carryOut(_ command: PipelineCommand) -> PipelineResult {
        let fails = failingCommands.contains { text(command).hasPrefix($0) }
        switch command {
        case .seek(let id, let target, _):
            if fails { return .sought(seek: id, .failure(MediaPipelineError(.notDecodable, "nothing to show"))) }
            observation.timebase = Timebase(mediaTime: target, time: now, rate: observation.timebase.rate)
            scheduled = nil
            return .sought(seek: id, .success(target))
        case .setRate(let rate, let time):
            let rate = refusesToPlay ? 0 : rate
            if let time, time > now {
                observation.timebase = observation.timebase.continued(at: now, rate: 0)
                scheduled = Timebase(mediaTime: observation.timebase.mediaTime, time: time, rate: rate)
            } else {
                observation.timebase = observation.timebase.continued(at: now, rate: rate)
                scheduled = nil
            }
            return .rateSet
        case .step(let count, let waiter):
            if fails { return .stepped(landed: nil, waiter: waiter) }
            let landed = observation.timebase.mediaTime + MediaTime(value: Int64(count), timescale: 25)
            observation.timebase = Timebase(mediaTime: landed, time: now, rate: 0)
            return .stepped(landed: landed, waiter: waiter)
        case .discardTrickPlay: return .trickPlayDiscarded
        case .discard, .selectCaptions, .selectTrack, .setAudioSettings: return .done
        }
    }
}
