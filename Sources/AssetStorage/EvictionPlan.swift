package import Foundation
public import MediaTiming
public import ReportFormat

/// An asset that an eviction considers.
package struct EvictionCandidate: Sendable, Hashable {
    /// The identifier of the asset.
    package var id: String
    /// The title of the asset.
    package var title: String
    /// The position of the asset in the order of creation, which does not depend on the system clock.
    package var order: Int
    /// The disk space of the package of the asset.
    package var usage: DiskUsage
    /// The storage policy of the asset.
    package var policy: StoragePolicy
    /// A Boolean value that indicates whether the asset is being played or verified, or has a download that has neither failed
    /// nor been canceled.
    package var isInUse: Bool

    /// Creates a candidate.
    package init(
        id: String,
        title: String,
        order: Int,
        usage: DiskUsage,
        policy: StoragePolicy,
        isInUse: Bool
    ) {
        self.id = id
        self.title = title
        self.order = order
        self.usage = usage
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
        /// The number of bytes that the deletion frees on the disk, after the deletion of the assets before it.
        ///
        /// A file that several assets share is freed with the last of them.
        public let freedBytes: ByteCount
        /// The reason for the eviction.
        public let reason: Reason

        /// The deletion as a report of the command line and the server.
        public var report: ReportValue {
            .fields([
                "id": .string(id), "title": .string(title), "freed": .integer(freedBytes.bytes),
                "reason": .string(reason.rawValue),
            ])
        }
    }

    /// The assets to delete.
    public let entries: [Entry]
    /// The assets that could be deleted, but are not, because the need could not be satisfied even by the deletion of all of them.
    ///
    /// They are in the order of their deletion, after those of ``entries``. If there are none and ``shortfall`` is above zero, no
    /// other asset can be deleted.
    public let insufficientEntries: [Entry]
    /// The number of bytes that the plan cannot make available; zero if it satisfies the limits and the need.
    ///
    /// If the need cannot be satisfied, the plan deletes no asset because of it, and this is what would be missing after the
    /// deletion of ``insufficientEntries``.
    public let shortfall: ByteCount

    /// The number of bytes that the plan frees on the disk.
    public var freedBytes: ByteCount { entries.reduce(.zero) { $0 + $1.freedBytes } }

    /// The number of bytes that the deletion of ``insufficientEntries`` would free on the disk in addition.
    public var insufficientBytes: ByteCount { insufficientEntries.reduce(.zero) { $0 + $1.freedBytes } }

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
        var chosen = expired.map { ($0, Reason.expired) }
        var freed = FreedSpace()
        for candidate in expired { freed.add(candidate.usage) }

        func missingBytes(_ need: ByteCount) -> ByteCount {
            let overQuota = limits.quota.map { usedBytes + need - ($0 + freed.bytes) } ?? .zero
            let underFloor = freeBytes.map { limits.minimumFreeSpace + need - ($0 + freed.bytes) } ?? .zero
            return max(overQuota, underFloor)
        }

        let forLimits = Self.choose(from: rest, toFree: missingBytes(.zero), &freed)
        chosen += forLimits.map { ($0, .limits) }
        let evicted = Set(forLimits.map(\.id))
        rest.removeAll { evicted.contains($0.id) }
        let missing = missingBytes(need)
        var withRest = freed
        for candidate in rest { withRest.add(candidate.usage) }
        shortfall = missing - (withRest.bytes - freed.bytes)
        let forNeed = Self.choose(from: rest, toFree: missing, &freed).map { ($0, Reason.need) }
        let isSatisfied = shortfall == .zero
        if isSatisfied { chosen += forNeed }
        var deleted = FreedSpace()
        func entry(_ candidate: EvictionCandidate, _ reason: Reason) -> Entry {
            Entry(id: candidate.id, title: candidate.title, freedBytes: deleted.add(candidate.usage), reason: reason)
        }
        entries = chosen.map { entry($0, $1) }
        insufficientEntries = isSatisfied ? [] : forNeed.map { entry($0, $1) }
    }

    /// The plan as a report of the command line and the server.
    public var report: ReportValue {
        .fields([
            "evicted": .array(
                entries.map(\.report)
            ),
            "freed": .integer(freedBytes.bytes),
            "shortfall": .integer(shortfall.bytes),
            "insufficient": insufficientEntries.isEmpty ? nil : .array(insufficientEntries.map(\.report)),
        ])
    }

    // MARK: Implementation

    /// Creates the result of an eviction.
    init(entries: [Entry], insufficientEntries: [Entry] = [], shortfall: ByteCount) {
        self.entries = entries
        self.insufficientEntries = insufficientEntries
        self.shortfall = shortfall
    }

    /// Returns a Boolean value that indicates whether the left asset is evicted before the right one.
    private static func precedes(_ left: EvictionCandidate, _ right: EvictionCandidate) -> Bool {
        if left.policy.priority != right.policy.priority { return left.policy.priority == .standard }
        return left.order < right.order
    }

    /// Returns the first candidates that together free a number of bytes, without those that are not required because
    /// a later one frees enough.
    ///
    /// - Parameters:
    ///   - candidates: The candidates in the order of their deletion.
    ///   - bytes: The number of bytes to free.
    ///   - freed: The space that was freed before, to which that of the result is added.
    /// - Returns: The chosen candidates, in order.
    private static func choose(
        from candidates: [EvictionCandidate],
        toFree bytes: ByteCount,
        _ freed: inout FreedSpace
    ) -> [EvictionCandidate] {
        let goal = freed.bytes + bytes
        var chosen: [EvictionCandidate] = []
        for candidate in candidates where freed.bytes < goal {
            chosen.append(candidate)
            freed.add(candidate.usage)
        }
        // The assets to retain first are the last ones.
        var retained: Set<String> = []
        for candidate in chosen.reversed() {
            freed.remove(candidate.usage)
            if freed.bytes >= goal { retained.insert(candidate.id) } else { freed.add(candidate.usage) }
        }
        // If all together do not free enough, those that free nothing are retained too.
        for candidate in chosen.reversed() where !retained.contains(candidate.id) {
            let before = freed.bytes
            freed.remove(candidate.usage)
            if freed.bytes >= before { retained.insert(candidate.id) } else { freed.add(candidate.usage) }
        }
        return chosen.filter { !retained.contains($0.id) }
    }
}

/// The disk space that the deletion of several packages frees.
///
/// A file that packages share is freed when all its names are deleted.
private struct FreedSpace {
    private(set) var bytes = ByteCount.zero
    private var names: [FileIdentity: UInt64] = [:]

    /// Adds the deletion of a package.
    ///
    /// - Returns: The number of bytes that it frees in addition.
    @discardableResult
    mutating func add(_ usage: DiskUsage) -> ByteCount {
        let before = bytes
        bytes = bytes + usage.freeableBytes
        for (file, shared) in usage.sharedFiles {
            let deleted = names[file, default: 0]
            names[file] = deleted &+ shared.names
            if deleted < shared.links, deleted &+ shared.names >= shared.links { bytes = bytes + shared.bytes }
        }
        return bytes - before
    }

    /// Removes the deletion of a package that was added.
    mutating func remove(_ usage: DiskUsage) {
        bytes = bytes - usage.freeableBytes
        for (file, shared) in usage.sharedFiles {
            let deleted = names[file, default: 0]
            names[file] = deleted &- min(shared.names, deleted)
            if deleted >= shared.links, deleted &- shared.names < shared.links { bytes = bytes - shared.bytes }
        }
    }
}
