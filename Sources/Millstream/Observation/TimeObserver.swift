import MediaTiming
import Synchronization

/// What an observer of time is removed with.
///
/// Keep it: when it is gone, its block no longer runs.
public final class TimeObserver: Sendable {
    private let task: Task<Void, Never>
    private let permit: Permit
    /// The player that it was added to.
    let owner: ObjectIdentifier

    /// Whether a block may begin; asked at the last moment, where the block runs.
    final class Permit: Sendable {
        private let isRevoked = Mutex(false)

        var isValid: Bool { isRevoked.withLock { !$0 } }

        /// - Returns: Whether it was valid until now.
        func revoke() -> Bool {
            isRevoked.withLock { isRevoked in
                defer { isRevoked = true }
                return !isRevoked
            }
        }
    }

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - times: When.
    ///   - owner: The player.
    ///   - perform: Asks for permission where the block is to run, and runs it.
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

    /// Ends it: from here on no block begins.
    ///
    /// - Returns: Whether it was not ended yet.
    func end() -> Bool {
        defer { task.cancel() }
        return permit.revoke()
    }
}
