/// A state machine for the loading of the properties of an asset, and the number of callers that wait for them.
///
/// All properties come from one inspection, which runs once for all callers.
struct AssetLoading: Sendable {
    /// An action for the owner of the state machine.
    enum Action: Sendable, Hashable {
        case none
        /// Start an inspection with this run number, which must be passed to ``AssetLoading/finish(_:_:)`` with the
        /// result.
        case inspect(Int)
        /// Cancel the inspection, since no caller waits for it.
        case stop
    }

    private(set) var inspection: AssetInspection?
    private(set) var statuses: [AssetKey: AssetKeyStatus] = [:]
    private var run: Int?
    private var lastRun = 0
    private var waiterCount = 0

    /// Returns the status of a property.
    func status(of key: AssetKey) -> AssetKeyStatus { statuses[key] ?? .unknown }

    /// Returns a Boolean value that indicates whether the inspection with the given run number is in progress.
    func isRunning(_ number: Int) -> Bool { run == number }

    /// Registers a caller that needs properties.
    ///
    /// - Returns: The action to perform, and the number of the run to wait for; `nil` if there is nothing to wait for.
    mutating func load(_ keys: [AssetKey]) -> (action: Action, run: Int?) {
        if inspection != nil { return (.none, nil) }
        // A failed load is not repeated by later requests, as in AVFoundation; a canceled load may be.
        if run == nil, keys.contains(where: { status(of: $0).isFailed }) { return (.none, nil) }
        for key in keys { statuses[key] = .loading }
        waiterCount += 1
        if let run { return (.none, run) }
        lastRun += 1
        run = lastRun
        return (.inspect(lastRun), lastRun)
    }

    /// Removes a caller that no longer waits.
    mutating func removeWaiter(_ number: Int) -> Action {
        guard run == number else { return .none }
        waiterCount -= 1
        return waiterCount <= 0 ? cancel() : .none
    }

    /// Cancels the inspection for all callers.
    mutating func cancel() -> Action {
        guard run != nil else { return .none }
        finishLoading(.cancelled)
        return .stop
    }

    /// Stores the result of an inspection; the result of a run that was canceled is ignored.
    mutating func finish(_ number: Int, _ result: Result<AssetInspection, PlayerError>) {
        guard run == number else { return }
        switch result {
        case .success(let inspection):
            self.inspection = inspection
            run = nil
            // One inspection provides all properties.
            for key in AssetKey.allCases { statuses[key] = .loaded }
        case .failure(let error): finishLoading(.failed(error))
        }
    }

    private mutating func finishLoading(_ status: AssetKeyStatus) {
        run = nil
        waiterCount = 0
        for (key, old) in statuses where old.isLoading { statuses[key] = status }
    }
}

/// The loading status of a property of an asset.
public enum AssetKeyStatus: Sendable {
    /// The property has not been requested.
    case unknown
    /// The property is being loaded.
    case loading
    /// The property is loaded, and its value is available at once.
    case loaded
    /// Loading the property failed with this error.
    case failed(PlayerError)
    /// Loading the property was canceled.
    case cancelled

    var isLoading: Bool { if case .loading = self { true } else { false } }
    var isFailed: Bool { if case .failed = self { true } else { false } }
}
