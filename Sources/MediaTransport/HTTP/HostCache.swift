package import MediaTiming
import Synchronization

/// The addresses of hosts that were resolved lately.
package final class HostCache: Sendable {
    private struct Entry {
        let addresses: [HostAddress]
        let expiration: Duration
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let lookups: HostLookupQueue
    private let time: any TimeSource

    /// The time that an answer is used for; the system's resolver does not tell its lifetime.
    private static let lifetime = Duration.seconds(60)
    /// The maximum number of names, so that a playlist with many hosts cannot fill the memory.
    private static let capacity = 1_024

    /// Creates an empty cache.
    package init(_ lookups: HostLookupQueue = .shared, time: any TimeSource = SystemTimeSource()) {
        self.lookups = lookups
        self.time = time
    }

    /// The number of names in the cache.
    package var count: Int { entries.withLock { $0.count } }

    /// Returns the addresses of a host, and the time that the look-up took; `nil` for a host in the cache.
    ///
    /// - Throws: ``TransportError``; see ``HostLookupQueue/resolve(_:)``.
    package func resolve(_ host: String) async throws -> (addresses: [HostAddress], duration: Duration?) {
        let start = time.now
        if let entry = entries.withLock({ $0[host] }), entry.expiration > start { return (entry.addresses, nil) }
        let addresses = try await lookups.resolve(host)
        let now = time.now
        entries.withLock { entries in
            if entries.count >= Self.capacity {
                entries = entries.filter { $0.value.expiration > now }
                // With every entry still valid, half of them make room, the oldest first.
                if entries.count >= Self.capacity {
                    let oldest = entries.sorted { $0.value.expiration < $1.value.expiration }.prefix(Self.capacity / 2)
                    for entry in oldest { entries[entry.key] = nil }
                }
            }
            entries[host] = Entry(addresses: addresses, expiration: now + Self.lifetime)
        }
        return (addresses, now - start)
    }

    /// Removes a host, for example because no server answered there.
    package func remove(_ host: String) { entries.withLock { _ = $0.removeValue(forKey: host) } }
}
