import MediaTiming
import Synchronization

/// A token for a time observer, with which it is removed from its player.
///
/// The observer is removed when the token is deallocated.
public final class TimeObserver: Sendable {
    private let task: Task<Void, Never>
    private let permit: Permit
    /// The identity of the player to which the observer was added.
    let owner: ObjectIdentifier

    /// A permission for the block to start, checked at the last moment and in the isolation of the block.
    final class Permit: Sendable {
        private let isRevoked = Mutex(false)

        var isValid: Bool { isRevoked.withLock { !$0 } }

        /// Revokes the permission.
        ///
        /// - Returns: A Boolean value that indicates whether it was valid until now.
        func revoke() -> Bool {
            isRevoked.withLock { isRevoked in
                defer { isRevoked = true }
                return !isRevoked
            }
        }
    }

    /// Creates an observer and starts it.
    ///
    /// - Parameters:
    ///   - times: The times at which the block runs.
    ///   - owner: The identity of the player.
    ///   - perform: Checks the permission in the isolation of the block, then runs the block.
    init(
        _ times: TimeUpdates,
        owner: ObjectIdentifier,
        _ perform: @escaping @Sendable (MediaTime, Permit) async -> Void
    ) {
        let permit = Permit()
        let iterator = times.makeAsyncIterator()
        self.owner = owner
        self.permit = permit
        task = launch(on: times.source.time) {
            var iterator = iterator
            while permit.isValid, let time = await iterator.next() { await perform(time, permit) }
        }
    }

    deinit {
        _ = permit.revoke()
        task.cancel()
    }

    /// Ends the observer; its block does not start again.
    ///
    /// - Returns: A Boolean value that indicates whether the observer was active.
    func end() -> Bool {
        defer { task.cancel() }
        return permit.revoke()
    }
}
