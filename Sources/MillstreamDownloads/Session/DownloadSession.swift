public import AssetStorage
import Foundation
public import MediaTiming
public import MediaTransport
public import ResourceAddressing

/// A session that downloads assets to a library (`AVAssetDownloadURLSession`).
///
/// The tasks of a session are stored in the library with the identifier of the session. A session that is created with
/// the same identifier, in the same process or in a later one, has all tasks that have not ended, with their assets,
/// descriptions and progress; a session with another identifier has none of them. Several processes can have a session
/// with the same identifier: each task is run by one of them, and requests such as ``DownloadTask/suspend()`` reach it
/// within a second.
///
/// A session applies the storage policy of its library (`AssetLibrary.applyStoragePolicy(need:now:)`) when it is created and at the
/// interval of its configuration, and a task makes space available within the limits of the library; `AssetLibrary.evictions` has what they delete.
///
/// A session of a library that is open for reading only has the tasks that it finds when it is created, and follows none of them.
///
/// A session with tasks that have not ended exists until ``invalidate()``, even if there is no reference to it.
public final class DownloadSession: Sendable {
    /// The options of a session.
    public struct Configuration: Sendable {
        /// The maximum number of tasks that run at the same time; at least 1.
        public var maximumConcurrentTasks = 3
        /// A Boolean value that indicates whether the session continues interrupted tasks by itself.
        ///
        /// These are the tasks that were running, or waiting to run, when the process that took care of them ended.
        /// Otherwise they are continued by ``DownloadTask/resume()``.
        public var resumesAutomatically = true
        /// A function that returns whether a codec (RFC 6381) can be decoded on this machine.
        ///
        /// The variants that can be decoded are preferred, as described by ``DownloadSelection/Variants``. By default,
        /// all codecs count as decodable; an application with a player sets the `canDecode` of the environment of the player.
        ///
        /// All sessions with the same identifier should have the same function, so that a task has the same variants in each of
        /// them.
        public var canDecode: @Sendable (_ codec: String) -> Bool = { _ in true }
        /// The maximum rate at which all tasks of the session together receive the bytes of files; `nil` for no limit.
        ///
        /// The rate of one task is limited by ``DownloadConfiguration/maximumRate``. Below 500 kbit/s for each concurrent fetch
        /// (``DownloadConfiguration/maximumConcurrentFetches``), each task runs fewer fetches concurrently, at least one.
        public var maximumRate: BitRate?
        /// The interval at which the session applies the storage policy of its library, for the first time when it is created; one
        /// minute by default.
        ///
        /// With `nil`, only downloads that need space apply it. An application of more than a twentieth of the interval is followed
        /// by a longer one.
        public var storagePolicyInterval: Duration? = .seconds(60)
        /// A Boolean value that indicates whether the storage policy was applied just before the session is created, so that the
        /// session applies it for the first time after the interval.
        package var hasAppliedStoragePolicy = false
        /// A Boolean value that indicates whether a download of a URL that has been signed anew continues the asset of the former
        /// URL; true by default.
        ///
        /// The library must have exactly one such asset (`AssetLibrary.asset(differingInSignatureFrom:)`), with the same variants and
        /// segments. Its source is replaced by the new URL, and stored segments are not downloaded again. Otherwise, and with
        /// false, the stream becomes another asset. Recordings are always other assets.
        public var continuesAssetsWithOtherSignature = true
        /// The status of the network, by which ``DownloadConfiguration/acceptedNetworks`` is decided; that of the system by
        /// default.
        public var network = NetworkStatus.system

        /// Creates options with the default values.
        public init() {}
    }

    /// The identifier of the session of `millstream serve`.
    public static let serverIdentifier = "server"

    /// The identifier of the session.
    public let identifier: String
    /// The library in which the assets are stored.
    public let library: AssetLibrary
    private let loader: ResourceLoader
    private let configuration: Configuration
    private let runner: SessionRunner
    private let watcher: Task<Void, Never>

    /// Creates a session and restores its tasks.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the session.
    ///   - library: The library to store the assets in.
    ///   - loader: The loader for restored tasks and for tasks that are created from a URL.
    ///   - configuration: The options of the session.
    ///   - time: The clock for progress reports and delays.
    /// - Throws: `StorageError` if the catalog cannot be read.
    public init(
        identifier: String,
        library: AssetLibrary,
        loader: ResourceLoader,
        configuration: Configuration = Configuration(),
        time: any TimeSource = SystemTimeSource()
    ) throws {
        self.identifier = identifier
        self.library = library
        self.loader = loader
        self.configuration = configuration
        let runner = SessionRunner(
            identifier: identifier,
            library: library,
            loader: loader,
            configuration: configuration,
            time: time
        )
        self.runner = runner
        runner.reconcile(try library.downloads(of: identifier))
        let weak = Weak(runner)
        watcher = Task(executorPreference: time.taskExecutor) { await SessionRunner.watch(weak, time) }
    }

    // MARK: Tasks

    /// The tasks that have not ended, in the order of their creation.
    public var tasks: [DownloadTask] { runner.tasks }

    /// Returns a Boolean value that indicates whether this session manages the task with an identifier, and no other process.
    package func manages(_ id: DownloadTask.ID) -> Bool { runner.isOwned(id) }

    /// The events of all tasks, from this call on, until the session is invalidated.
    public var events: AsyncStream<(task: DownloadTask, event: DownloadTask.Event)> { runner.observers.stream() }

    /// Creates a task for the asset at a URL; it does not run until it is resumed.
    ///
    /// The playlists are loaded, but no media. If the session has an unfinished task with the same source and the same
    /// selections, that task is returned, with the given options unless it is running. A source that differs only in its signature
    /// from that of an asset continues the asset (``Configuration/continuesAssetsWithOtherSignature``).
    ///
    /// - Parameters:
    ///   - source: The URL of a playlist.
    ///   - configuration: The options of the task.
    /// - Returns: The task.
    /// - Throws: ``DownloadError`` if the asset cannot be downloaded, for example a live stream, if
    ///   ``DownloadConfiguration/artwork`` is too large or no image that can be stored, or if the task would continue a recording
    ///   with another selection (``DownloadError/Code/otherSelection``).
    public func makeTask(
        _ source: ResourceAddress,
        configuration: DownloadConfiguration = DownloadConfiguration()
    ) async throws -> DownloadTask {
        try await makeTask(source, loader: loader, configuration: configuration)
    }

    /// Creates a task for an asset that can be played at the same time; it does not run until it is resumed.
    ///
    /// - Parameters:
    ///   - asset: The asset to download; its loader provides the header fields, cookies, and connections. A task that is
    ///     restored by another process uses the loader of its session instead.
    ///   - configuration: The options of the task.
    /// - Returns: The task.
    /// - Throws: ``DownloadError`` if the asset cannot be downloaded, for example a live stream.
    public func makeTask(
        _ asset: some LoadableAsset,
        configuration: DownloadConfiguration = DownloadConfiguration()
    ) async throws -> DownloadTask {
        try await makeTask(asset.address, loader: asset.loader, configuration: configuration)
    }

    /// Changes the options of a task that no process runs.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - configuration: The options, with the same selection.
    /// - Throws: ``DownloadError`` if the catalog cannot be written.
    package func change(_ task: DownloadTask, to configuration: DownloadConfiguration) async throws {
        guard runner.adopt(task.id) else { return }
        try await converting {
            try await BlockingOperation.run { try self.runner.setConfiguration(configuration, of: task) }
        }
    }

    /// Makes the downloads and recordings of an asset that other sessions have left tasks of this session.
    ///
    /// They are those that were interrupted, paused or that failed, and that no process manages; a process that only lists
    /// a paused task does not manage it. They have their identifiers, options and progress, and the loader of this
    /// session; they do not run until they are resumed. Sessions with the former identifier do not have them any more:
    /// their tasks end with ``DownloadError/Code/storage``.
    ///
    /// - Parameters:
    ///   - assetID: The identifier of the asset.
    ///   - id: The identifier of the download; `nil` for all downloads of the asset.
    ///   - includesFiles: A Boolean value that indicates whether downloads that load files are taken over too; false for
    ///     a session that is to continue them, and only loads resources over HTTP.
    /// - Throws: `StorageError` if the catalog cannot be read or written.
    package func takeOverDownloads(
        of assetID: String,
        id: DownloadTask.ID? = nil,
        includingFiles includesFiles: Bool = true
    ) throws {
        try DownloadTakeover(runner: runner).takeOver(downloadsOf: assetID, id: id, includesFiles: includesFiles)
    }

    /// Hands a task of this session that no process runs to another process that has, or will have, a session with the same
    /// identifier, and that resumes its tasks automatically.
    ///
    /// - Parameter task: The task.
    /// - Returns: A Boolean value that indicates whether the task waits for such a process; otherwise another process manages
    ///   it, or it has ended.
    package func handOver(_ task: DownloadTask) -> Bool {
        guard runner.adopt(task.id) else { return false }
        runner.handOver(task.id)
        return true
    }

    private func makeTask(
        _ source: ResourceAddress,
        loader: ResourceLoader,
        configuration: DownloadConfiguration
    ) async throws -> DownloadTask {
        // An image that cannot be stored ends the request before anything is loaded.
        let artwork = try await converting { try configuration.artwork.map { try AssetArtwork($0) } }
        let existing = tasks.first { task in
            // A task that is being canceled cannot be continued.
            !task.state.isFinal && task.address == source
                && task.configuration.selections == configuration.selections
                && task.configuration.recording == configuration.recording
                && runner.adopt(task.id)
        }
        if let existing {
            try await converting {
                try await BlockingOperation.run {
                    try self.runner.setConfiguration(configuration, of: existing)
                    // The task can have an image that the asset has no longer. A task that runs keeps its own image.
                    if let artwork, existing.artwork == artwork.data,
                        try self.library.artwork(of: existing.assetID) != artwork
                    {
                        try self.library.setArtwork(artwork, of: existing.assetID)
                    }
                }
            }
            return existing
        }
        if configuration.recording != nil {
            try await converting {
                try RecordedAsset.verify(configuration.selection, of: source, in: self.library)
            }
            endInterruptedRecordings(of: source)
        }
        // A recording loads the current playlists when it begins.
        let isRecording = configuration.recording != nil
        let resolution: DownloadResolver.Resolution? =
            isRecording
            ? nil
            : try await converting {
                try await DownloadResolver(
                    loader: loader.limited(
                        to: self.configuration.network,
                        accepting: configuration.acceptedNetworks
                    ),
                    selection: configuration.selection,
                    playlistSize: configuration.limits.playlistSize,
                    canDecode: self.configuration.canDecode
                ).resolve(source)
            }
        return try await converting {
            try await BlockingOperation.run {
                try self.addTask(
                    source,
                    loader: loader,
                    configuration: configuration,
                    artwork: artwork,
                    resolution: resolution
                )
            }
        }
    }

    /// Ends the tasks of recordings that a process with a session of this identifier left when it ended, because a new
    /// task continues them with its own options.
    private func endInterruptedRecordings(of source: ResourceAddress) {
        for task in tasks
        where !task.state.isFinal && task.address == source && task.configuration.recording != nil && !task.isAttended {
            if runner.adopt(task.id) { task.cancel() }
        }
    }

    private func addTask(
        _ source: ResourceAddress,
        loader: ResourceLoader,
        configuration: DownloadConfiguration,
        artwork: AssetArtwork?,
        resolution: DownloadResolver.Resolution?
    ) throws -> DownloadTask {
        var configuration = configuration
        if let resolution, self.configuration.continuesAssetsWithOtherSignature {
            try continueAsset(differingInSignatureFrom: source, resolution, &configuration)
        }
        let assetID = try library.addAsset(
            source: source,
            title: configuration.title ?? source.defaultAssetTitle,
            selection: configuration.selection.description,
            replacesSelection: false
        )
        if configuration.recording != nil { try library.checkRecording(of: assetID) }
        try checkUse(of: assetID)
        if configuration.recording != nil { try enterRecording(of: source, in: assetID, configuration) }
        // The files are known from now on, so that a player that begins before the download shares them. A run of another
        // task of the asset needs the files that it planned itself; this task is then planned when it runs.
        var isPlanned = resolution != nil && !runner.isRunning(assetID)
        let lock = try isPlanned ? library.sharedLock(assetID) : nil
        // Another process that begins at the same moment finds the lock, or the task in the catalog.
        defer { withExtendedLifetime(lock) {} }
        if lock != nil { try checkUse(of: assetID) }
        var formerPlan: FormerPlan?
        if let resolution, isPlanned {
            // What can be played is not planned again before the keys are known to be available, and to match.
            isPlanned =
                try library.unstoredKeys(of: resolution.renditions, assetID).isEmpty
                && library.inlineKeyMismatch(of: resolution.renditions, assetID) == nil
            if isPlanned {
                formerPlan = try library.formerPlan(of: assetID)
                try library.plan(resolution, of: assetID, configuration)
            }
        }
        if let artwork { try library.setArtwork(artwork, of: assetID) }
        let id = AssetLibrary.newDownloadIdentifier()
        guard let claim = library.claimDownload(id) else {
            throw StorageError(.disk, "the library \(library.directory.path) cannot be written")
        }
        let record = DownloadRecord(
            id: id,
            session: identifier,
            assetID: assetID,
            source: source,
            details: configuration.details,
            options: try configuration.stored,
            artwork: configuration.artwork,
            state: .suspended,
            priority: configuration.priority,
            creationTime: Date().timeIntervalSince1970
        )
        let task = DownloadTask(
            record,
            asset: try library.asset(assetID),
            configuration: configuration,
            loader: loader,
            session: runner,
            state: .suspended,
            resolution: isPlanned ? resolution : nil,
            formerPlan: formerPlan
        )
        try runner.add(task, record, claim)
        // The recordings of other sessions stay in the catalog unless there is a task that continues them.
        if configuration.recording != nil { DownloadTakeover(runner: runner).removeRecordings(of: source) }
        return task
    }

    /// Enters the selection and the title of a recording in the catalog, unless another run holds the lock of the asset.
    ///
    /// The run of the task enters them as well, as soon as it has the lock.
    private func enterRecording(
        of source: ResourceAddress,
        in assetID: String,
        _ configuration: DownloadConfiguration
    ) throws {
        guard !runner.isRunning(assetID) else { return }
        let lock: PackageLock
        do {
            lock = try library.sharedLock(assetID)
        } catch let error as StorageError where error.code == .busy {
            return
        }
        defer { withExtendedLifetime(lock) {} }
        // Another process that began at the same moment is in the catalog by now.
        try checkUse(of: assetID)
        try library.enterRecording(of: source, in: assetID, configuration)
    }

    /// Verifies that no other process or session has a download of an asset, apart from those that have failed: what is missing
    /// of them may be available to another download, for example because it has the key.
    private func checkUse(of assetID: String) throws {
        let other = try library.downloads().first { record in
            record.assetID == assetID && record.state != .failed && !runner.isOwned(record.id)
                && library.isDownloadClaimed(record.id)
        }
        if let other { throw Self.busy(with: other) }
    }

    /// The error of a download whose asset another download uses.
    private static func busy(with other: DownloadRecord?) -> StorageError {
        let message = "the asset is being downloaded by another process or session"
        guard let other else { return StorageError(.busy, message) }
        let session = other.session == serverIdentifier ? "millstream serve" : "the session \(other.session)"
        return StorageError(
            .busy,
            "\(message): it is the download \(other.id) of \(session)",
            hint: "see it with: millstream downloads list; end it, and keep what is stored, with: millstream "
                + "downloads cancel \(other.id)"
        )
    }

    /// Gives the asset whose source has another signature the new URL if the playlists are the same, so that the download continues
    /// it.
    ///
    /// A task of this session that downloads the same selections from the former URL ends; the new task takes its place.
    private func continueAsset(
        differingInSignatureFrom source: ResourceAddress,
        _ resolution: DownloadResolver.Resolution,
        _ configuration: inout DownloadConfiguration
    ) throws {
        guard let asset = try library.asset(differingInSignatureFrom: source),
            try library.hasPlaylists(resolution.playlist, resolution.renditions, of: asset.id)
        else { return }
        guard !runner.isRunning(asset.id) else { throw Self.busy(with: nil) }
        let selections = configuration.selections
        let replaced = tasks.filter { task in
            task.assetID == asset.id && !task.state.isFinal && task.configuration.selections == selections
                && task.configuration.recording == nil && runner.adopt(task.id)
        }
        let replacedIDs = Set(replaced.map(\.id))
        let other = try library.downloads().first { record in
            record.assetID == asset.id && !replacedIDs.contains(record.id) && library.isDownloadClaimed(record.id)
        }
        if let other { throw Self.busy(with: other) }
        for task in replaced {
            if configuration.details.isEmpty { configuration.details = task.details }
            configuration.artwork = configuration.artwork ?? task.artwork
            task.cancel()
        }
        try library.replaceSource(of: asset.id, with: source)
    }

    /// Adds a task for another process that has, or will have, a session with the same identifier, and that resumes its
    /// tasks automatically.
    ///
    /// - Parameters:
    ///   - source: The URL of a playlist.
    ///   - configuration: The options of the task.
    /// - Returns: The identifier of the task.
    /// - Throws: ``DownloadError`` if the asset cannot be downloaded, for example a live stream.
    public func enqueue(
        _ source: ResourceAddress,
        configuration: DownloadConfiguration = DownloadConfiguration()
    ) async throws -> DownloadTask.ID {
        let task = try await makeTask(source, configuration: configuration)
        runner.handOver(task.id)
        return task.id
    }

    /// Stops all tasks that this session runs, and waits until they have stopped.
    ///
    /// The tasks stay in the library: another session with the same identifier continues those that were running.
    public func invalidate() async {
        watcher.cancel()
        await runner.invalidate()
    }

    /// Converts errors of the library and the transport to ``DownloadError``.
    private func converting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw DownloadError(any: error)
        }
    }
}
