import AssetStorage

/// A download of the catalog that another session or another process manages, or that has no process.
package struct ListedDownload: Sendable, Hashable, Identifiable {
    /// The state of a download in lists, whichever process manages the download.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// A process is storing files.
        case running
        /// A process will run the download when it is its turn.
        case waiting
        /// The process that ran the download has ended.
        case interrupted
        /// The download does not run until it is resumed.
        case paused
        /// An error ended the download; it can be resumed.
        case failed
        /// All files are stored.
        case complete
        /// The download was canceled.
        case canceled

        /// Creates the state of a task.
        ///
        /// - Parameters:
        ///   - state: The state of the task.
        ///   - session: The identifier of its session.
        ///   - isAttended: A Boolean value that indicates whether a process manages the task.
        ///   - isWriting: A closure that returns whether a process is writing to the package of the asset.
        package init(_ state: DownloadTask.State, session: String, isAttended: Bool, isWriting: () -> Bool) {
            switch state {
            case .waiting, .running:
                if isAttended {
                    self = isWriting() ? .running : .waiting
                } else {
                    // A task that was handed to millstream serve waits for it.
                    let waits = state == .waiting && session == DownloadSession.serverIdentifier
                    self = waits ? .waiting : .interrupted
                }
            case .suspended: self = .paused
            case .failed: self = .failed
            case .completed: self = .complete
            case .canceled: self = .canceled
            }
        }
    }

    /// The identifier of the download.
    package let id: String
    /// The identifier of the asset.
    package let assetID: String
    /// The state.
    package let state: State
    /// A Boolean value that indicates whether the download records a live stream.
    package let isRecording: Bool
    /// A Boolean value that indicates whether the download loads a file, which the session of a server does not.
    package let hasFileSource: Bool
    /// A Boolean value that indicates whether a process manages the download.
    package let isAttended: Bool
    private let failure: DownloadRecord.Failure?

    /// The error of a failed download; `nil` if there is none.
    package var error: DownloadError? { failure.map { DownloadError($0) } }

    /// A Boolean value that indicates whether a process runs the download, or has it waiting.
    package var isActive: Bool { isAttended && (state == .running || state == .waiting) }

    fileprivate init(_ record: DownloadRecord, isAttended: Bool, in library: AssetLibrary) {
        id = record.id
        assetID = record.assetID
        state = State(DownloadTask.State(record.state), session: record.session, isAttended: isAttended) {
            PackageLock.isHeld(library.packageDirectory(record.assetID))
        }
        let configuration = DownloadConfiguration(stored: record.options)
        isRecording = configuration?.recording != nil
        hasFileSource = configuration?.fileSource(besides: record.source) != nil
        self.isAttended = isAttended
        failure = record.failure
    }
}

extension DownloadSession {
    /// Returns the downloads of the library that this session cannot manage, because they belong to another session or are managed
    /// by another process, by the identifiers of their assets; of several downloads of an asset, one that is active if there is one.
    ///
    /// - Parameter assetID: The identifier of an asset; `nil` for the downloads of all assets.
    /// - Returns: The downloads.
    /// - Throws: `StorageError` if the catalog cannot be read.
    package func downloadsOfOthers(of assetID: String? = nil) throws -> [String: ListedDownload] {
        var result: [String: ListedDownload] = [:]
        for record in try library.downloads() where (assetID ?? record.assetID) == record.assetID {
            guard record.state != .canceled, !manages(record.id) else { continue }
            let isAttended = library.isDownloadClaimed(record.id)
            guard record.session != identifier || isAttended else { continue }
            let download = ListedDownload(record, isAttended: isAttended, in: library)
            guard result[record.assetID] == nil || download.isActive else { continue }
            result[record.assetID] = download
        }
        return result
    }
}
