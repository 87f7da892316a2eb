import MediaTiming
import Synchronization

/// The disk space of a library as far as this process knows it, by which downloads decide whether to make space available.
///
/// To measure a library takes as long as it has files, so the bytes that this process stores after a measurement are
/// counted instead, and those that other processes enter in the catalog.
final class LibrarySpace: Sendable {
    /// A decision about bytes that are about to be stored.
    enum Decision: Sendable, Hashable {
        /// The bytes are within the limits.
        case available
        /// The library was not measured yet, the catalog could not be read, or the library seems to exceed its quota.
        case measure
        /// The free space of the disk is less than the minimum.
        case evict
    }

    /// The known figures, and the decisions that follow from them.
    struct State: Sendable, Hashable {
        /// The stored limits; `nil` before they are read.
        var limits: StorageLimits?
        /// The space that the library occupied when it was last measured, with the bytes that were stored since; `nil` before the
        /// first measurement.
        private(set) var occupiedBytes: ByteCount?
        /// The bytes of files that are being received, as far as they are not stored yet.
        private(set) var reservedBytes = ByteCount.zero
        /// All bytes that this process has stored, which tells how many it stored during a measurement.
        private(set) var storedBytes = ByteCount.zero

        /// The bytes of all files that this process has entered in the catalog, or is about to enter.
        private(set) var enteredBytes: Int64 = 0
        /// The bytes that others had entered in the catalog when the library was last measured; `nil` if that is not known.
        ///
        /// It is negative if this process entered files before the library had limits.
        private var bytesOfOthers: Int64?

        /// Creates the state before the first measurement.
        init() {}

        /// Sets the result of a measurement.
        ///
        /// Bytes that were stored during the measurement are added to it, because it need not have found them.
        ///
        /// - Parameters:
        ///   - bytes: The measured space.
        ///   - earlierBytes: All bytes that this process had stored when the measurement began; `nil` if it stored none since.
        ///   - bytesOfOthers: The bytes in the catalog when the measurement began, without ``enteredBytes``; `nil` if they are not
        ///     known.
        mutating func setOccupiedBytes(
            _ bytes: ByteCount,
            storedBefore earlierBytes: ByteCount? = nil,
            bytesOfOthers: Int64? = nil
        ) {
            occupiedBytes = bytes + (earlierBytes.map { storedBytes - $0 } ?? .zero)
            self.bytesOfOthers = bytesOfOthers
        }

        /// Counts bytes of files that this process is about to enter in the catalog; negative for a failed transaction.
        mutating func enter(_ count: Int64) { enteredBytes +|= count }

        /// Returns the bytes that others have entered in the catalog since the library was last measured; `nil` if they are not known.
        private func growthByOthers(_ catalogBytes: Int64?) -> ByteCount? {
            guard let catalogBytes, let bytesOfOthers else { return nil }
            return ByteCount(max(0, catalogBytes -| enteredBytes -| bytesOfOthers))
        }

        /// Reserves bytes that will be stored.
        mutating func reserve(_ bytes: ByteCount) { reservedBytes = reservedBytes + bytes }

        /// Ends the reservation of bytes, of which some were stored.
        mutating func release(_ bytes: ByteCount, stored: ByteCount) {
            reservedBytes = reservedBytes - bytes
            storedBytes = storedBytes + stored
            occupiedBytes = occupiedBytes.map { $0 + stored }
        }

        /// Decides about bytes that are about to be stored.
        ///
        /// - Parameters:
        ///   - need: The number of bytes.
        ///   - freeSpace: The number of free bytes on the disk; `nil` if the system does not report it.
        ///   - catalogBytes: The bytes that all processes have entered in the catalog; `nil` if they are not known, so that a library
        ///     with a quota must be measured.
        /// - Returns: The decision.
        func decision(need: ByteCount, freeSpace: ByteCount?, catalogBytes: Int64? = nil) -> Decision {
            guard let limits, limits != StorageLimits() else { return .available }
            let need = need + reservedBytes
            if limits.minimumFreeSpace > .zero, let freeSpace, freeSpace < limits.minimumFreeSpace + need {
                return .evict
            }
            guard let quota = limits.quota else { return .available }
            // Without the growth, the quota could be exceeded by as much as other processes store.
            guard let occupiedBytes, let growth = growthByOthers(catalogBytes),
                occupiedBytes + growth + need <= quota
            else { return .measure }
            return .available
        }
    }

    private let state = Mutex(State())
    /// A lock that one eviction of this process holds at a time, so that two downloads do not delete twice as much.
    let evictions = Mutex(())

    var limits: StorageLimits? { state.withLock { $0.limits } }

    func setLimits(_ limits: StorageLimits) { state.withLock { $0.limits = limits } }

    var reservedBytes: ByteCount { state.withLock { $0.reservedBytes } }

    var storedBytes: ByteCount { state.withLock { $0.storedBytes } }

    var enteredBytes: Int64 { state.withLock { $0.enteredBytes } }

    func enter(_ count: Int64) { state.withLock { $0.enter(count) } }

    func setOccupiedBytes(_ bytes: ByteCount, storedBefore earlierBytes: ByteCount, bytesOfOthers: Int64?) {
        state.withLock { $0.setOccupiedBytes(bytes, storedBefore: earlierBytes, bytesOfOthers: bytesOfOthers) }
    }

    func release(_ bytes: ByteCount, stored: ByteCount) { state.withLock { $0.release(bytes, stored: stored) } }

    /// Reserves bytes if they are within the limits.
    func reserve(_ bytes: ByteCount, freeSpace: ByteCount?, catalogBytes: Int64?) -> Bool {
        state.withLock { state in
            let decision = state.decision(need: bytes, freeSpace: freeSpace, catalogBytes: catalogBytes)
            guard decision == .available else { return false }
            state.reserve(bytes)
            return true
        }
    }

    /// Reserves bytes for which space is being made available.
    func reserve(_ bytes: ByteCount) { state.withLock { $0.reserve(bytes) } }
}
