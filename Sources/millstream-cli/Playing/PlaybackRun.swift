import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

/// Plays one source to its end.
struct PlaybackRun: Sendable {
    let address: ResourceAddress
    let loading: ResourceLoading
    let options: StreamingOptions
    let rate: Double
    let isLoop: Bool
    /// Whether time is skipped in which nothing would be done but to wait.
    let isUnpaced: Bool
    let files: PlaybackFiles
    let display: PlaybackDisplay
    let stage: any PlaybackStage

    private static let glance = Duration.milliseconds(200)

    /// Plays.
    ///
    /// - Returns: The indicators.
    /// - Throws: `StreamingError` where it cannot be played, `CancellationError`.
    func run() async throws -> PlaybackMetrics {
        guard isUnpaced else { return try await play(loading, SystemTimeSource(), nil) }
        let simulation = Simulation()
        let loading = ResourceLoading(
            OutsideTransport(loading.transport, simulation),
            policy: loading.policy,
            time: simulation
        )
        return try await simulation.run { try await play(loading, simulation, simulation.actorExecutor) }
    }

    private func play(
        _ loading: ResourceLoading,
        _ time: any TimeSource,
        _ executor: (any SerialExecutor)?
    ) async throws -> PlaybackMetrics {
        let session = PlaybackSession(
            id: UUID().uuidString,
            start: time.now,
            startDate: .milliseconds(Int64(Date().timeIntervalSince1970 * 1000)),
            address: address.text
        )
        let record = PlaybackRecord(session, files)
        let engine = PlaybackEngine(
            source: address,
            loading: loading,
            pipeline: try stage.makePipeline(time, executor: executor),
            options: options,
            time: time,
            session: session
        ) { output in
            if case .event(let event) = output { record.add(event) }
        }
        async let _: Void = Suspension.heed(for: engine, time)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            group.addTask {
                await engine.setRate(rate)
                try await watch(engine, time)
            }
            group.addTask { await stage.steer(engine) }
            defer { group.cancelAll() }
            try await group.next()
        }
        if let error = engine.snapshot.error { throw error }
        try Task.checkCancellation()
        return record.metrics(at: time.now)
    }

    private func watch(_ engine: PlaybackEngine, _ time: any TimeSource) async throws {
        while true {
            let snapshot = engine.snapshot
            if snapshot.status == .failed { return }
            display.show(snapshot, at: time.now, isPaced: !isUnpaced)
            await stage.show(snapshot, at: time.now)
            if snapshot.hasPlayedToEnd {
                guard isLoop else { return }
                _ = await engine.seek(to: options.startTime ?? .zero, tolerance: .exact)
                await engine.setRate(rate)
            }
            try await time.sleep(for: Self.glance)
        }
    }
}
