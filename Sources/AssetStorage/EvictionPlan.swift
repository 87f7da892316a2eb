package import Foundation
public import MediaTiming
public import ReportFormat

/// An asset that an eviction considers.
package struct EvictionCandidate: Sendable, Hashable {
    /// The identifier of the asset.
    package var id: String
    /// The title of the asset.
    package var title: String
    /// The creation time of the asset in seconds since 1970-01-01T00:00:00Z.
    package var creationTime: Double
    /// The number of bytes that the deletion of the asset frees on the disk.
    package var freedBytes: ByteCount
    /// The storage policy of the asset.
    package var policy: StoragePolicy
    /// A Boolean value that indicates whether the asset is being played, downloaded or verified.
    package var isInUse: Bool

    /// Creates a candidate.
    package init(
        id: String,
        title: String,
        creationTime: Double,
        freedBytes: ByteCount,
        policy: StoragePolicy,
        isInUse: Bool
    ) {
        self.id = id
        self.title = title
        self.creationTime = creationTime
        self.freedBytes = freedBytes
        self.policy = policy
        self.isInUse = isInUse
    }
}

/// The assets that an eviction deletes, in the order of their deletion.
public struct EvictionPlan: Sendable, Hashable {
    /// The reason for the eviction of an asset.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The expiration date of the asset has passed.
        case expired
        /// The quota of the library or the minimum of free space is exceeded.
        case limits
        /// The requested number of bytes is not available.
        case need
    }

    /// An asset to delete.
    public struct Entry: Sendable, Hashable, Identifiable {
        /// The identifier of the asset.
        public let id: String
        /// The title of the asset.
        public let title: String
        /// The number of bytes that the deletion frees on the disk.
        public let freedBytes: ByteCount
        /// The reason for the eviction.
        public let reason: Reason
    }

    /// The assets to delete.
    public let entries: [Entry]
    /// The number of bytes that the plan cannot make available; zero if it satisfies the limits and the need.
    ///
    /// If the need cannot be satisfied, the plan deletes no asset because of it.
    public let shortfall: ByteCount

    /// The number of bytes that the plan frees on the disk.
    public var freedBytes: ByteCount { entries.reduce(.zero) { $0 + $1.freedBytes } }

    /// Creates a plan.
    ///
    /// Pinned assets and assets in use are never part of the plan. Expired assets always are. Other assets are chosen
    /// by priority, then by age, the oldest first, and only as many as the limits and the need require.
    ///
    /// - Parameters:
    ///   - candidates: All assets of the library.
    ///   - limits: The limits on the disk space.
    ///   - need: The number of bytes to make available within the limits.
    ///   - usedBytes: The number of bytes that the library occupies on the disk.
    ///   - freeBytes: The number of free bytes on the volume; `nil` if the system does not report it.
    ///   - now: The time that expiration dates are compared with.
    package init(
        candidates: [EvictionCandidate],
        limits: StorageLimits,
        need: ByteCount,
        usedBytes: ByteCount,
        freeBytes: ByteCount?,
        now: Date
    ) {
        let evictable = candidates.filter { !$0.policy.isPinned && !$0.isInUse }.sorted(by: Self.precedes)
        func isExpired(_ candidate: EvictionCandidate) -> Bool {
            candidate.policy.expirationDate.map { $0 <= now } ?? false
        }
        let expired = evictable.filter(isExpired)
        var rest = evictable.filter { !isExpired($0) }
        var entries = expired.map { Self.entry($0, .expired) }

        func missingBytes(_ need: ByteCount) -> ByteCount {
            let freed = entries.reduce(ByteCount.zero) { $0 + $1.freedBytes }
            let overQuota = limits.quota.map { usedBytes + need - ($0 + freed) } ?? .zero
            let underFloor = freeBytes.map { limits.minimumFreeSpace + need - ($0 + freed) } ?? .zero
            return max(overQuota, underFloor)
        }

        let forLimits = Self.choose(from: rest, toFree: missingBytes(.zero))
        entries += forLimits.map { Self.entry($0, .limits) }
        let evicted = Set(forLimits.map(\.id))
        rest.removeAll { evicted.contains($0.id) }
        let available = rest.reduce(ByteCount.zero) { $0 + $1.freedBytes }
        let missing = missingBytes(need)
        shortfall = missing - available
        if shortfall == .zero {
            entries += Self.choose(from: rest, toFree: missing).map { Self.entry($0, .need) }
        }
        self.entries = entries
    }

    /// The plan as a report of the command line and the server.
    public var report: ReportValue {
        .fields([
            "evicted": .array(
                entries.map { entry in
                    .fields([
                        "id": .string(entry.id),
                        "title": .string(entry.title),
                        "freed": .integer(entry.freedBytes.bytes),
                        "reason": .string(entry.reason.rawValue),
                    ])
                }
            ),
            "freed": .integer(freedBytes.bytes),
            "shortfall": .integer(shortfall.bytes),
        ])
    }

    // MARK: Implementation

    /// Creates the result of an eviction.
    init(entries: [Entry], shortfall: ByteCount) {
        self.entries = entries
        self.shortfall = shortfall
    }

    private static func entry(_ candidate: EvictionCandidate, _ reason: Reason) -> Entry {
        Entry(id: candidate.id, title: candidate.title, freedBytes: candidate.freedBytes, reason: reason)
    }

    /// Returns a Boolean value that indicates whether the left asset is evicted before the right one.
    private static func precedes(_ left: EvictionCandidate, _ right: EvictionCandidate) -> Bool {
        if left.policy.priority != right.policy.priority { return left.policy.priority == .standard }
        if left.creationTime != right.creationTime { return left.creationTime < right.creationTime }
        return left.id < right.id
    }

    /// Returns the first candidates that together free a number of bytes, without those that are not required because
    /// a later one frees enough.
    private static func choose(from candidates: [EvictionCandidate], toFree bytes: ByteCount) -> [EvictionCandidate] {
        var chosen: [EvictionCandidate] = []
        var freed = ByteCount.zero
        for candidate in candidates where freed < bytes && candidate.freedBytes > .zero {
            chosen.append(candidate)
            freed = freed + candidate.freedBytes
        }
        // The assets to retain first are the last ones.
        var retained: Set<String> = []
        for candidate in chosen.reversed() where freed - candidate.freedBytes >= bytes {
            retained.insert(candidate.id)
            freed = freed - candidate.freedBytes
        }
        return chosen.filter { !retained.contains($0.id) }
    }
}
