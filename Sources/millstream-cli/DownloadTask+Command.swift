import AssetStorage
import MediaTransport
import MillstreamDownloads
import ReportFormat

extension DownloadTask {
    /// The time for which a command waits for the error of a download that another process has begun to run.
    ///
    /// This process finds the error within 400 milliseconds.
    private static let refusalInterval = Duration.seconds(3)
    /// The maximum number of times that a command tests whether another process has begun to run a download.
    ///
    /// With ``checkInterval``, the command waits for 30 seconds, because the machine can be busy, and servers can
    /// respond late.
    private static let maximumChecks = 150
    private static let checkInterval = Duration.milliseconds(200)

    /// Asks the process that manages the task to continue it, and waits for an error that ends the task immediately.
    ///
    /// The command waits until 3 seconds after the process has locked the asset. The process does this within 30
    /// seconds, unless other downloads precede this one.
    ///
    /// - Parameter session: The session of the task in this process.
    /// - Returns: The error; `nil` if there was none, or if the task was not paused and had not failed.
    /// - Throws: `CancellationError` when canceled, which does not end the task.
    func resumeInItsProcess(in session: DownloadSession) async throws -> DownloadError? {
        let wasStopped =
            switch state {
            case .suspended, .failed: true
            case .waiting, .running, .completed, .canceled: false
            }
        let events = self.events
        resume()
        guard wasStopped else { return nil }
        return try await withThrowingTaskGroup(of: DownloadError?.self) { group in
            group.addTask {
                for await event in events {
                    if case .completed(_, let error) = event { return error }
                }
                return nil
            }
            group.addTask {
                var checks = 0
                while checks < Self.maximumChecks, self.isAboutToBegin(in: session) {
                    try await Task.sleep(for: Self.checkInterval)
                    checks += 1
                }
                try await Task.sleep(for: Self.refusalInterval)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// The time for which a command waits for the error of a download that it has queued.
    private static let queueInterval = Duration.seconds(2)
    /// The time within which a process that runs begins to manage a download that was queued.
    private static let attendanceInterval = Duration.seconds(1)

    /// Waits for an error with which the process that manages a queued task refuses it at once: up to two seconds, or one second if
    /// no process manages it.
    ///
    /// - Parameter session: The session of the task in this process.
    /// - Returns: The failure; `nil` if the task has not failed.
    /// - Throws: `StorageError` if the catalog cannot be read; `CancellationError` when canceled, which does not end the task.
    func refusalInItsProcess(in session: DownloadSession) async throws -> Failure? {
        try await Self.refusals(of: [self], in: session)[id]
    }

    /// Waits for the errors with which the process that manages queued tasks refuses them at once.
    ///
    /// - Parameters:
    ///   - tasks: The tasks.
    ///   - session: The session of the tasks in this process.
    /// - Returns: The failures of the tasks that were refused, by the identifiers of the tasks.
    /// - Throws: `StorageError` if the catalog cannot be read; `CancellationError` when canceled, which does not end the tasks.
    static func refusals(of tasks: [DownloadTask], in session: DownloadSession) async throws -> [String: Failure] {
        var pending = tasks
        var found: [String: Failure] = [:]
        // Options and artwork are large, and not needed.
        var known = Set(tasks.map(\.id))
        var waited = Duration.zero
        while waited < queueInterval, !pending.isEmpty {
            try await Task.sleep(for: checkInterval)
            waited += checkInterval
            let records = try await BlockingOperation.run { [library = session.library, known] in
                try library.downloads(omittingOptionsOf: known)
            }
            known.formUnion(records.map(\.id))
            let recordsByID = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            pending.removeAll { task in
                guard let record = recordsByID[task.id] else { return true }
                if record.state == .failed, let error = record.failure.map({ DownloadError($0) }) {
                    found[task.id] = task.failureInItsProcess(error, "the download has failed", in: session)
                    return true
                }
                return waited >= attendanceInterval && !task.isAttended
            }
        }
        return found
    }

    /// Returns the failure that reports an error of the task in the process that manages it.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - event: The event, which begins the message.
    ///   - session: The session of the task in this process.
    /// - Returns: The failure, with a hint.
    func failureInItsProcess(_ error: DownloadError, _ event: String, in session: DownloadSession) -> Failure {
        let failure = Failure(error)
        let message = "\(id): \(event) in the process that runs it: \(Failure.namingFiles(in: failure.message))"
        let hint = DownloadsCommand.ListCommand.hint(for: error, of: self, in: session) ?? failure.hint
        return Failure(failure.status, failure.code, message, hint: hint)
    }

    /// Returns a Boolean value that indicates whether the process that manages the task will lock the asset soon.
    ///
    /// It does not if it runs other downloads, which may be before this one, or if a recording may wait for its stream.
    private func isAboutToBegin(in session: DownloadSession) -> Bool {
        guard !isWriting, configuration.recording?.waitsForStream != true else { return false }
        return !session.tasks.contains { $0.id != id && $0.isAttended && $0.isWriting }
    }

    /// Verifies that the output of a task can be written, before its media is loaded; what the command has created is removed if
    /// it cannot.
    ///
    /// - Parameters:
    ///   - session: The session of the task.
    ///   - isNew: A Boolean value that indicates whether the command has created the task.
    ///   - isNewAsset: A Boolean value that indicates whether the command has created the asset.
    ///   - verifyOutput: A closure that throws an error if the output of the asset cannot be written.
    /// - Throws: The error of the closure; `StorageError` if the catalog cannot be read.
    func verify(
        in session: DownloadSession,
        isNew: Bool,
        isNewAsset: Bool,
        _ verifyOutput: (StoredAsset) throws -> Void
    ) async throws {
        let library = session.library
        do {
            try verifyOutput(library.asset(assetID))
        } catch {
            guard isNew else { throw error }
            await session.invalidate()
            try? library.removeDownload(id)
            if isNewAsset { try? library.delete(assetID) }
            throw error
        }
    }
}

extension StoredAsset {
    /// Returns the note that a media file is stored as a whole, with tracks that a selection leaves out; `nil` if it leaves out none.
    ///
    /// - Parameter selection: The selection of the download.
    /// - Returns: The note.
    func note(onSelection selection: DownloadSelection) -> TerminalText? {
        func hasMore(_ languages: [String], than selected: DownloadSelection.Languages) -> Bool {
            switch selected {
            case .all, .defaults: false
            case .some: languages.count > 1
            case .none: !languages.isEmpty
            }
        }
        let hasMoreTracks = renditions.contains { rendition in
            hasMore(rendition.audioLanguages, than: selection.audio)
                || hasMore(rendition.subtitleLanguages, than: selection.subtitles)
        }
        guard isMediaFile, hasMoreTracks else { return nil }
        return "note: the source is one media file, which is stored whole, whatever --audio and --subtitles select"
    }
}
