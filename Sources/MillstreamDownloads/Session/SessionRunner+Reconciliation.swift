import AssetStorage
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

extension SessionRunner {
    /// Applies what other processes changed in the catalog, until the session no longer exists.
    static func watch(_ session: Weak<SessionRunner>, _ time: any TimeSource) async {
        // A library that is open for reading has no tasks to manage, and each reading of its catalog may copy the catalog.
        guard session.value?.library.isWritable == true else { return }
        let configuration = session.value?.configuration
        var schedule = StoragePolicySchedule(
            configuration?.storagePolicyInterval,
            appliedAt: configuration?.hasAppliedStoragePolicy == true ? time.now : nil
        )
        while true {
            if let session = session.value, schedule.isDue(at: time.now) {
                let begun = time.now
                // What cannot be deleted now is tried again the next time.
                _ = try? await BlockingOperation.run { try session.library.applyStoragePolicy() }
                schedule.finish(from: begun, to: time.now)
            }
            guard (try? await time.sleep(for: checkInterval)) != nil, let session = session.value else { return }
            let writeCount = session.state.withLock { $0.pendingWrites == 0 ? $0.writeCount : nil }
            let known = Set(session.tasks.map(\.id))
            let found = try? await BlockingOperation.run {
                try session.library.downloads(of: session.identifier, omittingOptionsOf: known)
            }
            guard let found, let writeCount else { continue }
            session.reconcile(found, unless: writeCount)
        }
    }

    /// Applies what was read from the catalog.
    ///
    /// - Parameters:
    ///   - records: The downloads of the session in the catalog.
    ///   - writeCount: The number of changes of this session when the catalog was read. What was read while this session
    ///     wrote may be out of date; it is ignored, and read again later. `nil` if no task has been restored yet.
    func reconcile(_ records: [DownloadRecord], unless writeCount: Int? = nil) {
        let ids = Set(records.map(\.id))
        for task in tasks where !ids.contains(task.id) && isCurrent(writeCount) {
            if isOwned(task.id) { send(.removed(task.id)) } else { endForeignTask(task) }
        }
        for record in records where isCurrent(writeCount) {
            endTaskWithFormerAddress(record)
            guard let task = state.withLock({ $0.task(record.id) }) ?? restore(record) else { continue }
            if isOwned(record.id) { applyChanges(of: record, unless: writeCount) } else { follow(record, task) }
        }
    }

    private func isCurrent(_ writeCount: Int?) -> Bool {
        guard let writeCount else { return true }
        return state.withLock { $0.writeCount == writeCount && $0.pendingWrites == 0 && !$0.isInvalidated }
    }

    /// Creates the task of a record that this session does not know; `nil` if its options are those of a newer version.
    func restore(_ record: DownloadRecord) -> DownloadTask? {
        guard !state.withLock({ $0.ended.contains(record.id) }),
            var configuration = DownloadConfiguration(stored: record.options),
            let asset = try? library.asset(record.assetID)
        else { return nil }
        configuration.title = asset.title
        configuration.details = record.details
        configuration.artwork = record.artwork
        configuration.priority = record.priority
        let task = DownloadTask(
            record,
            asset: asset,
            configuration: configuration,
            loader: loader,
            session: self,
            state: DownloadTask.State(record.state)
        )
        state.withLock { state in
            state.append(task)
            state.known[record.id] = KnownState(state: record.state, priority: record.priority)
        }
        return task
    }

    /// Applies the requests of other processes to a task of this session.
    private func applyChanges(of record: DownloadRecord, unless writeCount: Int?) {
        let found = KnownState(state: record.state, priority: record.priority)
        let known: KnownState? = state.withLock { state in
            if let writeCount, state.writeCount != writeCount || state.pendingWrites > 0 { return nil }
            defer { state.known[record.id] = found }
            return state.known[record.id]
        }
        guard let known, known != found else { return }
        if known.priority != found.priority { send(.prioritized(record.id, found.priority)) }
        guard known.state != found.state else { return }
        switch found.state {
        case .waiting: send(.requested(record.id, .resume))
        case .suspended: send(.requested(record.id, .suspend))
        case .canceled:
            // Another process can have completed the asset of a task that has failed.
            let isFulfilled =
                known.state == .failed && (try? library.outline(of: record.assetID).state) == .complete
            send(isFulfilled ? .fulfilled(record.id) : .requested(record.id, .cancel))
        case .failed: break
        }
    }

    /// Updates a task that another process or no process manages.
    private func follow(_ record: DownloadRecord, _ task: DownloadTask) {
        state.withLock { $0.known[record.id] = KnownState(state: record.state, priority: record.priority) }
        switch record.state {
        case .waiting where configuration.resumesAutomatically:
            if adopt(record.id) { return send(.requested(record.id, .resume)) }
        case .canceled:
            // The process that canceled the task ended before it removed the task.
            if adopt(record.id) { return send(.requested(record.id, .cancel)) }
        case .waiting, .suspended, .failed: break
        }
        let state = DownloadTask.State(record.state)
        if task.state != state {
            let error = record.failure.map { DownloadError($0) }
            task.move(to: state, error: error)
            observers.send((task, .stateChanged(state)))
            // The run of the other process has ended, as one of this session does.
            if state == .failed { reportEnd(of: task, error: error ?? .canceled(task.address)) }
        }
        task.setFolders(record.folders)
        followProgress(record, task)
    }

    /// The share of the time for which the progress of a task of another process is read: to read it takes as long as the asset
    /// has files.
    private static let readingShare = 20

    /// Updates the progress of a task that this session does not manage, if it can have changed.
    private func followProgress(_ record: DownloadRecord, _ task: DownloadTask) {
        let (begun, isWriting) = (time.now, task.isWriting)
        if let last = state.withLock({ $0.followed[record.id] }), last.folders == record.folders,
            last.selectionNumber == record.selectionNumber, last.state == record.state
        {
            guard isWriting || last.wasWriting, begun >= last.nextTime else { return }
        }
        guard let progress = try? library.downloadProgress(of: record, task.configuration) else { return }
        let end = time.now
        state.withLock { state in
            state.followed[record.id] = FollowedProgress(
                wasWriting: isWriting,
                state: record.state,
                folders: record.folders,
                selectionNumber: record.selectionNumber,
                nextTime: end + (end - begun) * Self.readingShare
            )
        }
        if progress != task.progress { sendProgress(progress, of: task) }
    }

    /// Ends the failed downloads of an asset that has become complete by a download with the same selections, apart from keys, or the
    /// failed recordings of an asset that has become complete by a recording.
    func completeFailedTasks(like task: DownloadTask) {
        guard (try? library.outline(of: task.assetID).state) == .complete, let records = try? library.downloads() else {
            return
        }
        for record in records where record.id != task.id && record.assetID == task.assetID && record.state == .failed {
            let configuration = DownloadConfiguration(stored: record.options)
            guard let configuration, configuration.isFulfilled(by: task.configuration) else { continue }
            if isOwned(record.id) {
                send(.fulfilled(record.id))
            } else if let claim = library.claimDownload(record.id) {
                try? library.removeDownload(record.id)
                withExtendedLifetime(claim) {}
            } else {
                // The process that manages it ends it.
                try? library.changeDownload(record.id, .state(.canceled, nil))
            }
        }
    }

    /// Ends a task whose source has another URL by now; the task with the new URL is restored from its record afterward.
    private func endTaskWithFormerAddress(_ record: DownloadRecord) {
        guard let task = state.withLock({ $0.task(record.id) }), task.address != record.source, !isOwned(record.id)
        else { return }
        task.move(to: .canceled)
        forget(record.id)
        task.endEvents()
    }

    /// Ends a task that the process that took care of it has ended, or that another session has taken over.
    private func endForeignTask(_ task: DownloadTask) {
        let isTakenOver = (try? library.downloads().contains { $0.id == task.id && $0.state != .canceled }) ?? false
        // The asset may be incomplete because of another selection.
        let missing = task.folders.flatMap { try? library.missingCount(task.assetID, in: $0) }
        let isStored = missing.map { $0 == 0 } ?? ((try? library.asset(task.assetID).state) == .complete)
        // A recording can be complete as far as it is stored while another session continues it.
        let isComplete = !isTakenOver && isStored
        let end: DownloadTask.State = isComplete ? .completed : .canceled
        let takeover = isTakenOver ? DownloadError.takenOver(task.id) : nil
        task.move(to: end, error: takeover)
        observers.send((task, .stateChanged(end)))
        reportEnd(of: task, error: isComplete ? nil : takeover ?? DownloadError.canceled(task.address))
        forget(task.id)
        task.endEvents()
    }
}

extension DownloadTask.State {
    init(_ saved: DownloadRecord.State) {
        self =
            switch saved {
            case .waiting: .waiting
            case .suspended: .suspended
            case .failed: .failed
            case .canceled: .canceled
            }
    }
}
