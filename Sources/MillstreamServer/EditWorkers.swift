import MediaTiming
import NIOPosix
import PresentationLoading
import Synchronization

/// An executor for parsing, editing and inspecting playlists.
///
/// It uses its own threads instead of the cooperative pool, in which long work would delay all other requests. The
/// number of threads limits the number of simultaneous jobs.
struct EditWorkers: Sendable {
    /// The thread pool; `nil` to run work on the calling task, as programs without a server do.
    private let pool: NIOThreadPool?

    /// An executor that runs work on the calling task.
    static let callingTask = EditWorkers(pool: nil)

    private init(pool: NIOThreadPool?) { self.pool = pool }

    /// Creates workers and starts their threads, which ``shutdown()`` ends.
    init(threads: Int) {
        let pool = NIOThreadPool(numberOfThreads: max(1, threads))
        pool.start()
        self.pool = pool
    }

    func shutdown() async throws { try await pool?.shutdownGracefully() }

    /// Runs work that can take a long time.
    ///
    /// - Parameter work: The work. Between its steps, it must call the closure that it receives, which throws when the
    ///   task is canceled.
    /// - Returns: The result of the work.
    /// - Throws: `CancellationError`, or the error of the work.
    func run<Result: Sendable>(
        _ work: @escaping @Sendable (_ check: () throws -> Void) throws -> Result
    ) async throws -> Result {
        guard let pool else {
            return try work { try Task.checkCancellation() }
        }
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await pool.runIfActive {
                // Parsers check this between the calls of the closure, too.
                try CancelableWork.perform(canceledIf: { isCancelled.value.load(ordering: .relaxed) }) {
                    try work {
                        if isCancelled.value.load(ordering: .relaxed) { throw CancellationError() }
                    }
                }
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
    }
}

extension EditWorkers: TranslationWorkers {
    func perform<Result: Sendable>(
        _ work: @escaping @Sendable (_ check: () throws -> Void) throws -> Result
    ) async throws -> Result {
        try await run(work)
    }
}

/// A flag that one thread sets and another reads.
private final class CancellationFlag: Sendable {
    let value = Atomic(false)
}
