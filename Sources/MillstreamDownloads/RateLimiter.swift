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

    /// The throughput that one connection is expected to have.
    ///
    /// Segments that share the rate with others are received late, and all of them nearly at the same time: of six segments of
    /// 3.5 MB at 4 Mbit/s, none would be playable for 40 s. A server that sends less over one connection is rare.
    private static let connectionRate = BitRate(bitsPerSecond: 2_000_000)

    /// Returns the number of fetches to run concurrently, which is smaller than the wanted one at a low rate.
    ///
    /// - Parameters:
    ///   - maximum: The wanted number.
    ///   - downloadCount: The number of downloads that share the rate.
    /// - Returns: The number for one of the downloads, at least 1.
    func fetchCount(atMost maximum: Int, sharedBy downloadCount: Int = 1) -> Int {
        let total = Int(clamping: rate.bitsPerSecond / Self.connectionRate.bitsPerSecond)
        return max(1, min(maximum, total.dividedSaturated(by: max(1, downloadCount))))
    }

    /// The number of received bytes that are counted at once: those of a quarter of a second.
    ///
    /// Small steps keep the displayed rate near the limit. At 400 kbit/s, a buffer of 64 KiB has the bytes of more than
    /// a second.
    var countedSize: Int { max(1, Int(clamping: rate.bitsPerSecond / 32)) }

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

/// A limit of the rate at which the concurrent fetches of a download, or of all downloads of a session, receive bytes together.
final class RateLimiter: Sendable {
    /// The limit of a download; `nil` if it has only that of its session.
    private let limit: Mutex<RateLimit?>
    private let time: any TimeSource
    /// The limiter of several downloads together; `nil` if there is none.
    private let session: RateLimiter?
    /// The number of limiters within this one, each of which is that of a running download.
    private let downloadCount = Mutex(0)

    /// Creates a limiter; that of a download counts as one of its session until it is deallocated.
    init(_ limit: RateLimit?, time: any TimeSource, within session: RateLimiter? = nil) {
        self.limit = Mutex(limit)
        self.time = time
        self.session = session
        session?.downloadCount.withLock { $0 += 1 }
    }

    deinit { session?.downloadCount.withLock { $0 -= 1 } }

    /// Returns the number of fetches that the download should run concurrently now, at least 1.
    ///
    /// It changes when other downloads of the session begin or end; see ``RateLimit/fetchCount(atMost:sharedBy:)``.
    func fetchCount(atMost maximum: Int) -> Int {
        let count = downloadCount.withLock { $0 }
        let own = limit.withLock { $0?.fetchCount(atMost: maximum, sharedBy: count) } ?? maximum
        return session?.fetchCount(atMost: own) ?? own
    }

    /// Waits until more bytes may be received after the given ones.
    ///
    /// - Throws: `CancellationError` as soon as the task is canceled.
    func waitAfterReceiving(_ count: Int) async throws {
        let delay = delay(afterReceiving: count, at: time.now)
        if delay > .zero { try await time.sleep(for: delay) }
    }

    /// Adds received bytes to the limit of the download and to the limit of the session, and returns the longer time to
    /// wait.
    ///
    /// If the download waited for both times in succession, it would be slower than both limits.
    private func delay(afterReceiving count: Int, at now: Duration) -> Duration {
        let own = limit.withLock { $0?.addBytes(count, at: now) } ?? .zero
        return max(own, session?.delay(afterReceiving: count, at: now) ?? .zero)
    }

    /// Waits until more bytes may be received after the given ones.
    ///
    /// During the wait, the given bytes are counted in steps, at the rate of the limit.
    ///
    /// - Parameters:
    ///   - count: The number of received bytes.
    ///   - body: A closure that receives the number of bytes of each step. The sum is `count`, even if an error is
    ///     thrown.
    /// - Throws: `CancellationError` as soon as the task is canceled.
    func waitAfterReceiving(_ count: Int, counting body: (_ count: Int) -> Void) async throws {
        var rest = count
        defer { if rest > 0 { body(rest) } }
        while rest > 0 {
            let piece = min(rest, countedSize)
            try await waitAfterReceiving(piece)
            rest -= piece
            body(piece)
        }
    }

    /// The number of bytes that are counted at once, according to the lower limit.
    private var countedSize: Int {
        min(limit.withLock { $0?.countedSize } ?? .max, session?.countedSize ?? .max)
    }
}
