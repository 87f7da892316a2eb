public import Foundation
public import MediaTiming

/// The rules by which a downloaded asset is evicted.
public struct StoragePolicy: Sendable, Hashable {
    /// The eviction priority of an asset.
    public enum Priority: String, Sendable, Hashable, CaseIterable {
        /// The asset is evicted before important assets.
        case standard = "default"
        /// The asset is evicted only after all assets with the default priority.
        case important
    }

    /// The eviction priority; the default is ``Priority/standard``.
    public var priority: Priority
    /// The time after which the next eviction deletes the asset; `nil` if it does not expire.
    ///
    /// Download sessions delete expired assets when they are created, and then every minute.
    public var expirationDate: Date?
    /// A Boolean value that indicates whether the asset is excluded from eviction, even after its expiration date.
    public var isPinned: Bool

    /// Creates a policy.
    public init(priority: Priority = .standard, expirationDate: Date? = nil, isPinned: Bool = false) {
        self.priority = priority
        self.expirationDate = expirationDate
        self.isPinned = isPinned
    }
}

/// The limits on the disk space of a library.
public struct StorageLimits: Sendable, Hashable {
    /// The maximum number of bytes that the library occupies on the disk; `nil` for no maximum.
    public var quota: ByteCount?
    /// The minimum number of bytes that remain free on the volume of the library.
    public var minimumFreeSpace: ByteCount

    /// Creates limits; none by default.
    public init(quota: ByteCount? = nil, minimumFreeSpace: ByteCount = .zero) {
        self.quota = quota
        self.minimumFreeSpace = minimumFreeSpace
    }
}
