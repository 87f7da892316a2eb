import Synchronization

/// The sources of a playlist that had changed when they were requested again, and the playlist that is edited from them for all
/// clients that waited.
final class ChangedSources: Sendable {
    /// An edited playlist, and whether later requests may have the same one.
    typealias Edited = (entry: EditedPlaylistCache.Entry, isStored: Bool)

    /// The session with the sources that were loaded.
    let session: LoadSession
    private let edited = Mutex<Edited?>(nil)

    init(_ session: LoadSession) { self.session = session }

    /// Returns the edited playlist; a client that comes after the work has ended has its result.
    ///
    /// - Parameters:
    ///   - clients: The clients that wait for the work now.
    ///   - work: Edits the playlist.
    /// - Returns: The playlist.
    /// - Throws: The error of the work, `CancellationError`.
    func playlist(
        _ clients: SharedWork<ObjectIdentifier, Edited>,
        _ work: @escaping @Sendable () async throws -> Edited
    ) async throws -> Edited {
        try await clients.value(for: ObjectIdentifier(self)) { [self] in
            if let known = edited.withLock({ $0 }) { return known }
            let result = try await work()
            edited.withLock { $0 = result }
            return result
        }
    }
}
