import MediaTiming
import PlaybackReporting
import StreamingEngine

/// A runner that creates the engine of an item and runs it in a session.
struct SessionRunner: Sendable {
    let item: PlayerItem
    let session: ItemSession
    let pipelines: PipelineSource
    let engineOptions: QueueStateMachine.EngineOptions
    let output: @Sendable (PlaybackEngineOutput) -> Void
    let didSetRate: @Sendable () -> Void

    private var environment: Player.Environment { pipelines.environment }

    /// Attaches the session to the item and starts the engine.
    func begin() {
        let asset = item.asset
        let playbackSession = PlaybackSession(
            id: asset.options.primarySessionID ?? environment.makeSessionID(),
            start: environment.time.now,
            startDate: environment.date(),
            address: asset.address.withoutUserInformation.text
        )
        item.modify { $0.attach(session, time: environment.time, playbackSession) }
        session.start(on: environment.time) { commands in await run(commands, playbackSession) }
    }

    private func run(_ commands: CommandQueue, _ playbackSession: PlaybackSession) async {
        let pipeline: any MediaPipeline
        do {
            pipeline = try await pipelines.makePipeline()
        } catch {
            return fail(error)
        }
        let options = options
        let engine = environment.makeEngine(
            PlaybackEngineRequest(
                asset: item.asset.request,
                pipeline: pipeline,
                options: options,
                time: environment.time,
                session: playbackSession,
                observer: output
            )
        )
        await withDiscardingTaskGroup { group in
            group.addTask { await engine.run() }
            group.addTask { await engine.execute(commands, didSetRate: didSetRate) }
        }
        recordThroughput(initial: options.initialThroughput)
    }

    /// The history of the network that the item is loaded over; `nil` if it is loaded from this machine.
    private var throughputHistory: ThroughputHistory? {
        ThroughputHistory.covers(item.asset.address) ? environment.throughputHistory : nil
    }

    private func recordThroughput(initial: BitRate?) {
        // An estimate that no transfer has changed is not a new one.
        guard let throughput = item.state.playback.throughput, throughput != initial else { return }
        throughputHistory?.record(throughput, at: environment.date())
    }

    /// The options of the item, with the options that the player sets for all its items.
    private var options: StreamingOptions {
        var options = item.state.configuration.options
        engineOptions.apply(to: &options)
        if options.initialThroughput == nil {
            options.initialThroughput = throughputHistory?.estimate(at: environment.date())
        }
        return options
    }

    /// Reports an error of the pipeline to the observer in place of the engine, which cannot be created without one.
    private func fail(_ error: any Error) {
        guard !Task.isCancelled else { return }
        var snapshot = item.state.playback
        snapshot.status = .failed
        let failure = StreamingError(.pipelineLost, "\(error)", address: item.asset.address, cause: error)
        snapshot.error = failure
        let record = PlaybackErrorRecord(
            statusCode: failure.number,
            domain: "Millstream",
            comment: failure.message,
            address: item.asset.address.withoutUserInformation.text,
            didRecover: false
        )
        let now = environment.time.now
        output(.snapshot(snapshot))
        for kind in [PlaybackEvent.Kind.error(record), .statusChanged(.failed), .ended] {
            output(.event(PlaybackEvent(time: now, mediaTime: nil, kind: kind)))
        }
    }
}
