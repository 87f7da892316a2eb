import Foundation
import UnixSignals

/// The handling of Ctrl-C and SIGTERM: they cancel the work, which preserves its results, and the program then reports
/// the interruption.
enum Interruption {
    /// Runs `body`, which SIGINT and SIGTERM cancel.
    ///
    /// - Throws: The error of `body`, or `CancellationError` after a signal.
    static func cancelling<Result: Sendable>(
        _ body: @Sendable @escaping () async throws -> Result
    ) async throws -> Result {
        let (result, isInterrupted) = try await finishing(body)
        guard !isInterrupted else { throw CancellationError() }
        return result
    }

    /// Runs `body`, which SIGINT and SIGTERM cancel, and preserves the result that it returns when it is canceled.
    ///
    /// - Returns: The result of `body`, and a Boolean value that indicates whether a signal canceled it.
    /// - Throws: The error of `body`; `CancellationError` if `body` has no result after a signal.
    static func finishing<Result: Sendable>(
        _ body: @Sendable @escaping () async throws -> Result
    ) async throws -> (result: Result, isInterrupted: Bool) {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let sources = OutputSupervisor.shared.observeInterruptions([SIGINT, SIGTERM])
        defer { for source in sources { source.cancel() } }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { return nil }
                return nil
            }
            defer { group.cancelAll() }
            if let result = try await group.next() ?? nil {
                try Task.checkCancellation()
                return (result, false)
            }
            group.cancelAll()
            // Canceled work can fail with another error than `CancellationError`, such as that of an aborted request.
            guard let result = try? await group.next() ?? nil else { throw CancellationError() }
            try Task.checkCancellation()
            return (result, true)
        }
    }
}
