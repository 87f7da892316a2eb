import MediaTiming
import MediaTransport
import Synchronization

/// The requests with wrong credentials by client, which delay its further attempts to guess them.
///
/// After ten of them, a client waits a minute. An IPv6 client is identified by its network of 64 bits, because it has all
/// addresses of the network.
final class FailedAttempts: Sendable {
    private struct Entry {
        var count = 0
        var end: Duration
    }

    private let time: any TimeSource
    private let entries = Mutex<[ClientNetwork: Entry]>([:])

    private static let maximumCount = 10
    private static let interval = Duration.seconds(60)
    /// The maximum number of clients; beyond it, the one whose last attempt is the oldest is forgotten.
    private static let maximumClientCount = 4_096

    init(time: any TimeSource = SystemTimeSource()) { self.time = time }

    /// Returns the time that a client has to wait; `nil` if it may try.
    func delay(for client: HostAddress?) -> Duration? {
        let now = time.now
        return entries.withLock { entries in
            guard let entry = entries[ClientNetwork(client)], entry.count >= Self.maximumCount, entry.end > now
            else {
                return nil
            }
            return entry.end - now
        }
    }

    /// Counts a request with wrong credentials.
    func record(_ client: HostAddress?) {
        let now = time.now
        entries.withLock { entries in
            let key = ClientNetwork(client)
            if entries[key] == nil, entries.count >= Self.maximumClientCount {
                entries = entries.filter { $0.value.end > now }
                if entries.count >= Self.maximumClientCount,
                    let oldest = entries.min(by: { $0.value.end < $1.value.end })
                {
                    entries[oldest.key] = nil
                }
            }
            var entry = entries[key] ?? Entry(end: now)
            if entry.end <= now { entry.count = 0 }
            entry.count += 1
            entry.end = now + Self.interval
            entries[key] = entry
        }
    }
}
