import Dispatch
package import MediaTiming
import Synchronization

/// A queue that limits the number of host names that are resolved concurrently.
///
/// The system resolver blocks a thread while it waits for a name server, and a playlist or a web page can name any
/// number of hosts. Requests for the same name share one lookup.
package final class HostLookupQueue: Sendable {
    /// The limits of a queue.
    package struct Limits: Sendable {
        /// The maximum number of threads that wait for a name server.
        package var concurrentLookups: Int
        /// The maximum number of different names that are being resolved or wait for a thread.
        package var pendingNames: Int
        /// The maximum number of requests that wait for a result; several may wait for the same name.
        package var pendingRequests: Int
        /// The time after which a request fails; the thread stays busy until the resolver returns.
        package var timeLimit: Duration

        /// Creates limits; the default values suit a server with several hundred players.
        package init(
            concurrentLookups: Int = 16,
            pendingNames: Int = 256,
            pendingRequests: Int = 4_096,
            timeLimit: Duration = .seconds(15)
        ) {
            self.concurrentLookups = concurrentLookups
            self.pendingNames = pendingNames
            self.pendingRequests = pendingRequests
            self.timeLimit = timeLimit
        }
    }

    private struct Waiter {
        let continuation: CheckedContinuation<[HostAddress], any Error>
        var timeout: ScheduledAction?
    }

    private struct Lookup {
        var waiters: [Int: Waiter] = [:]
        var isRunning = false
    }

    private struct State {
        var lookups: [String: Lookup] = [:]
        var queuedNames: [String] = []
        var runningCount = 0
        var waiterCount = 0
        var nextID = 0

        /// Removes the names that can be resolved now from the queue, and returns them.
        mutating func takeRunnable(upTo limit: Int) -> [String] {
            var names: [String] = []
            while runningCount < limit, !queuedNames.isEmpty {
                let name = queuedNames.removeFirst()
                runningCount += 1
                lookups[name]?.isRunning = true
                names.append(name)
            }
            return names
        }

        /// Removes a waiter; a name without other waiters and without a thread is removed from the queue.
        mutating func removeWaiter(_ id: Int, of name: String) -> Waiter? {
            guard let waiter = lookups[name]?.waiters.removeValue(forKey: id) else { return nil }
            waiterCount -= 1
            if let lookup = lookups[name], lookup.waiters.isEmpty, !lookup.isRunning {
                lookups[name] = nil
                queuedNames.removeAll { $0 == name }
            }
            return waiter
        }
    }

    /// The queue that the process shares.
    package static let shared = HostLookupQueue()

    private let limits: Limits
    private let time: any TimeSource
    private let lookUp: @Sendable (String) -> [HostAddress]
    private let threads = DispatchQueue(label: "millstream.host-lookup", attributes: .concurrent)
    private let state = Mutex(State())

    /// The maximum length of a name in bytes, with a trailing dot (RFC 1035 §2.3.4).
    private static let maximumNameLength = 254

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - limits: The limits of the queue.
    ///   - time: The clock for the time limit.
    ///   - lookUp: A function that resolves a name and may block its thread; an empty result means an unknown name.
    package init(
        _ limits: Limits = Limits(),
        time: any TimeSource = SystemTimeSource(),
        lookUp: @escaping @Sendable (String) -> [HostAddress] = HostAddress.lookUp
    ) {
        self.limits = limits
        self.time = time
        self.lookUp = lookUp
    }

    /// The number of names that are being resolved or wait for a thread.
    package var pendingNameCount: Int { state.withLock { $0.lookups.count } }

    /// The number of requests that wait for a result.
    package var waitingRequestCount: Int { state.withLock { $0.waiterCount } }

    /// Resolves a host name, or parses a numeric address.
    ///
    /// - Throws: ``TransportError`` with the code `unknown-host` for a name without an address, `timed-out` after the
    ///   time limit, and `too-many-lookups` if the queue is full.
    package func resolve(_ host: String) async throws -> [HostAddress] {
        if let address = HostAddress(numeric: host) { return [address] }
        guard !host.isEmpty, host.utf8.count <= Self.maximumNameLength, !host.utf8.contains(0) else {
            throw Self.unknownHost(host)
        }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { enqueue(host, id, $0) }
        } onCancel: {
            fail(id, of: host, with: CancellationError())
        }
    }

    private func enqueue(_ name: String, _ id: Int, _ continuation: CheckedContinuation<[HostAddress], any Error>) {
        let runnable: [String]? = state.withLock { state in
            let isKnown = state.lookups[name] != nil
            guard state.waiterCount < limits.pendingRequests, isKnown || state.lookups.count < limits.pendingNames
            else {
                return nil
            }
            state.lookups[name, default: Lookup()].waiters[id] = Waiter(continuation: continuation)
            state.waiterCount += 1
            if !isKnown { state.queuedNames.append(name) }
            return state.takeRunnable(upTo: limits.concurrentLookups)
        }
        guard let runnable else {
            let message = "too many host names are being resolved; try again later"
            return continuation.resume(throwing: TransportError(.tooManyLookups, message))
        }
        let timeout = time.schedule(after: limits.timeLimit) { [weak self, limits] in
            let message = "the host name \(name) was not resolved within \(limits.timeLimit.components.seconds) s"
            self?.fail(id, of: name, with: TransportError(.timedOut, message))
        }
        let isWaiting = state.withLock { state in
            guard state.lookups[name]?.waiters[id] != nil else { return false }
            state.lookups[name]?.waiters[id]?.timeout = timeout
            return true
        }
        if !isWaiting { timeout.cancel() }
        start(runnable)
        // If the task was canceled before the waiter was added, the cancellation handler found no waiter.
        if Task.isCancelled { fail(id, of: name, with: CancellationError()) }
    }

    private func fail(_ id: Int, of name: String, with error: any Error) {
        let waiter = state.withLock { $0.removeWaiter(id, of: name) }
        waiter?.timeout?.cancel()
        waiter?.continuation.resume(throwing: error)
    }

    private func start(_ names: [String]) {
        for name in names { threads.async { self.finish(name, self.lookUp(name)) } }
    }

    private func finish(_ name: String, _ addresses: [HostAddress]) {
        let (waiters, runnable) = state.withLock { state in
            let waiters = state.lookups.removeValue(forKey: name)?.waiters ?? [:]
            state.waiterCount -= waiters.count
            state.runningCount -= 1
            return (waiters.values, state.takeRunnable(upTo: limits.concurrentLookups))
        }
        start(runnable)
        for waiter in waiters {
            waiter.timeout?.cancel()
            if addresses.isEmpty {
                waiter.continuation.resume(throwing: Self.unknownHost(name))
            } else {
                waiter.continuation.resume(returning: addresses)
            }
        }
    }

    private static func unknownHost(_ host: String) -> TransportError {
        TransportError(.unknownHost, "the host name \(host.prefix(maximumNameLength)) cannot be resolved")
    }
}
