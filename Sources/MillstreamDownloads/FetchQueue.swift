import AssetStorage
import MediaTransport

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

    private let policy: RecoveryPolicy
    private var waiting: ArraySlice<StoredResource> = []
    private var last: StoredResource?
    private var hasMore = true
    private var running = 0
    /// A Boolean value that indicates whether all files are fetched but those that are deferred.
    private var hasDeferredOnly = false
    private var history = RecoveryPolicy.History()
    private var hasFailures = false
    /// A Boolean value that indicates whether no more files are fetched, because too many have failed or their
    /// addresses have expired.
    private var isEnding = false

    /// Creates an empty queue.
    ///
    /// - Parameter policy: The policy that decides how many files may fail before the download ends, because an
    ///   unavailable server fails all of them.
    init(policy: RecoveryPolicy = RecoveryPolicy()) { self.policy = policy }

    /// Adds a page of missing files; an empty page marks the end.
    mutating func append(_ page: [StoredResource]) {
        waiting = waiting + page
        last = page.last ?? last
        hasMore = !page.isEmpty
    }

    mutating func next() -> Action {
        if isEnding { return running > 0 ? .wait : .fail }
        if waiting.isEmpty, hasMore { return .readNextPage(after: last) }
        if let first = waiting.first, first.isDeferred, !hasDeferredOnly {
            guard running == 0 else { return .wait }
            hasDeferredOnly = true
        }
        guard let resource = waiting.popFirst() else { return running > 0 ? .wait : hasFailures ? .fail : .finish }
        running += 1
        return .fetch(resource)
    }

    mutating func fetchSucceeded() { running -= 1 }

    /// Ends the queue because the addresses of the files have expired; a file has failed for this reason.
    mutating func end() {
        running -= 1
        isEnding = true
    }

    mutating func fetchFailed() {
        running -= 1
        hasFailures = true
        if !policy.continues(afterFileFailure: &history) { isEnding = true }
    }
}
