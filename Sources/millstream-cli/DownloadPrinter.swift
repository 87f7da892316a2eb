import AssetStorage
import Foundation
import MediaTransport
import MillstreamDownloads
import ReportFormat

#if Playback
import MediaDecoding
#endif

/// Runs a task of a download session, and prints its events and its result as a progress bar, lines of text, or JSON.
struct DownloadPrinter: Sendable {
    let display: ProgressDisplay
    private let printsJSON: Bool
    private let isQuiet: Bool
    private let isRecording: Bool
    /// The limit of variants that the user requested; `nil` for none.
    private let limit: VariantLimit?

    /// Creates the printer of a download.
    ///
    /// - Parameters:
    ///   - configuration: The options of the download.
    ///   - printsJSON: A Boolean value that indicates whether each event is printed as a line of JSON.
    ///   - isQuiet: A Boolean value that indicates whether progress and results are hidden.
    init(_ configuration: DownloadConfiguration, printsJSON: Bool, isQuiet: Bool) {
        self.printsJSON = printsJSON
        self.isQuiet = isQuiet
        isRecording = configuration.recording != nil
        limit = VariantLimit(configuration.selection.variants)
        display = ProgressDisplay(isQuiet: isQuiet || printsJSON, isRecording: isRecording)
    }

    /// Resumes a task and follows it until it has ended.
    ///
    /// - Returns: The complete asset.
    /// - Throws: ``DownloadError``.
    func run(_ task: DownloadTask, in session: DownloadSession) async throws -> StoredAsset {
        let events = task.events
        task.resume()
        if let asset = try await show(events, of: task, in: session) { return asset }
        // The sequence of events ends early only if the calling task is canceled.
        try Task.checkCancellation()
        return try await task.value()
    }

    /// Follows a task that another process manages, until it has ended; a task that is paused or has failed is resumed.
    ///
    /// - Returns: The complete asset; `nil` if the other process ended before the task did.
    /// - Throws: ``DownloadError``; `CancellationError` when canceled, which does not end the task.
    func follow(_ task: DownloadTask, in session: DownloadSession) async throws -> StoredAsset? {
        let events = task.events
        switch task.state {
        case .suspended, .failed: task.resume()
        case .waiting, .running, .completed, .canceled: break
        }
        show("resolved", task, task.progress)
        return try await withThrowingTaskGroup(of: StoredAsset?.self) { group in
            group.addTask { try await show(events, of: task, in: session) }
            group.addTask {
                // The events tell how a task ended.
                while task.isAttended || task.hasEnded { try await Task.sleep(for: Self.followInterval) }
                return nil
            }
            defer { group.cancelAll() }
            let first = try await group.next() ?? nil
            try Task.checkCancellation()
            return first
        }
    }

    /// The interval at which is checked whether the other process still exists.
    private static let followInterval = Duration.milliseconds(500)

    /// Prints the events of a task.
    ///
    /// - Returns: The complete asset; `nil` if the events end because the calling task is canceled.
    private func show(
        _ events: AsyncStream<DownloadTask.Event>,
        of task: DownloadTask,
        in session: DownloadSession
    ) async throws -> StoredAsset? {
        var isPaused = false
        for await event in events {
            switch event {
            case .variantsChosen(let variants):
                if !isQuiet { limit?.notice(for: variants).map { StandardError.write("\($0)\n") } }
            case .locationChosen: show("resolved", task, task.progress)
            case .loaded(_, let progress): show("progress", task, progress)
            case .stateChanged(let state):
                if state == .suspended, !isPaused { showPause(of: task) }
                isPaused = state == .suspended
            case .waitingForStream(let error):
                show("waiting", task, fields: [ReportValue.Field(name: "message", value: .string(error.message))])
                if !printsJSON { notice("waiting for the stream: \(error.message)") }
            case .segmentsLost(let count):
                show("lost", task, fields: [ReportValue.Field(name: "segments", value: .integer(count))])
                display.end()
                if !printsJSON {
                    notice(
                        "lost \(count) \(count == 1 ? "segment, which is" : "segments, which are") marked in the playlist"
                    )
                }
            case .metadataOmitted:
                show("metadata-omitted", task, fields: [])
                display.end()
                if !printsJSON {
                    notice("not all metadata is recorded: it exceeds 32 MiB, or 16 KiB in a date range or segment")
                }
            case .keyNotVerified:
                show("key-not-verified", task, fields: [])
                display.end()
                if !printsJSON {
                    notice(
                        "note: the key is not verified, because only a decoder can tell; play the asset to see whether it is right"
                    )
                }
            case .completed(_, let error):
                if let error { throw error }
                let asset = try session.library.asset(task.assetID)
                let progress = asset.state == .complete ? DownloadProgress(asset) : task.progress
                showCompletion(of: task, progress, try session.library.omittedContent(of: asset.id))
                return asset
            case .mediaSelectionResolved, .selectionCompleted, .finished: break
            }
        }
        return nil
    }

    /// Prints that a task is paused, and that the command has not ended.
    private func showPause(of task: DownloadTask) {
        display.end()
        notice("paused; waiting until another command continues it: millstream downloads resume \(task.id)")
        notice(isRecording ? "Ctrl-C ends the recording" : "Ctrl-C ends this command; the download stays paused")
    }

    /// Resumes the task of a recording and follows it until it has ended; an interruption ends the recording.
    ///
    /// A recording that is not complete after an interruption, or has failed, stays in the list of downloads, unless the command has
    /// created it and the stream was never loaded.
    ///
    /// - Parameters:
    ///   - task: The task of the recording.
    ///   - session: The session of the task.
    ///   - isNew: A Boolean value that indicates whether the command has created the task.
    /// - Returns: The recorded asset.
    /// - Throws: ``DownloadError``; `CancellationError` if the recording is not complete after an interruption.
    func record(_ task: DownloadTask, in session: DownloadSession, isNew: Bool) async throws -> StoredAsset {
        do {
            return try await run(task, in: session)
        } catch {
            if Task.isCancelled { task.suspend() }
            await session.invalidate()
            let library = session.library
            guard let asset = try? library.asset(task.assetID) else { throw error }
            guard Task.isCancelled, asset.state == .complete else {
                // A stream that never began, or could not be loaded, leaves nothing behind.
                if isNew, asset.renditions.isEmpty { Self.removeTask(task, andItsUnusedAssetFrom: library) }
                throw error
            }
            try? library.removeDownload(task.id)
            showCompletion(of: task, DownloadProgress(asset), try library.omittedContent(of: asset.id))
            return asset
        }
    }

    /// Removes a task, and its asset unless another download has it.
    ///
    /// - Parameters:
    ///   - task: The task, which must have ended.
    ///   - library: The library of the task.
    private static func removeTask(_ task: DownloadTask, andItsUnusedAssetFrom library: AssetLibrary) {
        try? library.removeDownload(task.id)
        guard let downloads = try? library.downloads(), !downloads.contains(where: { $0.assetID == task.assetID })
        else { return }
        try? library.delete(task.assetID)
    }

    /// Prints the asset that a download has stored, how it is played, and what is not stored.
    func showResult(_ asset: StoredAsset, in library: AssetLibrary) throws {
        display.end()
        guard !printsJSON, !isQuiet else { return }
        try StandardOutput.writeLine("\(asset.id)  \(asset.title)  \(asset.bytes)")
        let path = library.packageDirectory(asset.id).path
        StandardError.write("stored in \(path)\n")
        if let omitted = try library.omittedContent(of: asset.id).text {
            StandardError.write("not stored: \(omitted)\n")
        }
        if asset.isPlayableOffline { StandardError.write("play it with: millstream play \(path)\n") }
    }

    /// Ends the display of a download that failed, and prints the event of the failure if events are printed.
    ///
    /// - Parameters:
    ///   - error: The error, which the command reports as well.
    ///   - assetID: The identifier of the asset; `nil` if there is none yet.
    func showFailure(_ error: any Error, of assetID: String?) {
        display.end()
        guard printsJSON else { return }
        let failure = Failure(error)
        // A failure of the output must not replace the original error.
        try? StandardOutput.writeLine(
            ReportValue.fields([
                "event": .string("failed"),
                "id": assetID.map { .string($0) },
                "code": .string(failure.code),
                "message": .string(failure.message),
            ])
        )
    }

    /// Returns the error to report: for an interruption, one that says what is stored.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isKept: A Boolean value that indicates whether there is an asset after the error.
    ///   - goesOn: A Boolean value that indicates whether another process downloads the asset.
    /// - Returns: The error to report.
    func explaining(_ error: any Error, isKept: Bool, goesOn: Bool = false) -> any Error {
        guard error is CancellationError else { return error }
        guard !goesOn else {
            return Failure(
                .interrupted,
                "interrupted",
                "interrupted; another process goes on with the download",
                hint: "see its progress with: millstream downloads"
            )
        }
        guard !isRecording || isKept else {
            return Failure(.interrupted, "interrupted", "interrupted before anything was recorded")
        }
        return Failure(
            .interrupted,
            "interrupted",
            isRecording
                ? "interrupted; the recording is kept and can be resumed" : "interrupted; what is stored is kept",
            hint: "run the same command to continue, or: millstream downloads resume"
        )
    }

    private func show(_ name: String, _ task: DownloadTask, fields: [ReportValue.Field]) {
        guard printsJSON else { return }
        let head = [
            ReportValue.Field(name: "event", value: .string(name)),
            ReportValue.Field(name: "id", value: .string(task.assetID)),
        ]
        // A failure of the output cancels the download.
        try? StandardOutput.writeLine(ReportValue.object(head + fields))
    }

    private func showCompletion(of task: DownloadTask, _ progress: DownloadProgress, _ omitted: OmittedContent) {
        guard printsJSON else { return display.show(progress) }
        let field = omitted.report.map { ReportValue.Field(name: "notStored", value: $0) }
        let fields = progress.fields(percent: display.percent(of: progress))
        show("completed", task, fields: fields + [field].compactMap { $0 })
    }

    /// Prints an asset that was deleted because of the limits of the library or its expiration date.
    func showEviction(_ entry: EvictionPlan.Entry) {
        guard !printsJSON else {
            // A failure of the output cancels the download.
            try? StandardOutput.writeLine(
                ReportValue.fields([
                    "event": .string("evicted"), "id": .string(entry.id), "title": .string(entry.title),
                    "freed": .integer(entry.freedBytes.bytes), "reason": .string(entry.reason.rawValue),
                ])
            )
            return
        }
        Self.showEviction(entry, display)
    }

    /// Prints an asset that was deleted by itself to standard error, also for a command whose output is JSON, and for one that
    /// hides its progress.
    ///
    /// - Parameters:
    ///   - entry: The asset.
    ///   - display: The display of the progress, which ends before.
    static func showEviction(_ entry: EvictionPlan.Entry, _ display: ProgressDisplay) {
        display.end()
        let reason: TerminalText = entry.reason == .expired ? "it has expired" : "the library needs space"
        StandardError.write("deleted \(entry.title), because \(reason) (\(entry.freedBytes))\n")
    }

    private func notice(_ text: TerminalText) {
        if !isQuiet { StandardError.write("\(text)\n") }
    }

    private func show(_ name: String, _ task: DownloadTask, _ progress: DownloadProgress) {
        guard printsJSON else { return display.show(progress) }
        show(name, task, fields: progress.fields(percent: display.percent(of: progress)))
    }
}

extension DownloadSession {
    /// Creates the session of a command, which runs only the tasks that the command resumes.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the session.
    ///   - library: The library.
    ///   - loader: The loader of the downloads.
    ///   - appliesStoragePolicy: A Boolean value that indicates whether the session deletes expired assets, and others beyond the
    ///     limits of the library.
    /// - Returns: The session.
    /// - Throws: `StorageError` if the catalog cannot be read.
    static func forCommand(
        _ identifier: String,
        _ library: AssetLibrary,
        loader: ResourceLoader,
        appliesStoragePolicy: Bool = false
    ) throws -> DownloadSession {
        var configuration = Configuration()
        configuration.resumesAutomatically = false
        if appliesStoragePolicy {
            // A short command may end before the session would apply the policy.
            configuration.hasAppliedStoragePolicy = (try? library.applyStoragePolicy()) != nil
        } else {
            configuration.storagePolicyInterval = nil
        }
        #if Playback
        configuration.canDecode = { DecodingPipeline.canDecode($0) }
        #endif
        return try DownloadSession(
            identifier: identifier,
            library: library,
            loader: loader,
            configuration: configuration
        )
    }

    /// Runs `body`; if it is canceled, suspends the tasks that it resumed and waits until they have stopped.
    func stoppingWhenCanceled<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            if Task.isCancelled { for task in tasks where task.state == .running { task.suspend() } }
            await invalidate()
            throw error
        }
    }
}
