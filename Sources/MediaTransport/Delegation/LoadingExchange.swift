import MediaTiming
import NIOCore
import Synchronization

/// A request to a delegate and its response, which the delegate writes and a transport reads.
final class LoadingExchange: Sendable {
    let request: TransportRequest
    /// The position of the first requested byte in the resource.
    let offset: Int64
    /// The number of requested bytes; `nil` for all bytes to the end.
    let length: Int64?
    private let state: Mutex<LoadingState>
    private let changes = Broadcast()

    init(_ request: TransportRequest) {
        self.request = request
        let skipped = request.resumption?.offset ?? 0
        let start = request.byteRange?.start ?? 0
        offset = start.addingSaturated(skipped)
        length = request.byteRange.map { max(0, $0.length -| skipped) }
        state = Mutex(LoadingState(length: length))
    }

    /// The state at this moment.
    var current: LoadingState { state.withLock { $0 } }

    /// Changes the state and resumes those who wait for it.
    @discardableResult
    func update<Result: Sendable>(_ change: (inout sending LoadingState) -> Result) -> Result {
        defer { changes.notify() }
        return state.withLock { change(&$0) }
    }

    /// Waits until the state meets a condition.
    ///
    /// - Parameters:
    ///   - limit: The time that may pass without a change; `nil` for no limit.
    ///   - time: The clock.
    ///   - condition: Returns a result as soon as the state meets the condition.
    /// - Returns: The result.
    /// - Throws: `TransportError` if nothing changed for too long; `CancellationError`.
    func wait<Result>(
        limit: Duration?,
        _ time: any TimeSource,
        for condition: (inout LoadingState) -> Result?
    ) async throws -> Result {
        while true {
            let seen = changes.count
            if let result = state.withLock({ condition(&$0) }) { return result }
            try Task.checkCancellation()
            let deadline = limit.map { time.now + $0 }
            await changes.wait(after: seen, until: deadline, time)
            if let limit, let deadline, changes.count == seen, time.now >= deadline {
                throw TransportError(
                    .timedOut,
                    "the delegate of the resource loader did not respond for \(limit.components.seconds) seconds",
                    address: request.address
                )
            }
        }
    }
}
