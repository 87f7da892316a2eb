package import MediaTiming
package import ResourceAddressing
import Synchronization

/// Small resources in memory, for servers that answer many requests from the same few resources.
///
/// A resource is used without a request while it is fresh, and validated afterward (RFC 9111 §4). Simultaneous requests for
/// one resource share a single load. The memory belongs to one user: responses to requests with credentials are kept too, so
/// that all clients that use it must be permitted to see them.
package final class ResourceMemory: Sendable {
    /// The options of a memory.
    package struct Options: Sendable {
        /// The maximum size of all resources together; the default is 64 MiB.
        package var size = ByteCount(64 << 20)
        /// The time for which a stale resource is used if its server is unavailable (RFC 5861 §4), besides what responses
        /// permit; none by default.
        package var staleIfError = Duration.zero
        /// The clock for the age of resources.
        package var now: @Sendable () -> UnixSeconds

        /// Creates options.
        package init(now: @escaping @Sendable () -> UnixSeconds) { self.now = now }
    }

    /// A resource with the number of its content.
    package struct Resource: Sendable {
        /// The resource.
        package let loaded: ResourceLoader.Loaded
        /// A number that changes whenever the content or its URL changes.
        package let version: UInt64
    }

    /// The loader of a resource and the maximum size of the resource.
    package typealias Loading = (loader: ResourceLoader, limit: ByteCount)

    private struct Entry {
        var metadata: EntryMetadata
        let resource: Resource
        /// The time of the response, and the time from which on it must be validated.
        private(set) var received = UnixSeconds(0)
        private(set) var freshUntil = UnixSeconds(0)

        init(metadata: EntryMetadata, resource: Resource) {
            self.metadata = metadata
            self.resource = resource
        }

        /// Computes the lifetime once, because it is compared with the clock for each request.
        mutating func updateLifetime() {
            received = metadata.received
            let freshness = Freshness(metadata, kind: .playlist, now: received)
            freshUntil = UnixSeconds(received.rawValue +| max(0, freshness.lifetime -| freshness.age))
        }

        func isFresh(at now: UnixSeconds) -> Bool { now >= received && now < freshUntil }

        /// The size of the entry with its URLs and header fields.
        var size: Int {
            let addresses = metadata.key.address.text.utf8.count +| metadata.address.text.utf8.count
            let fields = metadata.headers.reduce(0) { $0 +| $1.name.utf8.count +| $1.value.utf8.count +| 64 }
            return resource.loaded.bytes.count +| addresses +| fields +| 1_024
        }
    }

    private struct State {
        var entries: RecentlyUsedValues<ResourceAddress, Entry>
        var loads: [ResourceAddress: SharedLoad] = [:]
        var lastVersion: UInt64 = 0
    }

    private let options: Options
    private let rules: CacheRules
    private let state: Mutex<State>

    /// Creates a memory without resources.
    package init(_ options: Options) {
        self.options = options
        state = Mutex(State(entries: RecentlyUsedValues(maximumSize: options.size)))
        rules = CacheRules(kinds: [.playlist], maximumEntrySize: options.size.bytes / 4)
    }

    /// The number of resources.
    package var count: Int { state.withLock { $0.entries.count } }

    /// Returns the number of the content of a resource that can be used without a request; `nil` for any other.
    package func freshVersion(of address: ResourceAddress) -> UInt64? {
        let now = options.now()
        return state.withLock { state in
            guard let entry = state.entries[address], entry.isFresh(at: now)
            else {
                return nil
            }
            return state.entries.use(address)?.resource.version
        }
    }

    /// Returns a resource, which is loaded or validated if it is not fresh.
    ///
    /// - Parameters:
    ///   - address: The URL of a playlist.
    ///   - makeLoading: Returns the loader. It is called only if the caller is the first of those that wait for the load.
    /// - Returns: The resource.
    /// - Throws: ``TransportError``, the error of `makeLoading`, `CancellationError` when canceled.
    package func resource(
        at address: ResourceAddress,
        _ makeLoading: @escaping @Sendable () throws -> Loading
    ) async throws -> Resource {
        // A load would begin before its only waiter leaves it.
        try Task.checkCancellation()
        let now = options.now()
        enum Found {
            case fresh(Resource)
            case loading(SharedLoad)
        }
        let found: Found = state.withLock { state in
            if let entry = state.entries.use(address), entry.isFresh(at: now) {
                return .fresh(entry.resource)
            }
            if let load = state.loads[address], load.join() { return .loading(load) }
            let load = SharedLoad()
            state.loads[address] = load
            let known = state.entries[address]
            load.start { [self] in
                do {
                    let resource = try await self.load(address, known, try makeLoading())
                    finish(load, address)
                    return .success(resource)
                } catch {
                    finish(load, address)
                    return .failure(error)
                }
            }
            return .loading(load)
        }
        switch found {
        case .fresh(let resource): return resource
        case .loading(let load): return try await load.result()
        }
    }

    private func finish(_ load: SharedLoad, _ address: ResourceAddress) {
        state.withLock { state in
            if state.loads[address] === load { state.loads[address] = nil }
        }
    }

    // MARK: Loading

    private enum ServerResponse {
        case notModified(TransportResponse)
        case content(ResourceLoader.Loaded, TransportResponse)
    }

    private func load(_ address: ResourceAddress, _ known: Entry?, _ loading: Loading) async throws -> Resource {
        var request = TransportRequest(address, kind: .playlist)
        if known != nil { request.headers += known?.metadata.validationFields ?? [] }
        let requested = options.now()
        let result: ServerResponse
        do {
            result = try await loading.loader.send(request) { response in
                guard response.status != 304 else { return .notModified(response) }
                return .content(try await ResourceLoader.Loaded(reading: response, limit: loading.limit), response)
            }
        } catch let error as TransportError {
            guard let known, permitsStale(known, after: error) else { throw error }
            return known.resource
        }
        switch result {
        case .notModified(let response):
            guard var entry = known, entry.metadata.address == response.address,
                entry.metadata.isConfirmed(by: response.headers)
            else {
                return try await load(address, nil, loading)
            }
            entry.metadata.update(with: rules.storedFields(of: response.headers))
            entry.metadata.requested = requested
            entry.metadata.received = options.now()
            store(entry, at: address)
            return entry.resource
        case .content(let loaded, let response):
            let isSame = known.map {
                $0.resource.loaded.address == loaded.address && $0.resource.loaded.bytes == loaded.bytes
            }
            let version =
                isSame == true
                ? known?.resource.version
                : state.withLock { state in
                    state.lastVersion &+= 1
                    return state.lastVersion
                }
            let resource = Resource(loaded: loaded, version: version ?? 0)
            let metadata = EntryMetadata(
                key: EntryKey(address: address, byteRange: nil),
                status: response.status,
                address: response.address,
                requested: requested,
                received: options.now(),
                headers: rules.storedFields(of: response.headers)
            )
            store(Entry(metadata: metadata, resource: resource), at: address)
            return resource
        }
    }

    /// Returns a Boolean value that indicates whether a stale resource can be used after an error.
    private func permitsStale(_ entry: Entry, after error: TransportError) -> Bool {
        guard error.allowsStaleResponse else { return false }
        let control = CacheControl(entry.metadata.headers)
        let permitted = control.contains("must-revalidate") ? nil : control.seconds("stale-if-error")
        let limit = max(permitted ?? 0, options.staleIfError.components.seconds)
        return Freshness(entry.metadata, kind: .playlist, now: options.now()).staleness <= limit && limit > 0
    }

    private func store(_ entry: Entry, at address: ResourceAddress) {
        var entry = entry
        let request = TransportRequest(address, kind: .playlist)
        let mayStay = !CacheControl(entry.metadata.headers).contains("no-store")
        if !rules.allowsStoring(entry.metadata, length: Int64(entry.resource.loaded.bytes.count), of: request) {
            // The content is kept for the comparison with the next one only.
            entry.metadata.headers = []
        }
        entry.updateLifetime()
        state.withLock { state in
            if mayStay, Int64(entry.size) <= options.size.bytes / 4 {
                state.entries.insert(entry, size: entry.size, for: address)
            } else {
                state.entries.remove(address)
            }
        }
    }
}

/// A load for which several callers wait; it is canceled when all of them are.
private final class SharedLoad: Sendable {
    typealias Outcome = Result<ResourceMemory.Resource, any Error>

    private struct State {
        var outcome: Outcome?
        var waiterCount = 1
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let end = Broadcast()

    /// Starts the load for its first waiter.
    func start(_ operation: @escaping @Sendable () async -> Outcome) {
        let task = Task {
            let outcome = await operation()
            state.withLock { $0.outcome = outcome }
            end.notify()
        }
        state.withLock { $0.task = task }
    }

    /// Adds a waiter.
    ///
    /// - Returns: `false` if the load was canceled because no caller waited for it.
    func join() -> Bool {
        state.withLock { state in
            guard state.waiterCount > 0 else { return false }
            state.waiterCount += 1
            return true
        }
    }

    /// Waits until the load has ended.
    func result() async throws -> ResourceMemory.Resource {
        defer { leave() }
        while true {
            let seen = end.count
            if let outcome = state.withLock({ $0.outcome }) { return try outcome.get() }
            try Task.checkCancellation()
            await end.wait(after: seen)
        }
    }

    private func leave() {
        let task = state.withLock { state in
            state.waiterCount -= 1
            return state.waiterCount == 0 ? state.task : nil
        }
        task?.cancel()
    }
}
