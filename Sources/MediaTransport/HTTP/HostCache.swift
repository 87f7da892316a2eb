package import MediaTiming
import Synchronization

/// A cache of the addresses of recently resolved hosts.
package final class HostCache: Sendable {
    private struct Entry {
        let addresses: [HostAddress]
        let expiration: Duration
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let lookups: HostLookupQueue
    private let time: any TimeSource

    /// The time for which a result is used; the system resolver does not report its time to live.
    private static let lifetime = Duration.seconds(60)
    /// The maximum number of host names, so that a playlist with many hosts cannot exhaust the memory.
    private static let capacity = 1_024

    /// Creates an empty cache.
    package init(_ lookups: HostLookupQueue = .shared, time: any TimeSource = SystemTimeSource()) {
        self.lookups = lookups
        self.time = time
    }

    /// The number of host names in the cache.
    package var count: Int { entries.withLock { $0.count } }

    /// Returns the addresses of a host, and the duration of the lookup; `nil` if the host is in the cache.
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
                // If all entries are still valid, the older half of them is removed.
                if entries.count >= Self.capacity {
                    let oldest = entries.sorted { $0.value.expiration < $1.value.expiration }.prefix(Self.capacity / 2)
                    for entry in oldest { entries[entry.key] = nil }
                }
            }
            entries[host] = Entry(addresses: addresses, expiration: now + Self.lifetime)
        }
        return (addresses, now - start)
    }

    /// Removes a host, for example because no server responded there.
    package func remove(_ host: String) { entries.withLock { _ = $0.removeValue(forKey: host) } }
}
