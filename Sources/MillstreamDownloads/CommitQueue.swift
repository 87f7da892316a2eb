import AssetStorage
import NIOPosix
import Synchronization

/// A queue that commits finished files to the catalog in groups.
///
/// A separate transaction for each of thousands of small files takes a quarter of the time of a download. While one
/// group is being committed, the files that are finished form the next group. Each fetch waits until its file is
/// committed, so the number of uncommitted files never exceeds the number of concurrent fetches.
final class CommitQueue: Sendable {
    private enum Turn {
        /// The file was committed, or the commit failed.
        case done(Result<Void, any Error>)
        /// The waiting task must commit the next group, which includes its own file.
        case commitGroup
    }

    private struct Entry {
        let file: WrittenFile
        let waiting: CheckedContinuation<Turn, Never>
    }

    private struct State {
        var isBusy = false
        var entries: [Entry] = []
    }

    private let library: AssetLibrary
    private let state = Mutex(State())

    init(_ library: AssetLibrary) { self.library = library }

    /// Commits a file, which is stored when this method returns.
    ///
    /// - Throws: `StorageError`; all files of a group get the same error.
    func commit(_ file: WrittenFile) async throws {
        let turn = await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.entries.append(Entry(file: file, waiting: continuation))
                defer { state.isBusy = true }
                return !state.isBusy
            }
            if isFirst { continuation.resume(returning: Turn.commitGroup) }
        }
        guard case .commitGroup = turn else {
            if case .done(let result) = turn { try result.get() }
            return
        }
        // Only one task at a time reaches this point, and its own entry is the first.
        let group = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
        let result: Result<Void, any Error>
        do {
            try await NIOThreadPool.singleton.runIfActive { [library] in try library.commit(group.map(\.file)) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        for entry in group.dropFirst() { entry.waiting.resume(returning: .done(result)) }
        let next = state.withLock { state in
            state.isBusy = !state.entries.isEmpty
            return state.entries.first
        }
        next?.waiting.resume(returning: .commitGroup)
        try result.get()
    }
}
