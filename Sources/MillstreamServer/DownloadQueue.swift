import AssetStorage
import Foundation
import HTTPTypes
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import ServiceLifecycle
import Synchronization

/// A service that runs the download session of the server and broadcasts the progress of its tasks.
final class DownloadQueue: Service {
    private let session: DownloadSession
    private let library: AssetLibrary
    private let broadcast: EventBroadcast
    private let logger: Logger
    private let time = SystemTimeSource()
    private let evictions: EvictionObservation
    private let descriptions = Mutex<[String: Description]>([:])

    /// An asset as it was last read from the catalog.
    private struct Description {
        let asset: StoredAsset
        /// The time until which it serves for reports of progress.
        let expiry: Duration
    }

    /// The ratio of the time for which a description serves to the time in which it was read: to read an asset that is being
    /// downloaded takes as long as it has files.
    private static let reuseRatio = 20

    /// Creates a service; downloads that were running when the previous server ended are continued.
    ///
    /// - Parameters:
    ///   - library: The library to store the assets in.
    ///   - loader: The loader of the downloads.
    ///   - configuration: The options of the session.
    ///   - broadcast: The events for the console.
    ///   - logger: The logger of failures.
    /// - Throws: `StorageError` if the catalog of the library cannot be read.
    init(
        library: AssetLibrary,
        loader: ResourceLoader,
        configuration: DownloadSession.Configuration = DownloadSession.Configuration(),
        broadcast: EventBroadcast,
        logger: Logger
    ) throws {
        // The session deletes expired assets as soon as it exists.
        evictions = library.observeEvictions { Self.report($0, broadcast, logger) }
        session = try DownloadSession(
            identifier: DownloadSession.serverIdentifier,
            library: library,
            loader: loader,
            configuration: configuration
        )
        self.library = library
        self.broadcast = broadcast
        self.logger = logger
    }

    /// The number of running downloads.
    var count: Int { session.tasks.count { $0.state == .running } }

    /// Starts a download, or continues it.
    ///
    /// - Returns: The identifier of the asset, once its playlists have been loaded.
    /// - Throws: The error that prevented the start.
    func start(_ source: ResourceAddress, title: String?, selection: DownloadSelection) async throws -> String {
        try library.requireWritable("nothing is downloaded")
        let task = try await session.makeTask(
            source,
            configuration: DownloadConfiguration(selection: selection, title: title)
        )
        task.resume()
        return task.assetID
    }

    /// Ends the downloads of an asset; the files that are already stored are preserved.
    ///
    /// These are the downloads of this server, or else those that another process left.
    ///
    /// - Returns: A Boolean value that indicates whether there was such a download.
    /// - Throws: ``ServerError`` if the library cannot be changed.
    @discardableResult
    func cancel(_ id: String) throws -> Bool {
        try library.requireWritable("no download is ended")
        if tasks(of: id).isEmpty { try session.takeOverDownloads(of: id) }
        let ended = tasks(of: id)
        for task in ended { task.cancel() }
        return !ended.isEmpty
    }

    /// Ends the downloads of an asset for a client, as ``cancel(_:)`` does.
    ///
    /// - Throws: ``ServerError``, also if another process manages the download, which only that process ends.
    func end(_ id: String) throws {
        guard try !cancel(id), let other = others(of: id)[id], other.isAttended else { return }
        throw ServerError(
            .conflict,
            "busy",
            "another process manages the download \(other.id)",
            hint: "end it there, or with: \(terminalCommand("cancel", other.id))"
        )
    }

    /// Stops the downloads of an asset until they are resumed.
    ///
    /// - Throws: ``ServerError`` if the asset has no download that can be paused, or the library cannot be changed.
    func suspend(_ id: String) throws {
        try library.requireWritable("no download is paused")
        let tasks = tasks(of: id)
        guard !tasks.isEmpty else {
            throw ServerError(.notFound, "not-found", "the asset \(id) has no download that can be paused")
        }
        for task in tasks { task.suspend() }
    }

    /// Continues the downloads and recordings of an asset, also those that another process left, which belong to this server
    /// from now on.
    ///
    /// A download that another process manages is continued by that process.
    ///
    /// - Throws: ``ServerError`` if the asset has no download that can be continued, its download loads a file, or the
    ///   library cannot be changed.
    func resume(_ id: String) throws {
        try library.requireWritable("no download is resumed")
        if let other = Snapshot(self.tasks(of: id), others: others(of: id)).other(of: id) {
            guard !other.isAttended else {
                // The process that manages the download finds the request in the catalog.
                if !other.isActive { try library.changeDownload(other.id, .state(.waiting, nil)) }
                return
            }
            try session.takeOverDownloads(of: id, includingFiles: false)
            guard !other.hasFileSource || !self.tasks(of: id).isEmpty else {
                throw ServerError(
                    .conflict,
                    "file-source",
                    "a source of the asset \(id) is a file, which the server does not load",
                    hint: "continue the download in a terminal: \(terminalCommand("resume", other.id))"
                )
            }
        }
        let tasks = tasks(of: id)
        guard !tasks.isEmpty else {
            throw ServerError(
                .notFound,
                "not-found",
                "the asset \(id) has no download that can be resumed",
                hint: "start the download again"
            )
        }
        if let file = tasks.first(where: { $0.hasFileSource }), tasks.allSatisfy(\.hasFileSource) {
            throw ServerError(
                .conflict,
                "file-source",
                "a source of the asset \(id) is a file, which the server does not load",
                hint: "download it in a terminal, after you have ended the download here, or with: "
                    + terminalCommand("cancel", file.id)
            )
        }
        for task in tasks where !task.hasFileSource { task.resume() }
    }

    /// Stops a download and deletes its asset.
    func delete(_ id: String) async throws {
        try library.requireWritable("nothing is deleted")
        try await BlockingOperation.run { [self] in _ = try cancel(id) }
        // Wait up to 2 seconds for the download to end, so that it does not write files after the deletion.
        for _ in 0..<100 where !tasks(of: id).isEmpty {
            try await SystemTimeSource().sleep(for: .milliseconds(20))
        }
        try await BlockingOperation.run { [library] in try library.delete(id) }
        broadcast.send(ServerEvent(name: "removed", data: .fields(["id": .string(id)])))
    }

    /// Reports an asset that was deleted because of the limits of the library or its expiration date.
    private static func report(_ entry: EvictionPlan.Entry, _ broadcast: EventBroadcast, _ logger: Logger) {
        logger.notice(
            "asset deleted to make space available",
            metadata: [
                "asset": "\(entry.id)", "reason": "\(entry.reason.rawValue)", "freed": "\(entry.freedBytes.bytes)",
            ]
        )
        broadcast.send(ServerEvent(name: "evicted", data: entry.report))
        broadcast.send(ServerEvent(name: "removed", data: .fields(["id": .string(entry.id)])))
    }

    private func tasks(of id: String) -> [DownloadTask] { session.tasks.filter { $0.assetID == id } }

    /// The downloads at one moment.
    ///
    /// It is taken before an asset is read: a download that ends between the two is then reported as running, with a later
    /// event for its end, and not as one that ended with parts missing.
    struct Snapshot {
        fileprivate let downloads: [String: (task: DownloadTask, state: DownloadTask.State)]
        /// The downloads of other processes and sessions, by the identifiers of their assets.
        fileprivate let others: [String: ListedDownload]

        fileprivate init(_ tasks: [DownloadTask], others: [String: ListedDownload]) {
            downloads = Dictionary(
                tasks.map { ($0.assetID, (task: $0, state: $0.state)) },
                uniquingKeysWith: { $0.state == .running || $1.state != .running ? $0 : $1 }
            )
            self.others = others
        }

        /// Returns the download of an asset that another process manages, or that belongs to another session; `nil` if this server
        /// has a download of the asset that tells more.
        func other(of id: String) -> ListedDownload? {
            guard let other = others[id] else { return nil }
            switch downloads[id]?.state {
            case .running: return nil
            // The session of this server has the tasks of other servers too, of which it does not know whether they run.
            case .waiting, .suspended, .failed: return other.isAttended ? other : nil
            case .completed, .canceled, nil: return other
            }
        }
    }

    /// Returns the downloads at this moment, also those of other processes, which are read from the catalog.
    func snapshot() -> Snapshot { Snapshot(session.tasks, others: others(of: nil)) }

    /// Returns the downloads of other processes and sessions; what the catalog does not tell now is told later.
    private func others(of id: String?) -> [String: ListedDownload] {
        (try? session.downloadsOfOthers(of: id)) ?? [:]
    }

    /// Returns the report of an asset, with the progress or the error of its download.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - snapshot: The downloads, as they were before the asset was read.
    /// - Returns: The report.
    func report(_ asset: StoredAsset, _ snapshot: Snapshot) -> ReportValue {
        let download = snapshot.downloads[asset.id]
        let isRunning = download?.state == .running
        // A running download knows its progress; that of any other asset is read as for millstream library list.
        let readsProgress = !isRunning && asset.state != .complete
        let report = readsProgress ? UnfinishedAssets(in: library, of: asset.id).report(of: asset) : asset.report
        guard case .object(var fields) = report else { return report }
        if let download, isRunning {
            let progress = download.task.progress.fields
            let names = Set(progress.map(\.name))
            fields = fields.filter { !names.contains($0.name) } + progress
        }
        let other = snapshot.other(of: asset.id)
        let isOwnRecording = download?.task.configuration.recording != nil
        let activity =
            other.map { Self.activity(of: $0) } ?? Self.activity(of: download?.state, isRecording: isOwnRecording)
        fields.append(ReportValue.Field(name: "activity", value: .string(activity)))
        // A recording that has just ended is an asset as any other.
        if other?.isRecording ?? (isOwnRecording && activity != Self.idle) {
            fields.append(ReportValue.Field(name: "recording", value: .bool(true)))
        }
        if let other { fields.append(ReportValue.Field(name: "task", value: taskReport(of: other))) }
        if let range = DownloadSelection(asset.selection)?.timeRange {
            let bounds: KeyValuePairs<String, ReportValue?> = [
                "start": range.low.map { .seconds($0) }, "end": range.high.map { .seconds($0) },
            ]
            fields.append(ReportValue.Field(name: "range", value: .fields(bounds)))
        }
        if let error = other.map({ $0.error }) ?? download?.task.error {
            fields.append(ReportValue.Field(name: "error", value: ServerError(error).report))
        }
        return .object(fields)
    }

    /// The activity of an asset without a download.
    private static let idle = "idle"

    /// Returns the activity of a download of another process or session; one that was interrupted has none.
    private static func activity(of other: ListedDownload) -> String {
        switch other.state {
        case .running: other.isRecording ? "recording" : "downloading"
        case .waiting: "waiting"
        case .paused: "paused"
        case .failed: "failed"
        case .interrupted, .complete, .canceled: idle
        }
    }

    /// Returns the report of a download of another process or session, with the command that continues it.
    private func taskReport(of other: ListedDownload) -> ReportValue {
        let command: String? =
            switch other.state {
            case .running, .waiting, .complete, .canceled: nil
            case .interrupted, .paused, .failed: terminalCommand("resume", other.id)
            }
        return .fields([
            "id": .string(other.id),
            "kind": .string(other.isRecording ? "recording" : "download"),
            "state": .string(other.state.rawValue),
            "attended": .bool(other.isAttended),
            "command": command.map { .string($0) },
        ])
    }

    /// Returns the command that changes a download of the library in a terminal.
    ///
    /// - Parameters:
    ///   - verb: The subcommand of `millstream downloads`.
    ///   - download: The identifier of the download.
    /// - Returns: The command, with the folder of the library unless it is the default one.
    private func terminalCommand(_ verb: StaticString, _ download: String) -> String {
        let folder = library.directory.standardizedFileURL.path
        let isDefault = folder == AssetLibrary.defaultDirectory.standardizedFileURL.path
        let option = isDefault ? "" : " --library \(ShellWord(folder).text)"
        return "millstream downloads \(verb) \(download)\(option)"
    }

    private static func activity(of state: DownloadTask.State?, isRecording: Bool) -> String {
        switch state {
        case .running: isRecording ? "recording" : "downloading"
        case .waiting: "waiting"
        case .suspended: "paused"
        case .failed: "failed"
        case .completed, .canceled, nil: idle
        }
    }

    /// Broadcasts the progress of the downloads until the task is canceled or the server shuts down.
    func run() async throws {
        let events = session.events
        await cancelWhenGracefulShutdown {
            for await (task, event) in events { await self.process(event, of: task) }
        }
        await session.invalidate()
    }

    private func process(_ event: DownloadTask.Event, of task: DownloadTask) async {
        // Only the downloads of this asset are in its report.
        let snapshot = Snapshot(tasks(of: task.assetID), others: [:])
        let isRunning = snapshot.downloads[task.assetID]?.state == .running
        switch event {
        case .stateChanged(.failed):
            let code = task.error?.detail ?? "unknown"
            logger.warning("download failed", metadata: ["asset": "\(task.assetID)", "error": "\(code)"])
        case .loaded:
            let description = descriptions.withLock { $0[task.assetID] }
            if isRunning, let description, time.now < description.expiry {
                return broadcast.send(ServerEvent(name: "asset", data: report(description.asset, snapshot)))
            }
        case .stateChanged, .completed: break
        case .keyNotVerified:
            logger.warning("the key of a download could not be verified", metadata: ["asset": "\(task.assetID)"])
            return
        case .mediaSelectionResolved, .variantsChosen, .locationChosen, .waitingForStream, .segmentsLost,
            .metadataOmitted, .selectionCompleted, .finished:
            return
        }
        let id = task.assetID
        guard
            let (description, current) = try? await BlockingOperation.run({ [self] in
                // No other process downloads an asset that this server downloads.
                try describe(id, isRunning ? snapshot : Snapshot(tasks(of: id), others: others(of: id)))
            })
        else {
            return descriptions.withLock { $0[id] = nil }
        }
        descriptions.withLock { $0[id] = isRunning ? description : nil }
        broadcast.send(ServerEvent(name: "asset", data: current))
    }

    /// Returns an asset, with the time for which it serves, and its report.
    private func describe(
        _ id: String,
        _ snapshot: Snapshot
    ) throws -> (description: Description, report: ReportValue) {
        let begun = time.now
        let asset = try library.asset(id)
        let end = time.now
        let description = Description(asset: asset, expiry: end + (end - begun) * Self.reuseRatio)
        return (description, report(asset, snapshot))
    }
}

extension DownloadTask {
    /// A Boolean value that indicates whether the task loads a file, which the server does not.
    fileprivate var hasFileSource: Bool { configuration.fileSource(besides: address) != nil }
}

extension AssetLibrary {
    /// Verifies that the library can be changed.
    ///
    /// - Parameter outcome: The end of the message: what does not happen otherwise.
    /// - Throws: ``ServerError``.
    func requireWritable(_ outcome: String) throws {
        guard !isWritable else { return }
        throw ServerError(
            .conflict,
            "library-read-only",
            "the library \(directory.path) cannot be changed, so \(outcome)",
            hint: "start millstream serve with a library in a folder that it can write: --library DIR"
        )
    }
}
