public import HLSPlaylist
public import MediaTiming
public import MediaTransport
public import PlaybackReporting
public import ResourceAddressing
import Synchronization

/// Plays one item: loads its playlists, fetches its media, and moves the playhead of a pipeline.
///
/// The engine decides nothing: it delivers events to ``EngineState``, one after the other, and performs the effects that follow.
public actor PlaybackEngine {
    /// The address of the item.
    public nonisolated let source: ResourceAddress
    private let pipeline: any MediaPipeline
    private let network: NetworkStatus?
    private let time: any TimeSource
    private let observer: @Sendable (PlaybackEngineOutput) -> Void
    private let operations: EngineOperations
    /// The requests that were made aside, until they are delivered.
    private let requests: NotedRequests
    /// Wakes the engine for effects that take time, requests and deadlines.
    private let wake: Signal
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

    /// Creates an engine; nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - source: The address of a playlist or of a media file.
    ///   - mimeType: The type of the content at the address; `nil` to go by its first bytes.
    ///   - loading: The transport, and its retries.
    ///   - pipeline: The pipeline for the media, which no one else may use.
    ///   - options: The options of playback.
    ///   - time: The clock, which is that of the pipeline, too.
    ///   - session: The session that the events belong to.
    ///   - observer: Receives the output, in order; the engine waits for it to return.
    public init(
        source: ResourceAddress,
        mimeType: String? = nil,
        loading: ResourceLoading,
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
        let (requests, wake) = (NotedRequests(), Signal())
        let fetch = ResourceFetch(loading: loading, time: time) { requests.add($0, $1) }
        operations = EngineOperations(
            source: source,
            kind: mimeType.map { SourceOpening.Kind(mimeType: $0) },
            fetch: fetch,
            loader: SegmentLoader(fetch) { request in
                requests.add(request, nil)
                wake.notify()
            },
            pipeline: pipeline
        )
        (self.requests, self.wake) = (requests, wake)
        state = EngineState(options: options, at: time.now)
    }

    /// The state of the item.
    public nonisolated var snapshot: PlaybackSnapshot { published.withLock { $0 } }

    /// Plays until the task is cancelled, or until the item cannot be played on; the playhead stands still at first.
    ///
    /// - Precondition: It is called once.
    public func run() async {
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
        if !requests.isEmpty { perform(state.handle(.requestsCompleted(requests.take()), at: time.now)) }
    }

    /// Delivers an event, and performs what follows.
    private func deliver(_ event: EngineEvent) {
        let observation = EngineObservation(
            timebase: pipeline.timebase,
            frameCounts: pipeline.frameCounts,
            abilities: pipeline.abilities,
            networkCost: networkCost
        )
        perform(state.handle(.observed(observation), at: time.now))
        deliverRequests()
        perform(state.handle(event, at: time.now))
        wake.notify()
    }

    /// Performs effects in their order, with what follows from them at once.
    private func perform(_ effects: [EngineEffect]) {
        var effects = effects[...]
        while let effect = effects.popFirst() {
            guard let event = perform(effect) else { continue }
            effects += state.handle(event, at: time.now)
        }
    }

    /// Performs an effect, or puts it in the list of work.
    ///
    /// - Returns: The event that it ended in at once.
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

    /// Carries out work, and delivers the event that it ends in.
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
    ///   - rate: Seconds of media for each second; 0 is a pause, and negative rates play backwards.
    ///   - reason: The reason, for the events.
    ///   - atOnce: Whether to play whatever is buffered, instead of waiting until it suffices.
    public func setRate(_ rate: Double, reason: RateChange.Reason = .setRateCalled, atOnce: Bool = false) {
        deliver(.command(.setRate(rate, reason: reason, atOnce: atOnce)))
    }

    /// Sets the rate and synchronizes the given media time with the given time of the clock; a time that has passed is
    /// caught up with.
    ///
    /// - Parameters:
    ///   - rate: Seconds of media for each second; not 0.
    ///   - target: The media time; `nil` for the position of the playhead.
    ///   - moment: The time of the clock of the engine.
    /// - Returns: Whether it was done: not if another rate or seek came first.
    public func setRate(_ rate: Double, from target: MediaTime?, at moment: Duration) async -> Bool {
        await command { .setRateSynchronized(rate, from: target, at: moment, waiter: $0) }.isFinished
    }

    /// Moves the playhead; a later seek ends this one, which then has not finished.
    public func seek(to target: MediaTime, tolerance: SeekTolerance = .any) async -> SeekResult {
        await command { .seek(to: target, tolerance, waiter: $0) }
    }

    /// Moves the playhead to a date of a stream with dates.
    ///
    /// - Returns: The result; it has not finished if the stream has no dates.
    public func seek(to date: ProgramDateTime, tolerance: SeekTolerance = .any) async -> SeekResult {
        await command { .seekToDate(date, tolerance, waiter: $0) }
    }

    /// Moves the playhead by single frames while it stands still.
    ///
    /// - Parameter count: The number of frames; negative for earlier frames.
    /// - Returns: Whether the playhead moved.
    public func step(by count: Int) async -> Bool { await command { .step(count: count, waiter: $0) }.isFinished }

    /// Ends the seek that is in progress; the playhead stays where it is.
    public func cancelPendingSeeks() { deliver(.command(.cancelPendingSeeks)) }

    /// Selects an option of a type of media; what plays goes on until the option is loaded.
    public func select(_ option: MediaSelectionOption?, for type: Rendition.MediaType) {
        deliver(.command(.select(option, type)))
    }

    /// Enables or disables a track while playback goes on.
    public func setEnabled(_ type: MediaType, _ isEnabled: Bool) async { await pipeline.setEnabled(type, isEnabled) }

    /// Changes the options of playback.
    public func update(_ change: @Sendable (inout StreamingOptions) -> Void) {
        var options = state.control.options
        change(&options)
        deliver(.command(.update(options)))
    }
}
