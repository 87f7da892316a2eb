import AssetStorage

/// The decisions of a download session: which tasks run, and what each request and each end of a run changes.
///
/// The machine knows no clock, catalog or network. Each event returns the effects that the session performs, in order.
struct DownloadStateMachine {
    /// A state of a task.
    enum Phase: Hashable, Sendable {
        /// The task does not run until it is resumed.
        case suspended
        /// The task runs as soon as there is capacity.
        case waiting
        case running
        /// The run was told to end; the task is in the given state afterwards.
        case stopping(Next)
        /// The run ended with an error; the task can be resumed.
        case failed
    }

    /// The state of a task after its run has been stopped.
    enum Next: Hashable, Sendable {
        case suspended
        case waiting
        case canceled
    }

    /// A request of the application, or of another process by means of the catalog.
    enum Request: Hashable, Sendable {
        case resume
        case suspend
        case cancel
    }

    /// The end of a run.
    enum Outcome: Hashable, Sendable {
        /// All files are stored.
        case completed
        /// An error ended the run.
        case failed
        /// The run was stopped.
        case stopped
    }

    enum Event: Hashable, Sendable {
        /// A task was created or restored.
        case added(id: String, asset: String, priority: Int, phase: Phase)
        /// A task was removed by another process.
        case removed(String)
        /// Another download has stored all files of a task that does not run.
        case fulfilled(String)
        /// Another process manages a task that does not run.
        case released(String)
        case requested(String, Request)
        case prioritized(String, Int)
        case ended(String, Outcome)
        case concurrencyChanged(Int)
    }

    /// The end of a task.
    enum End: Hashable, Sendable {
        case completed
        case canceled
    }

    enum Effect: Hashable, Sendable {
        /// Start the run of a task.
        case start(String)
        /// Stop the run of a task; its end is reported by an event.
        case stop(String)
        /// Store the state of a task in the catalog.
        case save(String, DownloadRecord.State)
        /// Tell the observers of a task about its phase.
        case report(String, Phase)
        /// Remove a task that has ended from the catalog, and tell its observers.
        case finish(String, End)
    }

    private struct Entry {
        let asset: String
        /// The number of the task in the order of creation.
        let order: Int
        var priority: Int
        var phase: Phase

        /// A Boolean value that indicates whether a run uses capacity and the asset.
        var isActive: Bool {
            switch phase {
            case .running, .stopping: true
            case .suspended, .waiting, .failed: false
            }
        }
    }

    private var entries: [String: Entry] = [:]
    /// The tasks that use capacity, and those that wait for it, so that an event does not have to look at all tasks.
    private var active: Set<String> = []
    private var waiting: Set<String> = []
    private var lastOrder = 0
    private var maximumConcurrentTasks: Int

    /// Creates a machine without tasks.
    ///
    /// - Parameter maximumConcurrentTasks: The maximum number of tasks that run at the same time; at least 1.
    init(maximumConcurrentTasks: Int) { self.maximumConcurrentTasks = max(1, maximumConcurrentTasks) }

    /// The phase of a task; `nil` if there is no such task.
    func phase(of id: String) -> Phase? { entries[id]?.phase }

    /// Processes an event.
    mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .added(let id, let asset, let priority, let phase):
            lastOrder += 1
            entries[id] = Entry(asset: asset, order: lastOrder, priority: priority, phase: phase)
            updateSets(id)
            return schedule()
        case .removed(let id): return remove(id)
        case .fulfilled(let id):
            guard entries[id]?.isActive == false else { return [] }
            return finish(id, .completed)
        case .released(let id):
            if entries[id]?.isActive == false { removeEntry(id) }
            return []
        case .requested(let id, let request): return apply(request, to: id) + schedule()
        case .prioritized(let id, let priority):
            entries[id]?.priority = priority
            return schedule()
        case .ended(let id, let outcome): return end(id, outcome) + schedule()
        case .concurrencyChanged(let count):
            maximumConcurrentTasks = max(1, count)
            return schedule()
        }
    }

    private mutating func apply(_ request: Request, to id: String) -> [Effect] {
        guard let phase = entries[id]?.phase else { return [] }
        switch (request, phase) {
        case (.resume, .suspended), (.resume, .failed): return move(id, to: .waiting, saving: .waiting)
        case (.resume, .stopping(.suspended)): return move(id, to: .stopping(.waiting), saving: .waiting)
        case (.suspend, .waiting): return move(id, to: .suspended, saving: .suspended)
        case (.suspend, .running): return move(id, to: .stopping(.suspended), saving: .suspended) + [.stop(id)]
        case (.suspend, .stopping(.waiting)): return move(id, to: .stopping(.suspended), saving: .suspended)
        case (.cancel, .suspended), (.cancel, .waiting), (.cancel, .failed): return finish(id, .canceled)
        case (.cancel, .running): return move(id, to: .stopping(.canceled), saving: .canceled) + [.stop(id)]
        case (.cancel, .stopping(.suspended)), (.cancel, .stopping(.waiting)):
            return move(id, to: .stopping(.canceled), saving: .canceled)
        // In the catalog, a task that was interrupted is still waiting.
        case (.suspend, .suspended): return move(id, to: .suspended, saving: .suspended)
        case (.resume, .waiting), (.resume, .running), (.resume, .stopping), (.suspend, .stopping),
            (.suspend, .failed), (.cancel, .stopping):
            return []
        }
    }

    private mutating func move(_ id: String, to phase: Phase, saving saved: DownloadRecord.State) -> [Effect] {
        setPhase(of: id, phase)
        return [.save(id, saved), .report(id, phase)]
    }

    private mutating func finish(_ id: String, _ end: End) -> [Effect] {
        removeEntry(id)
        return [.finish(id, end)]
    }

    /// Forgets a task that another process removed; a run of it is stopped first.
    private mutating func remove(_ id: String) -> [Effect] {
        guard let entry = entries[id] else { return [] }
        guard entry.isActive else { return finish(id, .canceled) + schedule() }
        let isStopping = entry.phase != .running
        setPhase(of: id, .stopping(.canceled))
        return isStopping ? [] : [.stop(id)]
    }

    private mutating func end(_ id: String, _ outcome: Outcome) -> [Effect] {
        guard let entry = entries[id], entry.isActive else { return [] }
        switch (outcome, entry.phase) {
        case (.completed, _): return finish(id, .completed)
        case (_, .stopping(.canceled)): return finish(id, .canceled)
        case (_, .stopping(.suspended)):
            setPhase(of: id, .suspended)
            return [.report(id, .suspended)]
        case (_, .stopping(.waiting)):
            setPhase(of: id, .waiting)
            return [.report(id, .waiting)]
        case (.failed, _): return move(id, to: .failed, saving: .failed)
        case (.stopped, _):
            // The process is about to end; the catalog keeps the task waiting, so that the next process continues it.
            setPhase(of: id, .suspended)
            return [.report(id, .suspended)]
        }
    }

    /// Starts waiting tasks while there is capacity: those of the highest priority first, and of these the oldest.
    ///
    /// Tasks of one asset run one after the other.
    private mutating func schedule() -> [Effect] {
        var effects: [Effect] = []
        var busyAssets = Set(active.compactMap { entries[$0]?.asset })
        while active.count < maximumConcurrentTasks, let (id, asset) = nextWaiting(without: busyAssets) {
            busyAssets.insert(asset)
            setPhase(of: id, .running)
            effects += [.report(id, .running), .start(id)]
        }
        return effects
    }

    /// Returns the waiting task that starts first; `nil` if none can start.
    private func nextWaiting(without busyAssets: Set<String>) -> (id: String, asset: String)? {
        var best: (id: String, entry: Entry)?
        for id in waiting {
            guard let entry = entries[id], !busyAssets.contains(entry.asset) else { continue }
            if let found = best?.entry, (found.priority, entry.order) > (entry.priority, found.order) { continue }
            best = (id, entry)
        }
        return best.map { ($0.id, $0.entry.asset) }
    }

    private mutating func setPhase(of id: String, _ phase: Phase) {
        guard entries[id] != nil else { return }
        entries[id]?.phase = phase
        updateSets(id)
    }

    private mutating func removeEntry(_ id: String) {
        entries[id] = nil
        updateSets(id)
    }

    /// Enters a task in the set of its phase, and removes it from the other one.
    private mutating func updateSets(_ id: String) {
        let entry = entries[id]
        if entry?.isActive ?? false { active.insert(id) } else { active.remove(id) }
        if entry?.phase == .waiting { waiting.insert(id) } else { waiting.remove(id) }
    }
}
