import NIOPosix
import Synchronization

/// The place where playlists are parsed, edited and inspected.
///
/// It is not the cooperative pool, where long work would delay every other request, but threads of its own, as many as
/// are allowed to work at one time.
struct EditWorkers: Sendable {
    /// The threads; `nil` to work where the caller is, as programs without a server do.
    private let pool: NIOThreadPool?

    /// Works where the caller is.
    static let caller = EditWorkers(pool: nil)

    private init(pool: NIOThreadPool?) { self.pool = pool }

    /// Starts threads; ``shutdown()`` ends them.
    init(threads: Int) {
        let pool = NIOThreadPool(numberOfThreads: max(1, threads))
        pool.start()
        self.pool = pool
    }

    func shutdown() async throws { try await pool?.shutdownGracefully() }

    /// Does work that may take long.
    ///
    /// - Parameter work: What to do. It calls its argument between steps, which throws once the task is cancelled.
    /// - Returns: The result of the work.
    /// - Throws: `CancellationError`, and what the work throws.
    func run<Result: Sendable>(
        _ work: @escaping @Sendable (_ check: () throws -> Void) throws -> Result
    ) async throws -> Result {
        guard let pool else {
            return try work { try Task.checkCancellation() }
        }
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await pool.runIfActive {
                try work {
                    if isCancelled.value.load(ordering: .relaxed) { throw CancellationError() }
                }
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
    }
}

/// A Boolean value that another thread sets.
private final class CancellationFlag: Sendable {
    let value = Atomic(false)
}
