import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import NIOPosix
import ResourceAddressing
import Synchronization

/// The runner of the tasks of a session: it delivers events to the state machine and performs the effects.
final class SessionRunner: Sendable {
    struct State {
        var machine: DownloadStateMachine
        /// The tasks that have not ended, in the order of their creation.
        private(set) var tasks: [DownloadTask] = []
        /// The tasks by their identifiers.
        private var tasksByID: [String: DownloadTask] = [:]
        /// The tasks that this session manages.
        var claims: [String: DownloadClaim] = [:]
        var runs: [String: Task<Void, Never>] = [:]
        /// The state and the priority that this session last read from the catalog or wrote to it.
        var known: [String: KnownState] = [:]
        var errors: [String: DownloadError] = [:]
        var summaries: [String: DownloadSummary] = [:]
        /// The effects that have not been performed, and whether a task is performing them.
        var effects: [DownloadStateMachine.Effect] = []
        var isPerforming = false
        /// The identifiers of the tasks that have ended; what was read from the catalog before must not restore them.
        var ended: Set<String> = []
        /// The number of changes that this session made to the catalog, and the number of those in progress.
        var writeCount = 0
        var pendingWrites = 0
        var isInvalidated = false
        /// When the progress of tasks of other processes was read.
        var followed: [String: FollowedProgress] = [:]

        init(machine: DownloadStateMachine) { self.machine = machine }

        func task(_ id: String) -> DownloadTask? { tasksByID[id] }

        mutating func append(_ task: DownloadTask) {
            tasks.append(task)
            tasksByID[task.id] = task
        }

        mutating func remove(_ id: String) {
            guard tasksByID.removeValue(forKey: id) != nil else { return }
            tasks.removeAll { $0.id == id }
        }

        mutating func removeAllTasks() {
            tasks = []
            tasksByID = [:]
        }
    }

    /// The last time at which the progress of a task of another process was read.
    struct FollowedProgress {
        /// A Boolean value that indicates whether a process was writing to the package.
        var wasWriting: Bool
        var state: DownloadRecord.State
        var folders: Set<String>?
        var selectionNumber: Int
        /// The time before which the progress is not read again, because that takes long.
        var nextTime: Duration
    }

    struct KnownState: Hashable {
        var state: DownloadRecord.State
        var priority: Int
    }

    let identifier: String
    let library: AssetLibrary
    let loader: ResourceLoader
    let configuration: DownloadSession.Configuration
    let time: any TimeSource
    private let limiter: RateLimiter?
    let state: Mutex<State>
    let observers = EventObservers<(task: DownloadTask, event: DownloadTask.Event)>()

    /// The interval at which the catalog is checked for requests of other processes.
    static let checkInterval = Duration.milliseconds(400)

    init(
        identifier: String,
        library: AssetLibrary,
        loader: ResourceLoader,
        configuration: DownloadSession.Configuration,
        time: any TimeSource
    ) {
        self.identifier = identifier
        self.library = library
        self.loader = loader
        self.configuration = configuration
        self.time = time
        limiter = configuration.maximumRate.map { RateLimiter(RateLimit($0), time: time) }
        state = Mutex(
            State(machine: DownloadStateMachine(maximumConcurrentTasks: configuration.maximumConcurrentTasks))
        )
    }

    /// The tasks that have not ended, in the order of their creation.
    var tasks: [DownloadTask] { state.withLock { $0.tasks } }

    /// Adds a task that was just created to the catalog and begins to manage it.
    func add(_ task: DownloadTask, _ record: DownloadRecord, _ claim: DownloadClaim) throws {
        // The task must be known before the catalog has it, because the catalog is read at any time.
        state.withLock { state in
            state.append(task)
            state.claims[task.id] = claim
            state.known[task.id] = KnownState(state: record.state, priority: record.priority)
        }
        do {
            try write { try library.addDownload(record) }
        } catch {
            forget(task.id)
            throw error
        }
        send(.added(id: task.id, asset: task.assetID, priority: record.priority, phase: .suspended))
    }

    /// Changes the catalog, so that what is read from it meanwhile is not taken for a request of another process.
    func write(_ body: () throws -> Void) rethrows {
        state.withLock { $0.pendingWrites += 1 }
        defer {
            state.withLock { state in
                state.pendingWrites -= 1
                state.writeCount += 1
            }
        }
        try body()
    }

    func isOwned(_ id: String) -> Bool { state.withLock { $0.claims[id] != nil } }

    /// Returns a Boolean value that indicates whether a task of an asset is running or stopping.
    func isRunning(_ assetID: String) -> Bool {
        state.withLock { state in state.tasks.contains { $0.assetID == assetID && state.runs[$0.id] != nil } }
    }

    func forget(_ id: String) {
        state.withLock { state in
            state.remove(id)
            state.claims[id] = nil
            state.known[id] = nil
            state.errors[id] = nil
            state.summaries[id] = nil
            state.followed[id] = nil
        }
    }

    /// Leaves a task to another process; a task that is running stays.
    func handOver(_ id: String) {
        guard !state.withLock({ $0.runs[id] != nil }) else { return }
        // The catalog has the new state before another process can claim the task.
        try? write { try library.changeDownload(id, .state(.waiting, nil)) }
        state.withLock { state in
            state.claims[id] = nil
            state.known[id]?.state = .waiting
            _ = state.machine.handle(.released(id))
        }
    }

    /// Stops all runs and waits until they have stopped.
    func invalidate() async {
        let runs = state.withLock { state in
            state.isInvalidated = true
            return Array(state.runs.values)
        }
        for run in runs { run.cancel() }
        for run in runs { await run.value }
        state.withLock { state in
            state.claims = [:]
            state.removeAllTasks()
        }
        observers.finish()
    }

    // MARK: Requests

    /// Applies a request of a task, or leaves it to the process that manages the task.
    func request(_ request: DownloadStateMachine.Request, of id: String) {
        if adopt(id) { return send(.requested(id, request)) }
        let change: DownloadChange =
            switch request {
            case .resume: .state(.waiting, nil)
            case .suspend: .suspension
            case .cancel: .state(.canceled, nil)
            }
        // If the catalog cannot be written, the process that runs the task cannot continue either.
        try? write { try library.changeDownload(id, change) }
        guard request == .resume, let task = state.withLock({ $0.task(id) }), task.state == .failed else { return }
        // The task can fail again before its state is read from the catalog, which would then seem unchanged.
        task.move(to: .waiting)
        observers.send((task, .stateChanged(.waiting)))
    }

    func setPriority(_ priority: Int, of id: String) {
        state.withLock { $0.known[id]?.priority = priority }
        try? write { try library.changeDownload(id, .priority(priority)) }
        if isOwned(id) { send(.prioritized(id, priority)) }
    }

    /// Gives a task that is not running the options of its new request; its description and artwork stay unless there are others.
    func setConfiguration(_ configuration: DownloadConfiguration, of task: DownloadTask) throws {
        var configuration = configuration
        let artwork =
            try configuration.artwork == task.artwork ? nil : configuration.artwork.map { try AssetArtwork($0) }
        if configuration.details.isEmpty { configuration.details = task.details }
        configuration.artwork = configuration.artwork ?? task.artwork
        guard !state.withLock({ $0.runs[task.id] != nil }), task.configuration != configuration else { return }
        let options = try configuration.stored
        try write {
            try library.changeDownload(task.id, .options(options, artwork: configuration.artwork))
            if let artwork { try library.setArtwork(artwork, of: task.assetID) }
            if let title = configuration.title, title != task.title { try library.setTitle(title, of: task.assetID) }
        }
        task.setConfiguration(configuration)
        if configuration.details != task.details { task.details = configuration.details }
        if configuration.priority != task.priority { task.priority = configuration.priority }
    }

    func setDetails(_ details: String, of id: String) { try? library.changeDownload(id, .details(details)) }

    /// Begins to manage a task if no other process does; returns whether this session manages it.
    func adopt(_ id: String) -> Bool {
        if isOwned(id) { return true }
        guard let task = state.withLock({ $0.task(id) }), let claim = library.claimDownload(id) else { return false }
        // The process that took care of it may have ended it since its record was read, or given it another URL.
        guard let records = try? library.downloads(of: identifier),
            records.contains(where: { $0.id == id && $0.source == task.address })
        else { return false }
        let isNew = state.withLock { state in
            guard state.claims[id] == nil, !state.isInvalidated else { return false }
            state.claims[id] = claim
            return true
        }
        guard isNew else { return isOwned(id) }
        let phase: DownloadStateMachine.Phase = task.state == .failed ? .failed : .suspended
        send(.added(id: id, asset: task.assetID, priority: task.priority, phase: phase))
        return true
    }

    // MARK: Effects

    func send(_ event: DownloadStateMachine.Event) {
        let performs = state.withLock { state in
            state.effects += state.machine.handle(event)
            guard !state.isPerforming else { return false }
            state.isPerforming = true
            return true
        }
        guard performs else { return }
        while let effect = nextEffect() { perform(effect) }
    }

    private func nextEffect() -> DownloadStateMachine.Effect? {
        state.withLock { state in
            guard !state.effects.isEmpty else {
                state.isPerforming = false
                return nil
            }
            return state.effects.removeFirst()
        }
    }

    private func perform(_ effect: DownloadStateMachine.Effect) {
        switch effect {
        case .start(let id): start(id)
        case .stop(let id): state.withLock { $0.runs[id] }?.cancel()
        case .save(let id, let saved): save(id, saved)
        case .report(let id, let phase): report(id, phase)
        case .finish(let id, let end): finish(id, end)
        }
    }

    private func save(_ id: String, _ saved: DownloadRecord.State) {
        let error = state.withLock { state in
            state.known[id]?.state = saved
            return state.errors[id]
        }
        let failure = saved == .failed ? error?.stored : nil
        // If the catalog cannot be written, the task continues as the catalog says when it is next restored.
        try? write { try library.changeDownload(id, .state(saved, failure)) }
    }

    private func report(_ id: String, _ phase: DownloadStateMachine.Phase) {
        guard let task = state.withLock({ $0.task(id) }) else { return }
        let error = phase == .failed ? state.withLock { $0.errors[id] } : nil
        let previous = task.state
        task.move(to: DownloadTask.State(phase), error: error)
        if task.state != previous { observers.send((task, .stateChanged(task.state))) }
        if phase == .failed { reportEnd(of: task, error: error) }
    }

    private func finish(_ id: String, _ end: DownloadStateMachine.End) {
        guard let task = state.withLock({ $0.task(id) }) else { return }
        // A record that stays because the catalog cannot be written is found complete, or canceled, when it is restored.
        state.withLock { _ = $0.ended.insert(id) }
        try? write { try library.removeDownload(id) }
        let finalState: DownloadTask.State = end == .completed ? .completed : .canceled
        task.move(to: finalState)
        observers.send((task, .stateChanged(finalState)))
        reportEnd(of: task, error: end == .canceled ? .canceled(task.address) : nil)
        forget(id)
        task.endEvents()
    }

    func reportEnd(of task: DownloadTask, error: DownloadError?) {
        let summary = state.withLock { $0.summaries[task.id] } ?? DownloadSummary()
        for event in [DownloadTask.Event.finished(location: task.location), .completed(summary, error: error)] {
            send(event, of: task)
        }
    }

    func send(_ event: DownloadTask.Event, of task: DownloadTask) {
        task.report(event)
        observers.send((task, event))
    }

    // MARK: Runs

    private func start(_ id: String) {
        let isStarted = state.withLock { state in
            guard let task = state.task(id), !state.isInvalidated else { return false }
            state.runs[id] = Task(executorPreference: time.taskExecutor) { await self.run(task) }
            return true
        }
        if !isStarted { send(.ended(id, .stopped)) }
    }

    private func run(_ task: DownloadTask) async {
        let begun = time.now
        var outcome = DownloadStateMachine.Outcome.completed
        do {
            // A recording has one selection.
            let selections =
                task.configuration.recording == nil ? task.configuration.selections : [task.configuration.selection]
            for (number, selection) in selections.enumerated() {
                try await download(selection, number, of: task)
                send(.selectionCompleted(number), of: task)
            }
        } catch {
            let failure = Task.isCancelled || error is CancellationError ? nil : DownloadError(any: error)
            state.withLock { $0.errors[task.id] = failure }
            outcome = failure == nil ? .stopped : .failed
        }
        // The interruption of a recording is a usual end.
        if outcome == .completed || outcome == .stopped && task.configuration.recording != nil {
            completeFailedTasks(like: task)
        }
        state.withLock { state in
            state.summaries[task.id, default: DownloadSummary()].duration += time.now - begun
            state.runs[task.id] = nil
        }
        send(.ended(task.id, outcome))
    }

    private func download(_ selection: DownloadSelection, _ number: Int, of task: DownloadTask) async throws {
        var configuration = task.configuration
        configuration.selection = selection
        configuration.title = task.title
        var download = AssetDownload(
            task.address,
            into: library,
            loader: task.originLoader.limited(
                to: self.configuration.network,
                accepting: configuration.acceptedNetworks
            ),
            configuration: configuration,
            time: time
        )
        download.canDecode = self.configuration.canDecode
        download.sessionLimiter = limiter
        download.enteredPlaylists = number == 0 ? task.takePlaylists() : nil
        try await download.run { event in self.process(event, selection: number, of: task) }
    }

    private func process(_ event: AssetDownload.Event, selection number: Int, of task: DownloadTask) {
        let count = task.configuration.recording == nil ? task.configuration.selections.count : 1
        switch event {
        case .resolved(let id, let selectionProgress, let folders):
            let progress = selectionProgress.ofSelection(number, of: count)
            task.setProgress(progress)
            task.setFolders(folders)
            if let folders { try? library.changeDownload(task.id, .folders(folders, selection: number)) }
            guard let asset = try? library.asset(id) else { return }
            // A media file can contain a title.
            task.setTitle(asset.title)
            let renditions = asset.renditions.filter { folders?.contains($0.folder) ?? true }
            send(.mediaSelectionResolved(DownloadTask.MediaSelection(renditions)), of: task)
            send(.variantsChosen(renditions.filter { $0.role == .variant }), of: task)
            send(.locationChosen(task.location), of: task)
            sendProgress(progress, of: task)
        case .waiting(let error): send(.waitingForStream(error), of: task)
        case .lost(_, let count): send(.segmentsLost(count), of: task)
        case .metadataOmitted: send(.metadataOmitted, of: task)
        case .keyNotVerified: send(.keyNotVerified, of: task)
        case .progress(_, let progress): sendProgress(progress.ofSelection(number, of: count), of: task)
        case .ended(let id, let figures):
            let variants = (try? library.asset(id).renditions.filter { $0.role == .variant }) ?? []
            state.withLock { $0.summaries[task.id, default: DownloadSummary()].add(figures, variants: variants) }
        case .completed: break
        }
    }

    func sendProgress(_ progress: DownloadProgress, of task: DownloadTask) {
        var new = progress.loadedTimeRanges
        for range in task.progress.loadedTimeRanges.ranges { new.remove(range) }
        task.setProgress(progress)
        send(.loaded(new: new, progress), of: task)
    }
}

extension DownloadTask.MediaSelection {
    fileprivate init(_ renditions: [StoredRendition]) {
        audio = renditions.filter { $0.role == .audio }.map(\.language)
        subtitles = renditions.filter { $0.role == .subtitles }.map(\.language)
    }
}
