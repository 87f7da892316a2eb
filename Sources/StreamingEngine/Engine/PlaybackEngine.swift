package import HLSPlaylist
package import MediaTiming
package import MediaTransport
package import PlaybackReporting
package import ResourceAddressing
import Synchronization

/// An engine that plays one item: it loads the playlists and the media of the item, and controls a pipeline.
///
/// The engine makes no decisions itself: it delivers events to ``EngineState``, one after the other, and performs the
/// effects.
package actor PlaybackEngine {
    /// The address of the item.
    package nonisolated let source: ResourceAddress
    private let pipeline: any MediaPipeline
    private let network: NetworkStatus?
    private let time: any TimeSource
    private let observer: @Sendable (PlaybackEngineOutput) -> Void
    private let operations: EngineOperations
    /// The requests for keys and initialization sections, and the attempts that are repeated, until they are delivered.
    private let requests: PendingRequestReports
    /// The signal that wakes the engine for work, requests and deadlines.
    private let wake: Broadcast
    private let published = Mutex(PlaybackSnapshot())
    private var state: EngineState
    private var networkCost: NetworkCost?
    /// The work that has not begun.
    private var waiting: [EngineWork] = []
    private var transfers: [Int: SegmentTransfer] = [:]
    private var waiters: [Int: CheckedContinuation<SeekResult, Never>] = [:]
    private var lastWaiter = 0
    private var isRunning = false
    private var isFinished = false

    /// Creates an engine, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - source: The address of a playlist or of a media file.
    ///   - mimeType: The type of the content at the address; `nil` to recognize it by its first bytes.
    ///   - loading: The transport, and its retries.
    ///   - pipeline: The pipeline for the media, which must not be used by other callers.
    ///   - options: The options of playback.
    ///   - time: The clock, which must be that of the pipeline, too.
    ///   - session: The session that the events belong to.
    ///   - observer: Receives the output, in order; the engine waits for it to return.
    package init(
        source: ResourceAddress,
        mimeType: String? = nil,
        loading: ResourceLoader,
        pipeline: any MediaPipeline,
        options: StreamingOptions = StreamingOptions(),
        time: any TimeSource = SystemTimeSource(),
        session: PlaybackSession,
        observer: @escaping @Sendable (PlaybackEngineOutput) -> Void
    ) {
        self.source = source
        self.pipeline = pipeline
        self.time = time
        self.observer = observer
        network = loading.network
        let (requests, wake) = (PendingRequestReports(), Broadcast())
        // The engine is woken for each attempt, so that the event has the time at which the attempt ended.
        let fetch = ResourceFetcher(loader: loading, time: time) { request, error in
            requests.add(request, error)
            wake.notify()
        }
        let limits = SegmentSizeLimits()
        operations = EngineOperations(
            source: source,
            kind: mimeType.map { SourceOpener.Kind(mimeType: $0) },
            fetch: fetch,
            loader: SegmentLoader(fetch, limits: limits, budget: TransferBudget(limit: limits.total)) { request in
                requests.add(request, nil)
                wake.notify()
            },
            pipeline: pipeline
        )
        (self.requests, self.wake) = (requests, wake)
        state = EngineState(options: options, at: time.now)
    }

    /// The current state of the item.
    package nonisolated var snapshot: PlaybackSnapshot { published.withLock { $0 } }

    /// Runs until the task is canceled or the item fails.
    ///
    /// Playback is paused at first.
    ///
    /// - Precondition: The function is called only once.
    package func run() async {
        precondition(!isRunning, "an engine runs once")
        isRunning = true
        networkCost = network?.cost
        deliver(.started)
        await withDiscardingTaskGroup { group in
            group.addTask { await self.pipeline.run() }
            group.addTask { for await event in self.pipeline.events { await self.deliver(.pipelineReported(event)) } }
            while !Task.isCancelled, !isFinished {
                let seen = wake.count
                deliverDue()
                for work in takeWaiting() { group.addTask { await self.carryOut(work) } }
                await wake.wait(after: seen, until: state.nextDeadline, time)
            }
            group.cancelAll()
        }
        waiting = []
        deliver(.stopped)
        while !waiting.isEmpty { for work in takeWaiting() { await carryOut(work) } }
    }

    // MARK: Events and effects

    private func deliverDue() {
        deliverRequests()
        if let deadline = state.nextDeadline, deadline <= time.now { deliver(.timerFired) }
    }

    private func deliverRequests() {
        if !requests.isEmpty { perform(state.handle(.requestsCompleted(requests.removeAll()), at: time.now)) }
    }

    /// Delivers an event, and performs its effects.
    private func deliver(_ event: EngineEvent) {
        let observation = EngineObservation(
            timebase: pipeline.timebase,
            frameCounts: pipeline.frameCounts,
            videoSize: pipeline.videoSize,
            abilities: pipeline.capabilities,
            networkCost: networkCost,
            unfinishedBytes: operations.loader.budget?.heldBytes ?? .zero
        )
        perform(state.handle(.observed(observation), at: time.now))
        deliverRequests()
        perform(state.handle(event, at: time.now))
        wake.notify()
    }

    /// Performs effects in order, including those of the events that they deliver at once.
    private func perform(_ effects: [EngineEffect]) {
        var effects = effects[...]
        while let effect = effects.popFirst() {
            guard let event = perform(effect) else { continue }
            effects += state.handle(event, at: time.now)
        }
    }

    /// Performs an effect, or adds it to the work that has not begun.
    ///
    /// - Returns: The event that the effect delivers at once; `nil` if there is none.
    private func perform(_ effect: EngineEffect) -> EngineEvent? {
        switch effect {
        case .report(let event): observer(.event(event))
        case .publish(let snapshot):
            published.withLock { $0 = snapshot }
            observer(.snapshot(snapshot))
        case .resume(let waiter, let result): waiters.removeValue(forKey: waiter)?.resume(returning: result)
        case .cancel(let request):
            guard let transfer = transfers.removeValue(forKey: request) else { return nil }
            transfer.cancellation.notify()
            return .transferCancelled(request: request, transfer.watch.progress)
        case .measureTransfer(let request):
            return transfers[request].map { .transferMeasured(request: request, $0.watch.progress) }
        case .begin(let work):
            if case .fetch(let request, _, _) = work { transfers[request] = SegmentTransfer() }
            waiting.append(work)
        case .finish: isFinished = true
        }
        return nil
    }

    private func takeWaiting() -> [EngineWork] {
        defer { waiting = [] }
        return waiting
    }

    /// Performs work, and delivers the event with which it ends.
    private func carryOut(_ work: EngineWork) async {
        var transfer: SegmentTransfer?
        if case .fetch(let request, _, _) = work { transfer = transfers[request] }
        let event = await operations.carryOut(work, transfer)
        if case .fetch(let request, _, _) = work { transfers[request] = nil }
        guard let event else { return }
        networkCost = network?.cost
        deliver(event)
    }

    private func command(_ command: (_ waiter: Int) -> EngineCommand) async -> SeekResult {
        lastWaiter += 1
        let waiter = lastWaiter
        return await withCheckedContinuation { continuation in
            waiters[waiter] = continuation
            deliver(.command(command(waiter)))
        }
    }

    // MARK: Commands

    /// Sets the rate of playback.
    ///
    /// - Parameters:
    ///   - rate: The seconds of media for each second of the clock; 0 pauses, and negative rates play in reverse.
    ///   - reason: The reason, for the events.
    ///   - atOnce: Whether to play with whatever is buffered, instead of waiting until the buffer suffices.
    package func setRate(_ rate: Double, reason: RateChange.Reason = .setRateCalled, atOnce: Bool = false) {
        deliver(.command(.setRate(rate, reason: reason, atOnce: atOnce)))
    }

    /// Sets the rate and synchronizes the given media time with the given time of the clock.
    ///
    /// If that time has passed, playback starts at a correspondingly later media time.
    ///
    /// - Parameters:
    ///   - rate: Seconds of media for each second; not 0.
    ///   - target: The media time; `nil` for the position of the playhead.
    ///   - moment: The time of the clock of the engine.
    /// - Returns: Whether the rate was set; `false` if another rate or seek replaced it.
    package func setRate(_ rate: Double, mediaTime target: MediaTime?, atHostTime moment: Duration) async -> Bool {
        await command { .setRateSynchronized(rate, from: target, at: moment, waiter: $0) }.isFinished
    }

    /// Moves the playhead.
    ///
    /// A later seek replaces this one, whose result then says that it did not finish.
    package func seek(to target: MediaTime, tolerance: SeekTolerance = .any) async -> SeekResult {
        await command { .seek(to: target, tolerance, waiter: $0) }
    }

    /// Moves the playhead to a date of a stream with dates.
    ///
    /// - Returns: The result, which says that the seek did not finish if the stream has no dates.
    package func seek(to date: ProgramDateTime, tolerance: SeekTolerance = .any) async -> SeekResult {
        await command { .seekToDate(date, tolerance, waiter: $0) }
    }

    /// Moves the playhead by a number of frames while playback is paused.
    ///
    /// - Parameter count: The number of frames; negative for earlier frames.
    /// - Returns: Whether the playhead moved.
    package func step(by count: Int) async -> Bool { await command { .step(count: count, waiter: $0) }.isFinished }

    /// Ends the seek that is in progress; the playhead is not moved.
    package func cancelPendingSeeks() { deliver(.command(.cancelPendingSeeks)) }

    /// Selects an option of a media type.
    ///
    /// The former option is played until the new one is loaded.
    package func select(_ option: MediaSelectionOption?, for type: Rendition.MediaType) {
        deliver(.command(.select(option, type)))
    }

    /// Enables or disables a track during playback.
    package func setEnabled(_ type: MediaType, _ isEnabled: Bool) async { await pipeline.setEnabled(type, isEnabled) }

    /// Changes the options of playback.
    package func update(_ change: @Sendable (inout StreamingOptions) -> Void) {
        var options = state.control.options
        change(&options)
        deliver(.command(.update(options)))
    }
}
