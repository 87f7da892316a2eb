import AssetStorage
import MediaTiming
import NIOPosix
import Synchronization

/// A queue that stores received files in groups.
///
/// A separate transaction for each of thousands of small files takes a quarter of the time of a download. While one
/// group is being stored, the files that are received form the next group. A caller waits until its file is stored, so
/// the number of files in the queue never exceeds the number of callers.
final class CommitQueue: Sendable {
    private struct Entry: Sendable {
        let file: PackageFile
        let resource: StoredResource
        let waiting: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var isBusy = false
        var entries: [Entry] = []
    }

    private let library: AssetLibrary
    private let state = Mutex(State())

    init(_ library: AssetLibrary) { self.library = library }

    /// Synchronizes a received file to the disk and commits it to the catalog.
    ///
    /// The bytes were received, so a canceled task stores them as well.
    ///
    /// - Throws: `StorageError`; the files of a group whose transaction fails all get its error.
    func commit(_ file: PackageFile, as resource: StoredResource) async throws {
        try await RealTimeOperation.wait {
            try await withCheckedThrowingContinuation { continuation in
                let isFirst = state.withLock { state in
                    state.entries.append(Entry(file: file, resource: resource, waiting: continuation))
                    defer { state.isBusy = true }
                    return !state.isBusy
                }
                if isFirst { NIOThreadPool.singleton.submit { _ in self.commitGroups() } }
            }
        }
    }

    /// Stores one group after another until the queue is empty.
    private func commitGroups() {
        while true {
            let group = state.withLock { state in
                defer { state.entries = [] }
                state.isBusy = !state.entries.isEmpty
                return state.entries
            }
            guard !group.isEmpty else { return }
            var finished: [Entry] = []
            for (entry, result) in zip(group, library.finish(group.map(\.file))) {
                switch result {
                case .success: finished.append(entry)
                case .failure(let error): entry.waiting.resume(throwing: error)
                }
            }
            let result = Result { try library.commit(finished.map { WrittenFile($0.resource, $0.file) }) }
            for entry in finished { entry.waiting.resume(with: result) }
        }
    }
}
