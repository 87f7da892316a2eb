import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Synchronization

/// The playback of a source up to its end.
struct PlaybackRun: Sendable {
    let address: ResourceAddress
    let loader: ResourceLoader
    let options: StreamingOptions
    let rate: Double
    let isLoop: Bool
    /// A Boolean value that indicates whether the time in which all tasks wait is skipped.
    let skipsWaiting: Bool
    let files: PlaybackFiles
    let display: PlaybackDisplay
    let output: any PlaybackOutput

    private static let updateInterval = Duration.milliseconds(200)

    /// Plays the source.
    ///
    /// - Returns: The metrics of the session.
    /// - Throws: `StreamingError` if the source cannot be played, `CancellationError`.
    func run() async throws -> PlaybackMetrics {
        guard skipsWaiting else { return try await play(loader, SystemTimeSource(), nil) }
        let simulation = Simulation()
        let simulated = ResourceLoader(
            RealTimeTransport(loader.transport, simulation),
            policy: loader.policy,
            time: simulation
        )
        do {
            return try await simulation.run { try await play(simulated, simulation, simulation.actorExecutor) }
        } catch is LiveStreamError {
            // A live stream cannot be played faster than it is produced.
            return try await play(loader, SystemTimeSource(), nil)
        }
    }

    /// An error that reports that the stream is live, thrown before any event is published.
    private struct LiveStreamError: Error {}

    private func play(
        _ loader: ResourceLoader,
        _ time: any TimeSource,
        _ executor: (any SerialExecutor)?
    ) async throws -> PlaybackMetrics {
        let session = PlaybackSession(
            id: UUID().uuidString,
            start: time.now,
            startDate: .milliseconds(Int64(saturating: Date().timeIntervalSince1970 * 1000)),
            address: address.text
        )
        let isSimulated = executor != nil
        let gate = LiveGate(PlaybackRecord(session, files), isClosed: isSimulated)
        let engine = PlaybackEngine(
            source: address,
            loading: loader,
            pipeline: try output.makePipeline(time, executor: executor),
            options: options,
            time: time,
            session: session
        ) { output in
            guard case .event(let event) = output else { return }
            for notice in gate.add(event) { display.showNotice(notice) }
        }
        async let _: Void = Suspension.handleSignal(for: engine, time: time)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            group.addTask {
                await engine.setRate(rate)
                try await updateDisplays(engine, time: time)
            }
            // Ends the group before any media is decoded and shown.
            group.addTask { await gate.waitUntilLive() }
            group.addTask { await output.handleCommands(for: engine) }
            defer { group.cancelAll() }
            try await group.next()
        }
        if gate.isLive { throw LiveStreamError() }
        if let error = engine.snapshot.error { throw error }
        try Task.checkCancellation()
        return gate.record.metrics(at: time.now)
    }

    private func updateDisplays(_ engine: PlaybackEngine, time: any TimeSource) async throws {
        var isComplete = true
        while true {
            let snapshot = engine.snapshot
            if isComplete, snapshot.interstitialRanges.contains(where: { $0.range.interstitial != nil }) {
                isComplete = false
                display.showNotice("note: the stream schedules interstitials, which this command does not play")
            }
            if snapshot.status == .failed { return }
            display.show(snapshot, at: time.now, isPaced: !skipsWaiting)
            await output.show(snapshot, at: time.now)
            if snapshot.hasPlayedToEnd {
                guard isLoop else { return }
                _ = await engine.seek(to: options.startTime ?? .zero, tolerance: .exact)
                await engine.setRate(rate)
            }
            try await time.sleep(for: Self.updateInterval)
        }
    }
}

/// A gate that holds events back until it is known whether the stream is live: if it is, playback starts again in real
/// time.
private final class LiveGate: Sendable {
    private struct State {
        var isClosed: Bool
        var isLive = false
        var pendingEvents: [PlaybackEvent] = []
    }

    let record: PlaybackRecord
    private let state: Mutex<State>
    private let change = Signal()

    init(_ record: PlaybackRecord, isClosed: Bool) {
        self.record = record
        state = Mutex(State(isClosed: isClosed))
        if !isClosed { record.begin() }
    }

    /// A Boolean value that indicates whether the stream is live and its events were held back.
    var isLive: Bool { state.withLock { $0.isLive } }

    /// Waits until the stream is known to be live; also returns when the task is cancelled.
    func waitUntilLive() async {
        while !isLive, !Task.isCancelled {
            let seen = change.count
            guard !isLive else { return }
            await change.wait(after: seen)
        }
    }

    /// Adds an event.
    ///
    /// - Returns: The notices for the viewer that result from the events that are published now.
    func add(_ event: PlaybackEvent) -> [PlaybackNotice] {
        let (events, opens): ([PlaybackEvent], Bool) = state.withLock { state in
            guard state.isClosed else { return ([event], false) }
            state.pendingEvents.append(event)
            switch event.kind {
            case .playbackTypeKnown(.live): state.isLive = true
            case .playbackTypeKnown, .ended: state.isClosed = state.isLive
            default: break
            }
            guard !state.isClosed else { return ([], false) }
            defer { state.pendingEvents = [] }
            return (state.pendingEvents, true)
        }
        if isLive { change.notify() }
        if opens { record.begin() }
        return events.compactMap { record.add($0) }
    }
}
