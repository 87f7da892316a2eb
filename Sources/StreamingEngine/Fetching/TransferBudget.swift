import MediaTiming
import Synchronization

/// The bytes of the unfinished segments of an engine, which have a common limit.
///
/// A transfer that exceeds the maximum size of a segment fails before it uses the bytes of other tracks; see
/// ``SegmentSizeLimits``. The limit is therefore reached only while canceled transfers end, for which the others wait.
final class TransferBudget: Sendable {
    private let limit: Int64
    private let held = Mutex<Int64>(0)
    private let releases = Broadcast()

    /// Creates a budget.
    init(limit: ByteCount) { self.limit = limit.bytes }

    /// The bytes of all transfers in progress.
    var heldBytes: ByteCount { held.withLock { ByteCount($0) } }

    /// Reserves bytes for a transfer, and waits while the transfers together would exceed the limit.
    ///
    /// A transfer without others does not wait, since it would never end.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - own: The number of bytes that the transfer has reserved so far.
    /// - Throws: `CancellationError`.
    func reserve(_ count: Int64, besides own: Int64) async throws {
        while true {
            let seen = releases.count
            let isReserved = held.withLock { held in
                guard held <= own || held +| count <= limit else { return false }
                held +|= count
                return true
            }
            if isReserved { return }
            await releases.wait(after: seen)
            try Task.checkCancellation()
        }
    }

    /// Returns the bytes that a transfer has reserved, after it ended.
    func release(_ count: Int64) {
        guard count > 0 else { return }
        held.withLock { $0 = max(0, $0 -| count) }
        releases.notify()
    }
}
