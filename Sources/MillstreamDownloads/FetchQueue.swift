import AssetStorage

/// Decides what a download fetches next, and when it gives up.
struct FetchQueue {
    /// What to do.
    enum Action: Equatable {
        case fetch(StoredResource)
        /// Nothing more to begin; some fetches may still run.
        case wait
        /// Everything is there.
        case finish
        /// Enough failed: the first error is the one to tell.
        case fail
    }

    /// So many files may fail before the rest is not tried: a server that is gone fails them all.
    private static let toleratedFailures = 4

    private var waiting: ArraySlice<StoredResource>
    private var running = 0
    private var failures = 0

    init(_ missing: [StoredResource]) {
        waiting = missing[...]
    }

    mutating func next() -> Action {
        if failures > Self.toleratedFailures || failures > 0 && waiting.isEmpty { return running > 0 ? .wait : .fail }
        guard let resource = waiting.popFirst() else { return running > 0 ? .wait : .finish }
        running += 1
        return .fetch(resource)
    }

    mutating func stored() {
        running -= 1
    }

    mutating func failed() {
        running -= 1
        failures += 1
    }
}
