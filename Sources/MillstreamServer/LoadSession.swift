import HTTPTypes
import MediaTiming
import MediaTransport
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import Synchronization

/// The playlists that are loaded for one request, each of them once.
final class LoadSession: Sendable {
    private let memory: ResourceMemory
    private let loader: ResourceLoader
    private let capacity: ServerCapacity
    private let time: any TimeSource
    private let resources = Mutex<[ResourceAddress: ResourceMemory.Resource]>([:])

    /// Creates the session of a request.
    ///
    /// - Parameters:
    ///   - memory: The playlists that the server has in memory.
    ///   - loader: The loader of playlists that are not in memory or not fresh.
    ///   - capacity: The capacity of the server, in which bytes are reserved while they are loaded.
    ///   - time: The clock for ``ServerLimits/loadingTime``.
    init(
        memory: ResourceMemory,
        loader: ResourceLoader,
        capacity: ServerCapacity,
        time: any TimeSource = SystemTimeSource()
    ) {
        self.memory = memory
        self.loader = loader
        self.capacity = capacity
        self.time = time
    }

    /// The versions of the playlists that were loaded, by URL.
    var versions: [ResourceAddress: UInt64] { resources.withLock { $0.mapValues(\.version) } }

    /// Returns a playlist, which is loaded or validated once in a session.
    ///
    /// - Throws: `TransportError`, `CancellationError`, ``ServerError`` if the server has no capacity, or if the playlist is
    ///   not loaded within ``ServerLimits/loadingTime``.
    func resource(
        at address: ResourceAddress,
        _ presentations: PresentationStore?
    ) async throws -> ResourceMemory.Resource {
        if let known = resources.withLock({ $0[address] }) { return known }
        let resource = try await time.limitingLoad(of: "playlist", within: capacity.limits.loadingTime) {
            [memory, loader, capacity] () async throws -> ResourceMemory.Resource in
            try await memory.resource(at: address) {
                // The load is shared by requests, so it has a budget of its own, which is released at its end.
                let budget = capacity.loadingBudget()
                let metered = loader.wrappingTransport { transport in
                    MeteredTransport(DocumentTransport(transport)) { try budget.receive($0) }
                }
                return (
                    presentations.map { metered.translatingPresentations(in: $0) } ?? metered,
                    budget.limits.loadedBytes
                )
            }
        }
        // Clients can share a session; all of them use the version that was loaded first.
        return resources.withLock { resources in
            if let first = resources[address] { return first }
            resources[address] = resource
            return resource
        }
    }

    /// Returns a Boolean value that indicates whether playlists still have the given versions.
    ///
    /// - Throws: The error of a playlist that cannot be loaded.
    func confirms(
        _ versions: [ResourceAddress: UInt64],
        _ presentations: PresentationStore?
    ) async throws -> Bool {
        for (address, version) in versions
        where try await resource(at: address, presentations).version != version { return false }
        return true
    }
}
