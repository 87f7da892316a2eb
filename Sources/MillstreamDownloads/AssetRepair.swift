public import AssetStorage
import HLSPlaylist
public import MediaTiming
public import MediaTransport
import PlaylistEditing

/// A repair of a downloaded asset: its files are verified, and those that are missing or damaged are fetched again.
///
/// Files that were never stored are not fetched; a ``DownloadTask`` does that. An asset whose playlists were never loaded is not changed.
public struct AssetRepair: Sendable {
    /// The result of a repair.
    public struct Result: Sendable {
        /// The paths, relative to the package, of files that were missing or damaged, also if an earlier verification
        /// found them.
        public let damaged: [String]
        /// The paths of those files that are stored again.
        public let repaired: [String]
        /// The error because of which the other files could not be fetched; `nil` if all files are repaired.
        public let failure: DownloadError?
    }

    private let id: String
    private let library: AssetLibrary
    private let task: AssetDownload
    private let resolver: DownloadResolver

    /// Creates a repair; it starts with ``run(_:)``.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - library: The library that contains the asset.
    ///   - loader: The loader for the files.
    ///   - configuration: The options of the download; its selection and title are not used.
    ///   - time: The clock for progress reports.
    /// - Throws: `StorageError` if the library has no such asset.
    public init(
        _ id: String,
        in library: AssetLibrary,
        loader: ResourceLoader,
        configuration: DownloadConfiguration = DownloadConfiguration(),
        time: any TimeSource = SystemTimeSource()
    ) throws {
        self.id = id
        self.library = library
        let asset = try library.asset(id)
        let source = asset.source
        // The playlists are loaded again for the stored time range, and with the edits of the stored ones.
        var selection = configuration.selection
        let stored = DownloadSelection(asset.selection)
        selection.timeRange = stored?.timeRange
        selection.edits = stored?.edits ?? EditPlan([])
        if asset.isMediaFile {
            // A media file is stored as a whole, whatever was selected.
            selection.audio = .all
            selection.subtitles = .all
        } else if let stored {
            // Without video, the languages decide what the variants are.
            selection.audio = stored.audio
        }
        task = AssetDownload(source, into: library, loader: loader, configuration: configuration, time: time)
        resolver = DownloadResolver(
            loader: loader,
            selection: selection,
            playlistSize: configuration.limits.playlistSize,
            bypassesCache: true
        )
    }

    /// Verifies the asset and fetches its missing and damaged files.
    ///
    /// - Parameter report: A closure that is called with the progress of the asset while files are fetched; it must not
    ///   block.
    /// - Returns: The damaged and the repaired files.
    /// - Throws: ``DownloadError`` if the asset cannot be verified; `CancellationError` when canceled. The files that
    ///   were fetched stay stored.
    public func run(_ report: @escaping @Sendable (DownloadProgress) -> Void = { _ in }) async throws -> Result {
        do {
            let lock = try library.lock(id)
            defer { withExtendedLifetime(lock) {} }
            return try await repairLockedAsset(report)
        } catch let error as StorageError {
            throw DownloadError(error)
        }
    }

    private func repairLockedAsset(_ report: @escaping @Sendable (DownloadProgress) -> Void) async throws -> Result {
        // The playlists of a stream that was never loaded are not known, so that no asset can be made complete.
        guard try !library.asset(id).renditions.isEmpty else {
            return Result(damaged: [], repaired: [], failure: nil)
        }
        let (playlists, lost) = try await onBlockingThread { library in
            let damaged = try library.verifyLockedAsset(id).damaged
            // Files that an earlier verification found are included.
            let lost = try library.lostFiles(id)
            // Damaged playlists have been written again.
            return (Set(damaged).subtracting(lost).sorted(), lost)
        }
        var failure: DownloadError?
        if !lost.isEmpty {
            do {
                try await fetchLostFiles(lost, report)
            } catch let error as TransportError {
                failure = DownloadError(error)
            } catch let error as StorageError {
                failure = DownloadError(error)
            } catch let error as DownloadError {
                failure = error
            }
        }
        let remaining = try await onBlockingThread { library in
            // A later run can continue an interrupted recording, so its playlists have no end marker.
            if try library.missingCount(id) == 0, try !library.isRecording(id) { try library.finish(id) }
            return Set(try library.lostFiles(id))
        }
        let missing = lost.filter { remaining.contains($0) }
        if failure == nil, let first = missing.first {
            failure = DownloadError(
                .storage,
                "\(missing.count == 1 ? "1 file" : "\(missing.count) files") could not be fetched again: \(first)"
                    + (missing.count == 1 ? "" : " and others"),
                detail: StorageError.Code.incomplete.rawValue
            )
        }
        return Result(
            damaged: lost + playlists,
            repaired: lost.filter { !remaining.contains($0) } + playlists,
            failure: failure
        )
    }

    /// Fetches files again, and loads the playlists again if the addresses of the files have expired.
    private func fetchLostFiles(
        _ paths: [String],
        _ report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws {
        var renewal = DownloadRenewal()
        while true {
            renewal.beginRound()
            let (asset, missing) = try await onBlockingThread { (try $0.asset(id), try $0.missingCount(id)) }
            let meter = ProgressMeter(ProgressCounter(asset, missing: missing))
            try await task.fetchMissing(of: asset, meter, &renewal, onlyLost: true) { event in
                if case .progress(_, let progress) = event { report(progress) }
            }
            guard renewal.isNeeded else { return }
            let renditions = try await onBlockingThread { try $0.plannedEntries(id) }
            let resolution = try await resolver.resolve(task.source) { DownloadResolver.choices(renditions, in: $0) }
            try await onBlockingThread { library in
                try library.planDownload(
                    of: id,
                    source: resolution.playlist,
                    at: resolution.address,
                    renditions: resolution.renditions,
                    replacing: .none
                )
                try library.markAsLost(paths, of: id)
            }
        }
    }

    /// Runs a closure on a thread that may block, because it processes all files of the asset.
    private func onBlockingThread<Value: Sendable>(
        _ body: @escaping @Sendable (AssetLibrary) throws -> Value
    ) async throws -> Value {
        try await BlockingOperation.run { [library] in try body(library) }
    }
}

extension DownloadResolver {
    /// Returns the entries of a playlist that an asset has already planned.
    fileprivate static func choices(_ entries: [PlannedEntry], in playlist: MultivariantPlaylist) -> [Choice] {
        entries.compactMap { entry in
            guard entry.role == .variant || entry.role == .iFrames else {
                guard playlist.renditions.indices.contains(entry.position),
                    let address = playlist.renditions[entry.position].address
                else { return nil }
                return Choice(
                    role: entry.role,
                    position: entry.position,
                    aliases: entry.aliases,
                    language: playlist.renditions[entry.position].language,
                    variant: nil,
                    address: address
                )
            }
            let variants = entry.role == .variant ? playlist.variants : playlist.iFrameVariants
            guard variants.indices.contains(entry.position) else { return nil }
            let variant = variants[entry.position]
            return Choice(
                role: entry.role,
                position: entry.position,
                aliases: entry.aliases,
                language: nil,
                variant: variant,
                address: variant.address
            )
        }
    }
}
