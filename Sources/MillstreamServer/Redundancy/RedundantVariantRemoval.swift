import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// The removal of redundant variants whose media playlists are unavailable or stale, for one request.
struct RedundantVariantRemoval: Sendable {
    private let loader: OriginPlaylistLoader
    private let budget: RequestBudget
    private let workers: EditWorkers
    private let monitor: VariantMonitor

    /// The maximum number of media playlists that are observed for a request; variants beyond it remain.
    static let maximumPlaylistCount = 64
    /// The maximum size of all media playlists that are loaded for a request.
    private static let maximumSize = ByteCount(16 << 20)

    /// Creates the removal for one request.
    ///
    /// - Parameters:
    ///   - loader: The loading of media playlists.
    ///   - budget: The budget of the request, in which loaded bytes are reserved.
    ///   - workers: The executor for parsing and editing.
    ///   - monitor: The last known states of the media playlists.
    init(loader: OriginPlaylistLoader, budget: RequestBudget, workers: EditWorkers, monitor: VariantMonitor) {
        self.loader = loader
        self.budget = budget
        self.workers = workers
        self.monitor = monitor
    }

    /// Returns a playlist without the redundant variants that are unavailable or stale.
    ///
    /// - Parameter playlist: The multivariant playlist.
    /// - Returns: The playlist; it is unchanged, byte for byte, if no variant is removed.
    /// - Throws: `CancellationError`; `PlaylistEditError` if the result exceeds a limit.
    func removeUnavailableVariants(of playlist: MultivariantPlaylist) async throws -> MultivariantPlaylist {
        let (redundant, addresses) = try await workers.run { _ in
            let redundant = RedundantVariants(in: playlist)
            return (redundant, Self.addresses(of: redundant, in: playlist))
        }
        guard !addresses.isEmpty else { return playlist }
        // The bytes are not counted against those that the edits may load.
        var limits = budget.limits.editing
        limits.loadedBytes = min(limits.loadedBytes, Self.maximumSize)
        let loading = EditBudget(limits) { [budget] in try budget.reserve($0) }
        let variables = playlist.variables
        let states = try await monitor.availability(of: addresses, variables: variables) { [loader] address in
            try await loader.loadPlaylist(at: address.text, variables: variables, budget: loading)
        }
        return try await workers.run { _ in
            let removed = Self.unavailable(redundant.groups, playlist.variants, states)
            let removedIFrames = Self.unavailable(redundant.iFrameGroups, playlist.iFrameVariants, states)
            guard !removed.isEmpty || !removedIFrames.isEmpty else { return playlist }
            return try RedundantVariants.removed(at: removed, iFrameVariantsAt: removedIFrames, from: playlist)
        }
    }

    /// Returns the URLs of the media playlists to observe, each of them once; those of I-frame variants are last.
    private static func addresses(
        of redundant: RedundantVariants,
        in playlist: MultivariantPlaylist
    ) -> [ResourceAddress] {
        var addresses: [ResourceAddress] = []
        var known: Set<ResourceAddress> = []
        for (groups, variants) in [
            (redundant.groups, playlist.variants), (redundant.iFrameGroups, playlist.iFrameVariants),
        ] {
            for position in groups.joined() where known.count < maximumPlaylistCount {
                let address = variants[position].address
                if known.insert(address).inserted { addresses.append(address) }
            }
        }
        return addresses
    }

    /// Returns the positions of the variants that do not remain.
    private static func unavailable(
        _ groups: [[Int]],
        _ variants: [Variant],
        _ states: [ResourceAddress: VariantAvailability]
    ) -> Set<Int> {
        var removed: Set<Int> = []
        for positions in groups {
            let members = positions.map { states[variants[$0].address] ?? .unknown }
            for (position, remains) in zip(positions, RedundantVariants.remaining(of: members)) where !remains {
                removed.insert(position)
            }
        }
        return removed
    }
}
