import AssetStorage

/// A queue that determines the next action of a download, and ends it after too many failures.
struct FetchQueue {
    /// The next action.
    enum Action: Equatable {
        case fetch(StoredResource)
        /// The next page of missing files, after the given one, must be read.
        case readNextPage(after: StoredResource?)
        /// No fetch can be started; some fetches may still be running.
        case wait
        /// All files are fetched.
        case finish
        /// Some files have failed; the first error is reported.
        case fail
    }

    /// The maximum number of failed files for which the download continues, because an unavailable server fails all of
    /// them.
    static let toleratedFailures = 4

    private var waiting: ArraySlice<StoredResource> = []
    private var last: StoredResource?
    private var hasMore = true
    private var running = 0
    private var failures = 0

    /// Adds a page of missing files; an empty page marks the end.
    mutating func append(_ page: [StoredResource]) {
        waiting = waiting + page
        last = page.last ?? last
        hasMore = !page.isEmpty
    }

    mutating func next() -> Action {
        if failures > Self.toleratedFailures { return running > 0 ? .wait : .fail }
        if waiting.isEmpty, hasMore { return .readNextPage(after: last) }
        guard let resource = waiting.popFirst() else { return running > 0 ? .wait : failures > 0 ? .fail : .finish }
        running += 1
        return .fetch(resource)
    }

    mutating func fetchSucceeded() { running -= 1 }

    mutating func fetchFailed() {
        running -= 1
        failures += 1
    }
}
