import AssetStorage
import ResourceAddressing
import Synchronization

/// The takeover of downloads that other sessions have left: those that were interrupted, paused or that failed, and that no
/// process manages.
struct DownloadTakeover {
    /// The runner of the session that takes the downloads over.
    let runner: SessionRunner

    private var library: AssetLibrary { runner.library }

    /// Makes the downloads of an asset tasks of the session, with their identifiers, options and progress.
    ///
    /// A download that a process manages stays in its session, and so does one whose options are those of a newer version.
    ///
    /// - Parameters:
    ///   - assetID: The identifier of the asset.
    ///   - id: The identifier of the download; `nil` for all downloads of the asset.
    ///   - includesFiles: A Boolean value that indicates whether downloads that load files are taken over too;
    ///     otherwise they stay in their sessions.
    /// - Throws: `StorageError` if the catalog cannot be read or written.
    func takeOver(downloadsOf assetID: String, id: DownloadTask.ID?, includesFiles: Bool) throws {
        for listed in try library.downloads() where listed.assetID == assetID && isForeign(listed) {
            guard (id ?? listed.id) == listed.id, let claim = library.claimDownload(listed.id) else { continue }
            // The process that managed the download may have changed or ended it since the catalog was read.
            let current = try library.downloads().first { $0.id == listed.id }
            guard let record = current, isForeign(record), record.state != .canceled else { continue }
            guard includesFiles || !loadsFile(record) else { continue }
            let isValid = runner.state.withLock { state in
                guard !state.isInvalidated else { return false }
                state.claims[record.id] = claim
                return true
            }
            guard isValid else { return }
            // The task must be known before the catalog has it in this session, because the catalog is read at any time.
            guard runner.restore(record) != nil else {
                runner.forget(record.id)
                continue
            }
            do {
                try runner.write { try library.changeDownload(record.id, .session(runner.identifier)) }
            } catch {
                runner.forget(record.id)
                throw error
            }
            let phase: DownloadStateMachine.Phase = record.state == .failed ? .failed : .suspended
            runner.send(.added(id: record.id, asset: assetID, priority: record.priority, phase: phase))
        }
    }

    /// Removes the recordings of a source, because a new task of the session continues them with its own options.
    ///
    /// A recording that another process manages, or whose record cannot be deleted, stays in the list of downloads.
    func removeRecordings(of source: ResourceAddress) {
        guard let records = try? library.downloads() else { return }
        for record in records where record.source == source && isForeign(record) {
            guard DownloadConfiguration(stored: record.options)?.recording != nil,
                let claim = library.claimDownload(record.id)
            else { continue }
            try? library.removeDownload(record.id)
            withExtendedLifetime(claim) {}
        }
    }

    private func loadsFile(_ record: DownloadRecord) -> Bool {
        DownloadConfiguration(stored: record.options)?.fileSource(besides: record.source) != nil
    }

    private func isForeign(_ record: DownloadRecord) -> Bool { record.session != runner.identifier }
}
