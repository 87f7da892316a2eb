import MediaTiming
import Synchronization

/// The bytes of the unfinished segments and initialization sections of an engine, which have common limits.
///
/// A transfer that exceeds the maximum size of a segment fails before it uses the bytes of other tracks; see
/// ``SegmentSizeLimits``. The limit is therefore reached only while canceled transfers end, for which the others wait.
///
/// Initialization sections are loaded at the same time as their segments, which wait for them. They have a limit of
/// their own, which they exceed only if they are no initialization sections, and none of them waits for another one.
final class TransferBudget: Sendable {
    private let limit: Int64
    private let initializationLimit: Int64
    private let held = Mutex<Int64>(0)
    private let heldInitializations = Mutex<Int64>(0)
    private let releases = Broadcast()

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes of all segments together.
    ///   - initializationLimit: The maximum number of bytes of all initialization sections together; by default that of
    ///     one of them.
    init(limit: ByteCount, initializationLimit: ByteCount = SegmentLoader.maximumInitializationSize) {
        self.limit = limit.bytes
        self.initializationLimit = initializationLimit.bytes
    }

    /// The bytes of all transfers in progress.
    var heldBytes: ByteCount {
        ByteCount(held.withLock { $0 } +| heldInitializations.withLock { $0 })
    }

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

    /// Reserves bytes for an initialization section.
    ///
    /// - Parameter count: The number of bytes.
    /// - Returns: `false` if the initialization sections in progress would be larger than the limit.
    func reserveInitialization(_ count: Int64) -> Bool {
        heldInitializations.withLock { held in
            guard held +| count <= initializationLimit else { return false }
            held +|= count
            return true
        }
    }

    /// Returns the bytes that an initialization section has reserved, after its transfer ended.
    func releaseInitialization(_ count: Int64) {
        heldInitializations.withLock { $0 = max(0, $0 -| count) }
    }
}
