import Foundation
import MediaTiming
import PlaylistEditing
import PresentationLoading
import Synchronization

/// The breaks of edited live playlists in the state file of one server.
///
/// If the file exceeds its limits, the timelines that were not requested within five minutes are removed, the least recently stored
/// first.
final class FileBreakStore: BreakStore {
    private let file: StateFile
    private let queue = BlockingQueue("millstream.state")
    private let time: any TimeSource
    private let shares: Mutex<BreakShares>

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - file: The file; a client has at most a quarter of its sizes.
    ///   - time: The clock.
    init(_ file: StateFile, time: any TimeSource = SystemTimeSource()) {
        self.file = file
        self.time = time
        let limits = file.limits
        let shares = BreakShares.Limits(
            size: limits.totalSize,
            minimumSize: limits.totalSize / max(1, limits.valueCount)
        )
        self.shares = Mutex(BreakShares(shares))
    }

    func breaks(of key: String) async throws -> StoredBreaks {
        let file = file
        guard let value = try await perform({ try file.value(.breaks, of: key) }) else { return StoredBreaks() }
        let now = time.now
        shares.withLock { $0.use(key, size: value.bytes.count, at: now) }
        return StoredBreaks(json: value.bytes, revision: value.revision)
    }

    func store(
        _ breaks: BreakTimelines,
        of key: String,
        replacing revision: Int64,
        for client: ClientNetwork?
    ) async throws -> Bool {
        let file = file
        let bytes = Array(try JSONEncoder().encode(breaks))
        let now = time.now
        let keys = try shares.withLock { shares in
            // The file removes timelines that are not in use if it exceeds its limits.
            _ = try shares.store(bytes.count, of: key, for: client, at: now)
            return shares.keysInUse(at: now)
        }
        return try await perform {
            try file.store(bytes, .breaks, of: key, replacing: revision, protecting: keys)
        }
    }

    private func perform<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        do {
            return try await queue.run(work)
        } catch let error as StateFileError {
            throw ServerError.stateUnavailable(error.message)
        }
    }
}
