package import AssetStorage
import Foundation
package import MediaTiming
package import MediaTransport
import PresentationLoading
package import ResourceAddressing

/// One run of a download of an asset to a library.
///
/// Stored files are not fetched again, so that a new run continues where the previous one stopped, even if its process
/// was killed.
package struct AssetDownload: Sendable {
    /// An event of a download.
    package enum Event: Sendable {
        /// The playlists are loaded, and the files to download are known, with the directories of their media playlists.
        case resolved(id: String, DownloadProgress, folders: Set<String>?)
        /// The stream is not available yet, or has stalled, and the recording waits for it.
        case waiting(DownloadError)
        /// Segments were lost before they could be recorded.
        case lost(id: String, count: Int64)
        /// Metadata of a recorded stream exceeds a limit, so that some of it is not recorded; this is reported once in a run.
        case metadataOmitted(id: String)
        /// All files are stored, but no sample tells whether the key that the user has given is right.
        case keyNotVerified(id: String)
        /// The progress changed.
        case progress(id: String, DownloadProgress)
        /// The run ended, with or without an error, after it resolved the asset.
        case ended(id: String, DownloadFigures)
        /// All files are stored.
        case completed(StoredAsset)
    }

    /// The URL of the source playlist.
    package let source: ResourceAddress
    let library: AssetLibrary
    let loader: ResourceLoader
    /// The transport of the loader, with the keys that were received before the files were planned.
    let receivedKeys: ReceivedKeys
    let configuration: DownloadConfiguration
    let time: any TimeSource
    /// A function that returns whether a codec (RFC 6381) can be decoded on this machine.
    package var canDecode: @Sendable (_ codec: String) -> Bool = { _ in true }
    /// The limiter of the rate of all downloads of a session; `nil` for none.
    var sessionLimiter: RateLimiter?
    /// The playlists of the source if they have just been loaded and entered in the catalog; `nil` to load them.
    var enteredPlaylists: EnteredPlaylists?

    /// Creates a download, which starts with ``run(_:)``.
    package init(
        _ source: ResourceAddress,
        into library: AssetLibrary,
        loader: ResourceLoader,
        configuration: DownloadConfiguration = DownloadConfiguration(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.source = source
        self.library = library
        let policy = loader.policy
        let clipped = loader.wrappingTransport { ClippedSubtitles(base: $0, policy: policy) }
        let keys = ReceivedKeys(base: clipped.transport)
        receivedKeys = keys
        self.loader = clipped.wrappingTransport { _ in keys }
        self.configuration = configuration
        self.time = time
    }

    /// The interval between progress reports.
    private static let progressInterval = Duration.milliseconds(200)
    /// The maximum number of attempts to lock an asset that another process has locked, and the time between them.
    private static let maximumLockAttempts = 5
    private static let lockInterval = Duration.milliseconds(100)
    /// The maximum number of attempts to create the asset if it is deleted at the same time.
    private static let maximumCreationAttempts = 3

    /// Downloads the missing files of the asset.
    ///
    /// - Parameter report: A closure that is called with each event, in order; it must not block.
    /// - Returns: The complete asset.
    /// - Throws: ``DownloadError``; `CancellationError` when canceled. In both cases, the files that were fetched stay
    ///   stored.
    @discardableResult
    package func run(_ report: @escaping @Sendable (Event) -> Void = { _ in }) async throws -> StoredAsset {
        do {
            if let recording = configuration.recording { return try await record(recording, report) }
            return try await fetchAll(report)
        } catch let error as StorageError {
            throw DownloadError(error)
        } catch let error as TransportError {
            throw DownloadError(error)
        }
    }

    /// Returns the limiter of the rate at which a run of the download receives bytes; `nil` for none.
    func makeLimiter() -> RateLimiter? {
        let limit = configuration.maximumRate.map { RateLimit($0) }
        guard limit != nil || sessionLimiter != nil else { return nil }
        return RateLimiter(limit, time: time, within: sessionLimiter)
    }

    /// The resolver of the playlists of the source.
    var resolver: DownloadResolver {
        DownloadResolver(
            loader: loader,
            selection: configuration.selection,
            playlistSize: configuration.limits.playlistSize,
            canDecode: canDecode
        )
    }

    private func fetchAll(_ report: @escaping @Sendable (Event) -> Void) async throws -> StoredAsset {
        var resolver = resolver
        let isEntered = enteredPlaylists != nil
        let playlists =
            if let enteredPlaylists { enteredPlaylists } else { EnteredPlaylists(try await resolver.resolve(source)) }
        let (id, lock) = try await waitForAsset()
        defer { withExtendedLifetime(lock) {} }
        let formerPlan = try playlists.formerPlan ?? library.formerPlan(of: id)
        var renewal = DownloadRenewal()
        resolver.bypassesCache = true
        if !isEntered, let resolution = playlists.resolution {
            do {
                try await receiveKeys(of: resolution, for: id)
            } catch let error as TransportError {
                // The keys of another download decrypt what is stored.
                guard let asset = try completeAsset(id) else { throw error }
                let progress = DownloadProgress(asset)
                report(.resolved(id: id, progress, folders: nil))
                report(.progress(id: id, progress))
                report(.completed(asset))
                return asset
            }
        }
        while true {
            let round: Round
            do {
                round = try await fetchFiles(of: playlists, isEntered: isEntered, resolver, for: id, &renewal, report)
            } catch {
                // What is stored is listed with its resolution and its languages as well. This is not done on another thread,
                // because the thread pool would not run it after a cancellation.
                try? library.describeMedia(of: id)
                // What was complete is not incomplete because of a download that was refused.
                if Self.isRefusal(error) { try? library.removeUnstoredRenditions(addedTo: formerPlan) }
                throw error
            }
            if round.hasAll {
                let (complete, hasUnverifiedKey) = try await BlockingOperation.run { [library, configuration] in
                    try round.verification.checkStoredSegments()
                    try? library.describeMedia(of: id)
                    try library.removeIncompleteIFrames(id)
                    // Files of an earlier download with another selection may still be missing.
                    if try library.missingCount(id) == 0 { try library.finish(id) }
                    // Of several selections, each adds to what the others have stored.
                    if configuration.replacesStoredSegments, configuration.furtherSelections.isEmpty {
                        try library.removeRenditions(of: id, besides: round.folders)
                    }
                    return try (library.asset(id), round.verification.hasUnverifiedKey)
                }
                report(.progress(id: id, round.meter.progress))
                if hasUnverifiedKey { report(.keyNotVerified(id: id)) }
                report(.completed(complete))
                return complete
            }
        }
    }

    /// Returns a Boolean value that indicates whether a download fails in the same way when it is continued with the same options
    /// and the same space: its size, the space for it, or its selection is the reason.
    private static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case let error as DownloadError: error.code == .tooLarge || error.code == .nothingSelected
        case let error as StorageError: error.code == .full
        case let error as TransportError: error.code == .tooLarge
        default: false
        }
    }

    /// The result of fetching the files that the playlists of the source name.
    private struct Round {
        let meter: ProgressMeter
        /// The directories of the media playlists of the selection.
        let folders: Set<String>
        /// A Boolean value that indicates whether all files are stored; otherwise their addresses have expired, and the playlists
        /// must be loaded again.
        let hasAll: Bool
        let verification: KeyVerification
    }

    /// The files of an asset to fetch, as they are in the catalog.
    private struct EnteredFiles {
        let asset: StoredAsset
        let folders: Set<String>
        let meter: ProgressMeter
        let verification: KeyVerification
    }

    /// Adds the files of a resolution to the catalog and fetches those that are missing.
    ///
    /// - Parameters:
    ///   - playlists: The playlists of the source, which are released before the files are fetched. Later rounds load them again.
    ///   - isEntered: A Boolean value that indicates whether the playlists of the first round are in the catalog already.
    ///   - resolver: The resolver that loads the playlists.
    ///   - id: The identifier of the asset.
    ///   - renewal: The decision on loading the playlists again.
    ///   - report: The closure that is called with each event.
    /// - Returns: The result.
    /// - Throws: ``DownloadError``, an error of the transport or the storage, or `CancellationError`.
    private func fetchFiles(
        of playlists: EnteredPlaylists,
        isEntered: Bool,
        _ resolver: DownloadResolver,
        for id: String,
        _ renewal: inout DownloadRenewal,
        _ report: @escaping @Sendable (Event) -> Void
    ) async throws -> Round {
        let isFirstRound = renewal.isFirstRound
        let files = try await enterFiles(
            of: playlists,
            isEntered: isFirstRound && isEntered,
            resolver,
            checksSpace: isFirstRound,
            for: id
        )
        let meter = files.meter
        defer { report(.ended(id: id, meter.figures)) }
        if isFirstRound { report(.resolved(id: id, meter.progress, folders: files.folders)) }
        renewal.beginRound()
        try await fetchMissing(
            of: files.asset,
            in: files.folders,
            verifying: files.verification,
            meter,
            &renewal,
            report: report
        )
        return Round(
            meter: meter,
            folders: files.folders,
            hasAll: !renewal.isNeeded,
            verification: files.verification
        )
    }

    /// Adds the files of a resolution to the catalog, unless they are there.
    private func enterFiles(
        of playlists: EnteredPlaylists,
        isEntered: Bool,
        _ resolver: DownloadResolver,
        checksSpace: Bool,
        for id: String
    ) async throws -> EnteredFiles {
        let resolution = if let entered = playlists.take() { entered } else { try await resolver.resolve(source) }
        let configuration = configuration
        // This runs on a blocking thread, because it processes all files, and a playlist may name a million.
        return try await BlockingOperation.run { [library] in
            // An asset that was deleted in the meantime has been created again, without files, and another download that was
            // refused may have removed what it had added.
            if try !isEntered || !library.hasRenditions(resolution.renditions, id) {
                try library.plan(resolution, of: id, configuration)
            }
            try library.removeMissingFilesFromCatalog(id)
            let folders = try library.folders(of: resolution.renditions, id)
            let asset = try library.asset(id)
            let unfinished = library.unfinishedFiles(of: asset, in: folders)
            if checksSpace { try library.checkSpace(for: resolution.renditions, of: asset, besides: unfinished) }
            let missing = try library.missingCount(id, in: folders)
            return EnteredFiles(
                asset: asset,
                folders: folders,
                meter: ProgressMeter(
                    ProgressCounter(asset, in: folders, missing: missing),
                    unfinishedFiles: unfinished
                ),
                verification: KeyVerification(resolution.renditions, of: id, in: library, configuration.selection)
            )
        }
    }

    /// Creates the catalog entry of the asset and locks it, if need be after a moment.
    ///
    /// A process that is about to find that this download has begun holds the lock meanwhile.
    private func waitForAsset() async throws -> (id: String, lock: PackageLock) {
        do {
            return try createAsset()
        } catch let error as StorageError where error.code == .busy {
            guard let id = try library.asset(source: source)?.id else { throw error }
            for _ in 0..<Self.maximumLockAttempts {
                try await time.sleep(for: Self.lockInterval)
                do {
                    return (id, try library.sharedLock(id))
                } catch let error as StorageError where error.code == .busy {
                    continue
                }
            }
            throw error
        }
    }

    /// Creates the catalog entry of the asset and locks it.
    func createAsset() throws -> (id: String, lock: PackageLock) {
        var attempt = 1
        while true {
            let title = configuration.title ?? source.defaultAssetTitle
            let id = try library.addAsset(
                source: source,
                title: title,
                selection: configuration.selection.description,
                replacesSelection: false
            )
            do {
                let lock = try library.sharedLock(id)
                if configuration.recording != nil { try library.enterRecording(of: source, in: id, configuration) }
                return (id, lock)
            } catch let error as StorageError where error.code == .notFound && attempt < Self.maximumCreationAttempts {
                // Another task deleted the asset before it was locked, so it is created again.
                attempt += 1
            }
        }
    }

    /// Reports changes of the progress at a regular interval, whether or not files are finished, until the task is
    /// canceled.
    func reportProgress(
        _ meter: ProgressMeter,
        of id: String,
        _ report: @escaping @Sendable (Event) -> Void
    ) async {
        var reported = meter.progress
        while (try? await time.sleep(for: Self.progressInterval)) != nil {
            let progress = meter.progress
            guard progress != reported else { continue }
            reported = progress
            report(.progress(id: id, progress))
        }
    }
}

extension AssetLibrary {
    /// Enters the selection and the title of a recording in the catalog; the caller must hold the lock of the asset.
    ///
    /// A recording that continues an earlier one plans nothing, which would enter them.
    ///
    /// - Parameters:
    ///   - source: The URL of the stream.
    ///   - id: The identifier of the asset.
    ///   - configuration: The options of the recording.
    /// - Throws: ``DownloadError/Code/otherSelection`` if another process has recorded another selection of the stream meanwhile;
    ///   `StorageError`.
    func enterRecording(of source: ResourceAddress, in id: String, _ configuration: DownloadConfiguration) throws {
        try RecordedAsset.verify(configuration.selection, of: source, in: self)
        try setSelection(configuration.selection.description, title: configuration.title, of: id)
    }

    /// Enters the playlists of a source, and the files that they need, in the catalog.
    ///
    /// The title that a media file contains replaces the one that is derived from the URL. The artwork that it contains becomes that of
    /// the asset, unless the download has artwork, or the asset. An asset that was planned before keeps its artwork, also if it has
    /// none: the user may have removed it.
    func plan(
        _ resolution: DownloadResolver.Resolution,
        of id: String,
        _ configuration: DownloadConfiguration
    ) throws {
        var title = configuration.title
        let stored = try self.asset(id)
        if let found = resolution.title {
            if (title ?? stored.title) == stored.source.defaultAssetTitle { title = found }
        }
        try planDownload(
            of: id,
            source: resolution.playlist,
            at: resolution.address,
            renditions: resolution.renditions,
            selection: configuration.selection.description,
            title: title,
            replacing: configuration.replacesStoredSegments ? .all : .newVersions
        )
        if let artwork = resolution.artwork, configuration.artwork == nil, stored.renditions.isEmpty {
            try addArtwork(artwork, of: id)
        }
    }
}
