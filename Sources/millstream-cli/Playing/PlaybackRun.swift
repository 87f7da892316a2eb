import Foundation
import MediaTiming
import MediaTransport
import Millstream
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import Synchronization

/// The playback of a source up to its end.
struct PlaybackRun: Sendable {
    let address: ResourceAddress
    let loader: ResourceLoader
    /// A Boolean value that indicates whether DASH presentations are translated to HLS.
    let translatesDASH: Bool
    let settings: PlaybackSettings
    /// A Boolean value that indicates whether the time in which all tasks wait is skipped.
    let skipsWaiting: Bool
    let files: PlaybackFiles
    let display: PlaybackDisplay
    let output: any PlaybackOutput
    /// The throughput of the networks of earlier runs; `nil` if the network is simulated.
    let throughputHistory: ThroughputHistory?

    private static let updateInterval = Duration.milliseconds(200)

    /// Plays the source.
    ///
    /// - Returns: The result of the session, also if it is canceled after playback has started.
    /// - Throws: The error of an item that cannot be played; `CancellationError` if the run is canceled before playback
    ///   has started.
    func run() async throws -> PlaybackResult {
        let asset = Asset(address, options: assetOptions, environment: environment(loader, SystemTimeSource(), nil))
        for notice in try await settings.verify(asset) { display.showNotice(notice) }
        guard skipsWaiting else { return try await play(environment(loader, SystemTimeSource(), nil), gated: false) }
        let simulation = Simulation()
        let simulated = ResourceLoader(
            RealTimeTransport(loader.transport, simulation),
            policy: loader.policy,
            time: simulation
        )
        do {
            return try await simulation.run {
                try await play(environment(simulated, simulation, simulation.actorExecutor), gated: true)
            }
        } catch is LiveStreamError {
            // A live stream cannot be played faster than it is produced.
            return try await play(environment(loader, SystemTimeSource(), nil), gated: false)
        }
    }

    private var assetOptions: AssetOptions {
        var options = AssetOptions()
        options.translatesDASH = translatesDASH
        return options
    }

    /// An error that reports that the stream is live, thrown before any event is published.
    private struct LiveStreamError: Error {}

    private func environment(
        _ loader: ResourceLoader,
        _ time: any TimeSource,
        _ executor: (any SerialExecutor)?
    ) -> Player.Environment {
        var environment = output.environment
        environment.time = time
        environment.makeLoading = { _, _ in loader }
        // The loader knows the network.
        environment.network = NetworkStatus()
        environment.throughputHistory = throughputHistory
        #if Playback
        environment.decodingExecutor = executor
        #endif
        return environment
    }

    private func play(_ environment: Player.Environment, gated isGated: Bool) async throws -> PlaybackResult {
        let item = await settings.makeItem(Asset(address, options: assetOptions, environment: environment))
        let gate = LiveGate(files, isClosed: isGated)
        item.addEventObserver { event, session in
            for notice in gate.add(event, of: session) { display.showNotice(notice) }
        }
        let player = try Player(playerItem: item)
        player.isMuted = settings.isMuted
        player.volume = settings.volume
        // The rate with which the keys continue after a pause.
        player.defaultRate = settings.rate
        do {
            try await play(item, in: player, gate)
        } catch is CancellationError {
            // What was played until the interruption is reported below.
        } catch {
            await player.shutDown()
            throw error
        }
        await player.shutDown()
        if gate.isLive { throw LiveStreamError() }
        if let error = item.error {
            // The error of an output is more useful than that of the item, which has no decoder because of it.
            let cause: any Error = error.code == .pipelineLost ? output.failure ?? error.cause ?? error : error
            let metrics = gate.metrics(at: environment.time.now)
            guard metrics.startupTime != nil else { throw cause }
            return PlaybackResult(metrics: metrics, skippedSegments: gate.skippedSegments, failure: cause)
        }
        let incompleteFile = item.errorLog.events.first {
            $0.errorStatusCode == StreamingError.Code.incompleteFile.number
        }
        showFailures(item.errorLog.events.filter { $0 != incompleteFile })
        let metrics = gate.metrics(at: environment.time.now)
        if metrics.startupTime == nil { try Task.checkCancellation() }
        if let end = settings.end, settings.rate > 0, settings.start ?? .zero < end, item.state.hasPlayedToEnd,
            metrics.watchedDuration == .zero, metrics.skippedDuration == .zero
        {
            throw PlaybackSettings.endBeforeStart(end)
        }
        guard let incompleteFile, let reason = incompleteFile.errorComment, item.state.hasPlayedToEnd,
            settings.end.map({ $0 > item.state.duration ?? .zero }) ?? true
        else { return PlaybackResult(metrics: metrics, skippedSegments: gate.skippedSegments) }
        return PlaybackResult(
            metrics: metrics,
            skippedSegments: gate.skippedSegments,
            failure: Failure(.failed, StreamingError.Code.incompleteFile.rawValue, reason)
        )
    }

    /// The maximum number of failures that are shown; the error log has all of them.
    private static let maximumFailureCount = 3

    /// Shows what could not be loaded, because playback skips it.
    private func showFailures(_ events: [ErrorLog.Event]) {
        for event in events.prefix(Self.maximumFailureCount) {
            let name = event.uri.map { ResourceAddress($0).description } ?? event.errorDomain
            let reason = event.errorComment ?? "\(event.errorStatusCode)"
            display.showNotice("could not be played: \(name) (\(reason))")
        }
        let more = events.count -| Self.maximumFailureCount
        if more > 0 { display.showNotice("\(more) more; --error-log FILE writes all of them") }
    }

    /// Plays an item until it ends or fails, the user quits, or the stream turns out to be live.
    private func play(_ item: PlayerItem, in player: Player, _ gate: LiveGate) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Whether an item can be played backward is known when it is ready.
            if settings.rate > 0 { player.rate = settings.rate }
            group.addTask { try await updateDisplays(item, in: player, gate) }
            // Ends the group before any media is decoded and shown.
            group.addTask { await gate.waitUntilLive() }
            group.addTask {
                await output.show(player) { error in
                    let position = item.status == .readyToPlay ? item.currentTime() : nil
                    gate.add(error, at: player.environment.time.now, position)
                }
            }
            group.addTask {
                await Suspension.handleSignal(for: player)
                await waitForCancellation()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func updateDisplays(_ item: PlayerItem, in player: Player, _ gate: LiveGate) async throws {
        let time = player.environment.time
        var interstitial: String?
        var hasBegun = settings.rate > 0
        var lateStart = settings.start
        while true {
            let (playerState, state) = (player.state, item.state)
            if state.status == .failed || playerState.status == .failed { return }
            if playerState.reasonForWaitingToPlay == .duringInterstitialEvent {
                let current = player.interstitialController.currentEvent?.id
                if let current, current != interstitial { display.showNotice("interstitial: \(current)") }
                interstitial = current
            } else {
                interstitial = nil
            }
            let now = time.now
            // Backward playback ends with a pause at the start.
            let hasReachedStart =
                settings.rate < 0 && hasBegun && state.status == .readyToPlay && !state.isSeeking
                && playerState.rate == 0
                && state.timebase.mediaTime(at: now) <= (state.seekableTimeRanges.ranges.first?.start ?? .zero)
            // Backward playback begins below, when the item is ready.
            if hasBegun || state.status != .readyToPlay {
                display.show(playerState, state, at: now, hasReachedStart: hasReachedStart)
            }
            if hasReachedStart {
                display.showNotice("Playback reached the beginning")
                return
            }
            if state.status == .readyToPlay {
                // The start of a stream on demand is verified before it plays.
                if let start = lateStart, let end = state.seekableTimeRanges.ranges.last?.end {
                    if start > end {
                        let time = QuantityText.preciseClock(end)
                        display.showNotice("--start \(start) is after the live edge, \(time): playing from there")
                    }
                    lateStart = nil
                }
                let latency = state.timeOffsetFromLive(at: now)?.duration
                gate.observe(ObservedPlayhead(liveLatency: latency, date: item.currentDate()?.displayText))
            }
            if !hasBegun, state.status == .readyToPlay, !state.isSeeking {
                guard player.setRate(settings.rate) else {
                    throw Failure(.failed, "rate-not-supported", "the stream cannot be played backward")
                }
                hasBegun = true
            }
            // At the end, the rate becomes 0 when the interstitials that follow have been played.
            if state.hasPlayedToEnd, playerState.rate == 0 {
                guard settings.isLoop || settings.staysOpen else { return }
                guard settings.isLoop else {
                    try await time.sleep(for: Self.updateInterval)
                    continue
                }
                await item.seek(to: settings.start ?? .zero, toleranceBefore: .zero, toleranceAfter: .zero)
                player.rate = settings.rate
            }
            try await time.sleep(for: Self.updateInterval)
        }
    }
}

/// The result of a playback.
struct PlaybackResult: Sendable {
    var metrics: PlaybackMetrics
    /// The numbers of segments that were skipped.
    var skippedSegments: SkippedSegmentCounts
    /// The error that ended playback, or the reason for which a part could not be played although playback reached the end;
    /// `nil` if all media was played.
    var failure: (any Error)?
}

/// A gate that holds events back until it is known whether the stream is live: if it is, playback starts again in real
/// time.
private final class LiveGate: Sendable {
    private struct State {
        var isClosed: Bool
        var isLive = false
        var record: PlaybackRecord?
        var pendingEvents: [PlaybackEvent] = []
        /// A Boolean value that indicates whether the last event of the session was added.
        var hasEnded = false
    }

    private let files: PlaybackFiles
    private let state: Mutex<State>
    private let live = AsyncStream.makeStream(of: Void.self)

    init(_ files: PlaybackFiles, isClosed: Bool) {
        self.files = files
        state = Mutex(State(isClosed: isClosed))
    }

    /// A Boolean value that indicates whether the stream is live and its events were held back.
    var isLive: Bool { state.withLock { $0.isLive } }

    /// Waits until the stream is known to be live; also returns when the task is canceled.
    func waitUntilLive() async { for await _ in live.stream {} }

    /// Records where the playhead is, once events are published.
    func observe(_ playhead: ObservedPlayhead) { state.withLock { $0.record }?.observe(playhead) }

    /// Returns the metrics of the events that were published.
    func metrics(at now: Duration) -> PlaybackMetrics {
        state.withLock { $0.record }?.metrics(at: now) ?? PlaybackMetrics()
    }

    /// The numbers of segments that were skipped, according to the events that were published.
    var skippedSegments: SkippedSegmentCounts {
        state.withLock { $0.record }?.skippedSegments ?? SkippedSegmentCounts()
    }

    /// Adds an event.
    ///
    /// - Returns: The notices for the viewer that result from the events that are published now.
    func add(_ event: PlaybackEvent, of session: PlaybackSession) -> [PlaybackNotice] {
        let (record, events, isLive): (PlaybackRecord?, [PlaybackEvent], Bool) = state.withLock { state in
            state.pendingEvents.append(event)
            state.hasEnded = event.kind == .ended
            if state.isClosed {
                switch event.kind {
                case .playbackTypeKnown(.live): state.isLive = true
                case .playbackTypeKnown, .ended: state.isClosed = state.isLive
                case .statusChanged, .rateChanged, .timeControlChanged, .resourceRequest, .segmentLoaded,
                    .segmentSkipped, .likelyToKeepUp, .stalled, .stallEnded, .seekStarted, .seekEnded, .timeJumped,
                    .variantSwitchStarted, .variantSwitched, .pathwayChanged, .selectionChanged, .tracksChanged,
                    .seekableRangeChanged, .timedMetadata, .frames, .error, .playedToEnd, .failedToPlayToEnd:
                    break
                }
            }
            guard !state.isClosed else { return (nil, [], state.isLive) }
            if state.record == nil { state.record = PlaybackRecord(session, files) }
            defer { state.pendingEvents = [] }
            return (state.record, state.pendingEvents, false)
        }
        if isLive { live.continuation.finish() }
        return events.compactMap { record?.add($0) }
    }

    /// Adds an error of an output to the published events of the session.
    ///
    /// Playback continues after the error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - now: The time by the clock of playback.
    ///   - position: The position of the playhead; `nil` before it has one.
    func add(_ error: any MillstreamError, at now: Duration, _ position: MediaTime?) {
        let failure = PlaybackErrorRecord(
            statusCode: error.code.number ?? Self.unknownErrorNumber,
            domain: "Millstream",
            comment: error.message,
            didRecover: true
        )
        // No event follows the last one.
        guard let record = state.withLock({ $0.hasEnded ? nil : $0.record }) else { return }
        record.add(PlaybackEvent(time: now, mediaTime: position, kind: .error(failure)))
    }

    /// The status code of errors without a corresponding error of AVFoundation (`AVError.Code.unknown`).
    private static let unknownErrorNumber = -11_800
}
