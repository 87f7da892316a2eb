import AssetStorage
import MediaTransport
import MillstreamDownloads
import ReportFormat

#if Playback
import MediaDecoding
#endif

/// Runs a task of a download session, and prints its events as a progress bar, lines of text, or JSON.
struct DownloadPrinter: Sendable {
    let display: ProgressDisplay
    let printsJSON: Bool
    let isQuiet: Bool
    /// The limit of variants that the user requested; `nil` for none.
    var limit: VariantLimit?

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

    /// Follows a task that another process takes care of, until it has ended.
    ///
    /// - Returns: The complete asset; `nil` if the other process ended before the task did.
    /// - Throws: ``DownloadError``; `CancellationError` when canceled, which does not end the task.
    func follow(_ task: DownloadTask, in session: DownloadSession) async throws -> StoredAsset? {
        let events = task.events
        if task.state == .suspended { task.resume() }
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
        for await event in events {
            switch event {
            case .variantsChosen(let variants):
                if !isQuiet { limit?.notice(for: variants).map { StandardError.write("\($0)\n") } }
            case .locationChosen: show("resolved", task, task.progress)
            case .loaded(_, let progress): show("progress", task, progress)
            case .stateChanged(.suspended):
                display.end()
                notice("paused; continue it with: millstream downloads resume \(task.id)")
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
            case .completed(_, let error):
                if let error { throw error }
                let asset = try session.library.asset(task.assetID)
                let progress = asset.state == .complete ? DownloadProgress(asset) : task.progress
                showCompletion(of: task, progress, try session.library.omittedContent(of: asset.id))
                return asset
            case .stateChanged, .mediaSelectionResolved, .selectionCompleted, .finished: break
            }
        }
        return nil
    }

    /// Resumes the task of a recording and follows it until it has ended; an interruption ends the recording.
    ///
    /// - Returns: The recorded asset.
    /// - Throws: ``DownloadError``; `CancellationError` if nothing was recorded before the interruption.
    func record(_ task: DownloadTask, in session: DownloadSession) async throws -> StoredAsset {
        do {
            return try await run(task, in: session)
        } catch {
            if Task.isCancelled { task.cancel() }
            await session.invalidate()
            guard Task.isCancelled, let asset = try? session.library.asset(task.assetID), asset.state == .complete
            else {
                // A stream that never began leaves nothing behind.
                if Task.isCancelled, let asset = try? session.library.asset(task.assetID), asset.renditions.isEmpty {
                    try? session.library.delete(task.assetID)
                }
                throw error
            }
            showCompletion(of: task, DownloadProgress(asset), try session.library.omittedContent(of: asset.id))
            return asset
        }
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
        show("completed", task, fields: progress.fields + [field].compactMap { $0 })
    }

    private func notice(_ text: TerminalText) {
        if !isQuiet { StandardError.write("\(text)\n") }
    }

    private func show(_ name: String, _ task: DownloadTask, _ progress: DownloadProgress) {
        guard printsJSON else { return display.show(progress) }
        show(name, task, fields: progress.fields)
    }
}

extension DownloadSession {
    /// Creates the session of a command, which runs only the tasks that the command resumes.
    static func forCommand(
        _ identifier: String,
        _ library: AssetLibrary,
        loader: ResourceLoader
    ) throws -> DownloadSession {
        var configuration = Configuration()
        configuration.resumesAutomatically = false
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
