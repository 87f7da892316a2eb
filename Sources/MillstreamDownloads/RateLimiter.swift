import MediaTiming
import Synchronization

/// The times at which bytes may be received so that their rate does not exceed a limit.
struct RateLimit {
    /// The maximum rate; at least one bit per second.
    let rate: BitRate
    /// The time until which the rate is used up.
    private var usedUntil: Duration?

    init(_ rate: BitRate) {
        self.rate = max(rate, BitRate(bitsPerSecond: 1))
    }

    /// The throughput that one connection must have, so that a server or the client does not end it as idle.
    private static let connectionRate = BitRate(bitsPerSecond: 500_000)

    /// Returns the number of fetches to run concurrently, which is smaller than the wanted one at a low rate.
    func fetchCount(atMost maximum: Int) -> Int {
        max(1, min(maximum, Int(clamping: rate.bitsPerSecond / Self.connectionRate.bitsPerSecond)))
    }

    /// Adds received bytes, and returns the time to wait before more bytes are received.
    ///
    /// Unused time is not saved up, so that no burst follows a pause.
    mutating func addBytes(_ count: Int, at now: Duration) -> Duration {
        let duration = Duration.seconds(Double(count) * 8 / Double(rate.bitsPerSecond))
        let end = max(usedUntil ?? now, now) + duration
        usedUntil = end
        return end - now
    }
}

/// A limit of the rate at which the concurrent fetches of a download receive bytes together.
final class RateLimiter: Sendable {
    private let limit: Mutex<RateLimit>
    private let time: any TimeSource
    /// The limiter of several downloads together; `nil` if there is none.
    private let session: RateLimiter?

    init(_ limit: RateLimit, time: any TimeSource, within session: RateLimiter? = nil) {
        self.limit = Mutex(limit)
        self.time = time
        self.session = session
    }

    /// Returns the number of fetches to run concurrently; see ``RateLimit/fetchCount(atMost:)``.
    func fetchCount(atMost maximum: Int) -> Int {
        let count = limit.withLock { $0.fetchCount(atMost: maximum) }
        return session?.fetchCount(atMost: count) ?? count
    }

    /// Waits until more bytes may be received after the given ones.
    ///
    /// - Throws: `CancellationError` as soon as the task is canceled.
    func waitAfterReceiving(_ count: Int) async throws {
        let delay = limit.withLock { $0.addBytes(count, at: time.now) }
        if delay > .zero { try await time.sleep(for: delay) }
        try await session?.waitAfterReceiving(count)
    }
}
