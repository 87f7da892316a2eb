public import Foundation
public import MediaTiming
import Synchronization

extension AssetLibrary {
    /// The assets that this object deletes because of the stored limits or of their expiration dates, from this call on.
    ///
    /// The stream contains the results of ``applyStoragePolicy(need:now:)``, which downloads and sessions call
    /// automatically, but not those of ``evict(limits:need:now:)``. It ends when the library is deallocated. If more
    /// than 4,096 deletions wait for a reader, the oldest ones are dropped.
    public var evictions: AsyncStream<EvictionPlan.Entry> { evictionObservers.stream() }

    /// Calls a function with each asset that this object deletes automatically, as long as the returned object exists.
    package func observeEvictions(_ body: @escaping @Sendable (EvictionPlan.Entry) -> Void) -> EvictionObservation {
        evictionObservers.observe(body)
    }

    /// Deletes expired assets, and as many others as the stored limits require.
    ///
    /// Assets that are pinned, played or verified, or have a download, are never deleted. Without limits and expired assets, the
    /// call is cheap, so that it can be repeated at intervals. Downloads call it when they need space, and sessions at intervals.
    ///
    /// - Parameters:
    ///   - need: The number of bytes to make available within the limits.
    ///   - now: The time that expiration dates are compared with.
    /// - Returns: The deleted assets, and the number of bytes that could not be made available.
    /// - Throws: ``StorageError``.
    /// - Complexity: O(*n*) in the number of files of the library, if it has a quota or something is deleted.
    @discardableResult
    public func applyStoragePolicy(need: ByteCount = .zero, now: Date = Date()) throws -> EvictionPlan {
        guard isWritable else { throw Catalog.isReadOnly }
        return try space.evictions.withLock { _ in try applyLockedStoragePolicy(need: need, now: now) }
    }

    /// Applies the storage policy while the lock on evictions is held.
    private func applyLockedStoragePolicy(need: ByteCount, now: Date) throws -> EvictionPlan {
        let limits = try storageLimits()
        space.setLimits(limits)
        let isFreeSpaceLow = freeSpace.map { $0 < limits.minimumFreeSpace + need } ?? false
        let lacksFreeSpace = limits.minimumFreeSpace > .zero && isFreeSpaceLow
        guard try limits.quota != nil || lacksFreeSpace || hasExpiredAssets(now) else {
            return EvictionPlan(entries: [], shortfall: .zero)
        }
        let isLimited = limits.quota != nil || limits.minimumFreeSpace > .zero
        // Other transfers store bytes while the library is measured.
        let storedBefore = space.storedBytes
        let bytesOfOthers = catalogBytes.map { $0 -| space.enteredBytes }
        let (plan, usedBytes) = try measuringEvict(limits: limits, need: isLimited ? need : .zero, now: now)
        if limits.quota != nil {
            space.setOccupiedBytes(usedBytes, storedBefore: storedBefore, bytesOfOthers: bytesOfOthers)
        }
        for entry in plan.entries { evictionObservers.send(entry) }
        return plan
    }

    /// Returns a Boolean value that indicates whether the library has limits for the files that are stored.
    package func hasStorageLimits() throws -> Bool {
        if space.limits == nil { space.setLimits(try storageLimits()) }
        return space.limits != StorageLimits()
    }

    /// Reserves space for bytes that are about to be stored, if it is available within the limits.
    ///
    /// - Returns: A Boolean value that indicates whether it is; otherwise ``makeSpace(for:)`` can make it available.
    package func reserveSpace(for need: ByteCount) -> Bool {
        space.reserve(need, freeSpace: freeSpace, catalogBytes: catalogBytes)
    }

    /// The bytes of the files that all processes have entered in the catalog since limits were set; `nil` without a quota, or if the
    /// catalog cannot be read.
    private var catalogBytes: Int64? {
        guard space.limits?.quota != nil else { return nil }
        return try? catalog.read { try StorageLimitsRecord.fetchEnteredBytes($0) }
    }

    /// Makes space available within the limits for bytes that are about to be stored, and reserves it.
    ///
    /// - Throws: ``StorageError/Code/full`` if the limits leave no space for them.
    package func makeSpace(for need: ByteCount) throws {
        guard isWritable else { throw Catalog.isReadOnly }
        let isAvailable: Bool = try space.evictions.withLock { _ in
            // Another transfer may have made space available while this one waited for the lock.
            guard !reserveSpace(for: need) else { return true }
            // The space is reserved first, so that transfers that reserve without the lock cannot use the space that
            // becomes available.
            space.reserve(need)
            var hasSpace = false
            defer { if !hasSpace { space.release(need, stored: .zero) } }
            hasSpace = try applyLockedStoragePolicy(need: space.reservedBytes, now: Date()).shortfall == .zero
            return hasSpace
        }
        guard !isAvailable else { return }
        throw Self.limitsError(try storageLimits(), in: directory)
    }

    /// Verifies that the limits leave space for bytes that are about to be stored, at most after the deletion of other assets,
    /// without deleting any.
    ///
    /// - Throws: ``StorageError/Code/full`` if they do not.
    package func checkSpace(for need: ByteCount) throws {
        let limits = try storageLimits()
        guard limits != StorageLimits() else { return }
        let plan = try evictionPlan(limits: limits, need: need + space.reservedBytes)
        guard plan.shortfall > .zero else { return }
        throw Self.limitsError(limits, in: directory)
    }

    /// Verifies that the limits leave space for a download of an estimated size, at most after the deletion of other assets,
    /// without deleting any.
    ///
    /// - Throws: ``StorageError/Code/full`` if they do not.
    package func checkSpace(forEstimate need: ByteCount) throws {
        let limits = try storageLimits()
        guard limits != StorageLimits() else { return }
        let plan = try evictionPlan(limits: limits, need: need + space.reservedBytes)
        guard plan.shortfall > .zero else { return }
        throw Self.limitsError(limits, in: directory, estimate: need)
    }

    private static func limitsError(
        _ limits: StorageLimits,
        in directory: URL,
        estimate: ByteCount? = nil
    ) -> StorageError {
        let quota = limits.quota.map { "at most \($0) may be used in \(directory.path)" }
        let floor = limits.minimumFreeSpace > .zero ? "\(limits.minimumFreeSpace) must stay free on its disk" : nil
        let rules = [quota, floor].compactMap { $0 }.joined(separator: ", and ")
        let raising = limits.quota == nil ? nil : "raise the quota (millstream library limits --quota SIZE)"
        let lowering =
            floor == nil ? nil : "lower the minimum of free space (millstream library limits --min-free-space SIZE)"
        let advice = [raising, lowering, "delete assets"].compactMap { $0 }.joined(separator: ", or ")
        return StorageError(
            .full,
            estimate.map { size in
                "the limits of the library leave no space for the download, which needs about \(size): \(rules), and the "
                    + "deletion of other assets would not suffice, so none is deleted for it"
            }
                ?? "the limits of the library leave no space for the download: \(rules), and no other asset can be deleted",
            hint: "\(advice), then run the same command again"
        )
    }

    /// Ends the reservation of bytes, of which some were stored.
    package func releaseSpace(_ bytes: ByteCount, stored: ByteCount) { space.release(bytes, stored: stored) }

    private func hasExpiredAssets(_ now: Date) throws -> Bool {
        try catalog.read { try StoragePolicyRecord.hasExpired($0, now) }
    }
}

/// The observers of the deletions of a library.
final class EvictionObservers: Sendable {
    /// The maximum number of deletions that wait for a reader of a stream.
    private static let capacity = 4_096

    private struct State {
        var lastID = 0
        var observers: [Int: @Sendable (EvictionPlan.Entry) -> Void] = [:]
        var streams: [Int: AsyncStream<EvictionPlan.Entry>.Continuation] = [:]
    }

    private let state = Mutex(State())

    func observe(_ body: @escaping @Sendable (EvictionPlan.Entry) -> Void) -> EvictionObservation {
        let id = state.withLock { state in
            state.lastID += 1
            state.observers[state.lastID] = body
            return state.lastID
        }
        return EvictionObservation { [weak self] in self?.remove(id) }
    }

    func stream() -> AsyncStream<EvictionPlan.Entry> {
        let (stream, continuation) = AsyncStream<EvictionPlan.Entry>
            .makeStream(bufferingPolicy: .bufferingNewest(Self.capacity))
        let id = state.withLock { state in
            state.lastID += 1
            state.streams[state.lastID] = continuation
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    func send(_ entry: EvictionPlan.Entry) {
        let (observers, streams) = state.withLock { (Array($0.observers.values), Array($0.streams.values)) }
        for observer in observers { observer(entry) }
        for stream in streams { stream.yield(entry) }
    }

    private func remove(_ id: Int) {
        state.withLock { state in
            state.observers[id] = nil
            state.streams[id] = nil
        }
    }

    deinit {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.finish() }
    }
}

/// An observation of the deletions of a library, which ends when it is deallocated.
package final class EvictionObservation: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
