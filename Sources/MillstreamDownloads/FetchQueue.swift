import AssetStorage

/// Decides what a download fetches next, and when it gives up.
struct FetchQueue {
    /// What to do.
    enum Action: Equatable {
        case fetch(StoredResource)
        /// The next page of missing files is needed, those after the given one.
        case read(after: StoredResource?)
        /// Nothing more to begin; some fetches may still run.
        case wait
        /// Everything was fetched.
        case finish
        /// Enough failed: the first error is the one to report.
        case fail
    }

    /// The number of files that may fail before the rest is not tried: a server that is gone fails them all.
    static let toleratedFailures = 4

    private var waiting: ArraySlice<StoredResource> = []
    private var last: StoredResource?
    private var hasMore = true
    private var running = 0
    private var failures = 0

    /// Adds a page of missing files; an empty one is the end of them.
    mutating func append(_ page: [StoredResource]) {
        waiting = waiting + page
        last = page.last ?? last
        hasMore = !page.isEmpty
    }

    mutating func next() -> Action {
        if failures > Self.toleratedFailures { return running > 0 ? .wait : .fail }
        if waiting.isEmpty, hasMore { return .read(after: last) }
        guard let resource = waiting.popFirst() else { return running > 0 ? .wait : failures > 0 ? .fail : .finish }
        running += 1
        return .fetch(resource)
    }

    mutating func stored() { running -= 1 }

    mutating func failed() {
        running -= 1
        failures += 1
    }
}
