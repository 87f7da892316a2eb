import HTTPTypes
import MediaTiming
import MediaTransport

/// The time for which a request waits for a source.
enum LoadingTime {
    /// The maximum time for one resource, with all retries and redirects, and for the beginnings of all segments that the
    /// manifest of a channel needs of one track.
    static let maximum = Duration.seconds(60)
}

extension TimeSource {
    /// Returns the result of a load, which is canceled if it takes longer than ``LoadingTime/maximum``.
    ///
    /// - Parameters:
    ///   - subject: The name of what is loaded, for the message of the error.
    ///   - load: The load.
    /// - Returns: The result.
    /// - Throws: The error of the load; ``ServerError`` with 504 if it takes too long.
    func limitingLoad<Result: Sendable>(
        of subject: String,
        _ load: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await load() }
            group.addTask {
                try await self.sleep(for: LoadingTime.maximum)
                throw ServerError(
                    .gatewayTimeout,
                    TransportError.Code.timedOut.rawValue,
                    "the source did not send the \(subject) within \(LoadingTime.maximum.components.seconds) seconds"
                )
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}
