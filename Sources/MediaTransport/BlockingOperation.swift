import MediaTiming
import NIOPosix

/// Operations that block their thread, such as those on files.
package enum BlockingOperation {
    /// Performs an operation on a thread of the shared pool; simulated time stands still meanwhile.
    ///
    /// - Parameter body: The operation, which must not wait for other tasks.
    /// - Returns: The result of the operation.
    /// - Throws: The error of the operation, or `CancellationError` if the task is canceled before it begins.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await RealTimeOperation.wait { try await NIOThreadPool.singleton.runIfActive(body) }
    }
}
