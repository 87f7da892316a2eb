import AssetStorage
import NIOPosix
import Synchronization

/// Enters finished files in the catalog in groups.
///
/// A transaction for each of thousands of small files took a quarter of the whole download. While one group is on its way to
/// the disk, the files that come to an end form the next; each waits until it is entered, so a download never has more files
/// that are not entered than it fetches at once.
final class CommitQueue: Sendable {
    private enum Turn {
        /// The file was entered, or could not be.
        case done(Result<Void, any Error>)
        /// The waiting task enters the next group, with its own file among it.
        case lead
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

    /// Enters a file; it is believed when this returns.
    ///
    /// - Throws: `StorageError`; every file of a group gets the same.
    func commit(_ file: WrittenFile) async throws {
        let turn = await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.entries.append(Entry(file: file, waiting: continuation))
                defer { state.isBusy = true }
                return !state.isBusy
            }
            if isFirst { continuation.resume(returning: Turn.lead) }
        }
        guard case .lead = turn else {
            if case .done(let result) = turn { try result.get() }
            return
        }
        // Exactly one task is here at a time, and its own entry is the first.
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
        next?.waiting.resume(returning: .lead)
        try result.get()
    }
}
