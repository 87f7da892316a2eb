/// How far the properties of an asset are loaded, and who waits for them.
///
/// All of them come from one inspection, which runs once however many ask.
struct AssetLoading: Sendable {
    /// What is to be done.
    enum Action: Sendable, Hashable {
        case none
        /// Somebody has to inspect the asset; the number comes back with the answer.
        case inspect(Int)
        /// Nobody waits any more.
        case stop
    }

    private(set) var inspection: AssetInspection?
    private(set) var statuses: [AssetKey: AssetKeyStatus] = [:]
    private var run: Int?
    private var lastRun = 0
    private var waiting = 0

    /// The status of a property.
    func status(of key: AssetKey) -> AssetKeyStatus { statuses[key] ?? .unknown }

    /// Whether the inspection goes on that somebody waits for.
    func isRunning(_ number: Int) -> Bool { run == number }

    /// Somebody asks for properties.
    ///
    /// - Returns: What is to be done, and the number of the run to wait for; `nil` where nothing has to be waited for.
    mutating func load(_ keys: [AssetKey]) -> (action: Action, run: Int?) {
        if inspection != nil { return (.none, nil) }
        // What failed once is not tried again with each look, as with AVFoundation; cancelled loads may be.
        if run == nil, keys.contains(where: { status(of: $0).isFailed }) { return (.none, nil) }
        for key in keys { statuses[key] = .loading }
        waiting += 1
        if let run { return (.none, run) }
        lastRun += 1
        run = lastRun
        return (.inspect(lastRun), lastRun)
    }

    /// Somebody no longer waits.
    mutating func leave(_ number: Int) -> Action {
        guard run == number else { return .none }
        waiting -= 1
        return waiting <= 0 ? cancel() : .none
    }

    /// Nobody is to wait.
    mutating func cancel() -> Action {
        guard run != nil else { return .none }
        settle(.cancelled)
        return .stop
    }

    /// The asset was inspected.
    mutating func finish(_ number: Int, _ result: Result<AssetInspection, PlayerError>) {
        guard run == number else { return }
        switch result {
        case .success(let inspection):
            self.inspection = inspection
            run = nil
            waiting = 0
            // One look tells them all.
            for key in AssetKey.allCases { statuses[key] = .loaded }
        case .failure(let error): settle(.failed(error))
        }
    }

    private mutating func settle(_ status: AssetKeyStatus) {
        run = nil
        waiting = 0
        for (key, old) in statuses where old.isLoading { statuses[key] = status }
    }
}

/// How far a property is loaded.
public enum AssetKeyStatus: Sendable {
    /// Nobody asked for it.
    case unknown
    /// It is being loaded.
    case loading
    /// It can be read at once.
    case loaded
    /// It could not be loaded, and why.
    case failed(PlayerError)
    /// Loading was cancelled.
    case cancelled

    var isLoading: Bool { if case .loading = self { true } else { false } }
    var isFailed: Bool { if case .failed = self { true } else { false } }
}
