import HTTPTypes
import MediaTiming
import MediaTransport

extension TimeSource {
    /// Returns the number of seconds in a duration, with a fraction if it has one.
    private static func seconds(in duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return attoseconds == 0 ? "\(seconds)" : "\(duration / .seconds(1))"
    }

    /// Returns the result of a load, which is canceled if it takes too long.
    ///
    /// - Parameters:
    ///   - subject: The name of what is loaded, for the message of the error.
    ///   - limit: The maximum time for one resource, with all retries and redirects, or for the beginnings of all segments that
    ///     the manifest of a channel needs of one track: ``ServerLimits/loadingTime``.
    ///   - load: The load.
    /// - Returns: The result.
    /// - Throws: The error of the load; ``ServerError`` with 504 if it takes too long.
    func limitingLoad<Result: Sendable>(
        of subject: String,
        within limit: Duration,
        _ load: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await load() }
            group.addTask {
                try await self.sleep(for: limit)
                throw ServerError(
                    .gatewayTimeout,
                    TransportError.Code.timedOut.rawValue,
                    "the source did not send the \(subject) within \(Self.seconds(in: limit)) seconds"
                )
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}
