import AssetStorage
import MediaTiming
import MediaTransport
import ResourceAddressing

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
    /// The keys and initialization sections that are being fetched, with the files of other media playlists that have the same
    /// URL and wait for them.
    private var shared: [SharedFile: [StoredResource]] = [:]

    /// The identity of a file that several media playlists can have.
    private struct SharedFile: Hashable {
        let kind: StoredResource.Kind
        let address: ResourceAddress
        let byteRange: ByteRange?

        init?(_ resource: StoredResource) {
            guard resource.isSharedByPlaylists else { return nil }
            (kind, address, byteRange) = (resource.kind, resource.address, resource.byteRange)
        }
    }
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
        while true {
            if waiting.isEmpty, hasMore { return .readNextPage(after: last) }
            if let first = waiting.first, first.isDeferred, !hasDeferredOnly {
                guard running == 0 else { return .wait }
                hasDeferredOnly = true
            }
            guard let resource = waiting.popFirst() else { return running > 0 ? .wait : hasFailures ? .fail : .finish }
            if let file = SharedFile(resource) {
                guard shared[file] == nil else {
                    shared[file]?.append(resource)
                    continue
                }
                shared[file] = []
            }
            running += 1
            return .fetch(resource)
        }
    }

    /// Ends a fetch that succeeded; other files with the same URL are copied from it from now on.
    mutating func fetchSucceeded(_ resource: StoredResource? = nil) {
        running -= 1
        release(resource)
    }

    /// Lets files wait no longer for one with the same URL.
    private mutating func release(_ resource: StoredResource?) {
        guard let file = resource.flatMap({ SharedFile($0) }), let others = shared.removeValue(forKey: file) else {
            return
        }
        if !others.isEmpty { waiting = others + waiting }
    }

    /// Ends the queue because the addresses of the files have expired; a file has failed for this reason.
    mutating func end() {
        running -= 1
        isEnding = true
    }

    mutating func fetchFailed(_ resource: StoredResource? = nil) {
        running -= 1
        release(resource)
        hasFailures = true
        if !policy.continues(afterFileFailure: &history) { isEnding = true }
    }
}

extension StoredResource {
    /// A Boolean value that indicates whether several media playlists of a presentation can have the file.
    var isSharedByPlaylists: Bool {
        switch kind {
        case .key, .longKey, .initialization: true
        case .segment, .subtitle: false
        }
    }
}
