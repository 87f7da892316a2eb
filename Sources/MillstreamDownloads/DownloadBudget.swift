import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// Counts what a download stores, and ends it before an origin fills the disk.
final class DownloadBudget: Sendable {
    /// The bit rate that is assumed where a playlist does not say it: twice that of the richest streams in use.
    private static let assumedRate = BitRate(bitsPerSecond: 200_000_000)
    /// The factor by which media may exceed what its bit rate and duration promise.
    private static let slack = 4.0
    /// The size that a segment, an initialization section or a subtitle file may always have.
    static let leastFileSize = ByteCount(64 << 20)
    /// The size that an asset may always have.
    private static let leastAssetSize = ByteCount(1 << 30)
    /// The number of bytes of a key (RFC 8216bis §4.4.4.4).
    static let keySize: Int64 = 16
    /// The number of bytes after which the disk's free space is looked at again.
    private static let spaceCheckInterval: Int64 = 16 << 20

    private struct State {
        var stored: Int64
        var untilCheck: Int64 = 0
    }

    private let limits: DownloadLimits
    private let library: AssetLibrary
    private let rates: [String: BitRate]
    private let assetSize: Int64
    private let state: Mutex<State>

    init(_ asset: StoredAsset, in library: AssetLibrary, _ limits: DownloadLimits) {
        self.limits = limits
        self.library = library
        let rates = Dictionary(
            uniqueKeysWithValues: asset.renditions.map { ($0.folder, $0.bandwidth ?? Self.assumedRate) }
        )
        self.rates = rates
        let expected = asset.renditions.reduce(ByteCount.zero) { sum, rendition in
            sum + Self.expectedSize(rendition.duration, rates[rendition.folder] ?? Self.assumedRate)
        }
        assetSize = min(limits.assetSize, max(Self.leastAssetSize, expected)).bytes
        state = Mutex(State(stored: asset.bytes.bytes))
    }

    /// Returns the upper bound on the size of media, slack included.
    static func expectedSize(_ duration: MediaTime, _ rate: BitRate) -> ByteCount {
        // Both numbers are from a playlist.
        ByteCount(Int64(saturating: max(0, duration.seconds) * Double(rate.bitsPerSecond) / 8 * slack))
    }

    /// Returns the upper bound on the size of a file.
    func limit(for resource: StoredResource) -> ByteCount {
        if resource.kind == .key { return ByteCount(Self.keySize) }
        if let range = resource.byteRange { return min(ByteCount(range.length), limits.fileSize) }
        let expected =
            resource.kind == .segment
            ? Self.expectedSize(resource.timeRange.duration, rates[resource.folder] ?? Self.assumedRate) : .zero
        return min(limits.fileSize, max(Self.leastFileSize, expected))
    }

    /// Checks a file before its first byte is written.
    ///
    /// - Parameters:
    ///   - resource: The file.
    ///   - announced: The size that the server announced, if it did.
    ///   - address: Where it was found.
    /// - Throws: What ``check(_:of:at:)`` and ``spend(_:)`` throw.
    func begin(_ resource: StoredResource, announced: Int64?, at address: ResourceAddress) throws {
        guard let announced else { return try checkSpace(for: 0) }
        try check(announced, of: resource, at: address)
        try checkAsset(announced)
        try checkSpace(for: announced)
    }

    /// Checks the size of a file.
    ///
    /// - Throws: `TransportError`: the rest of the download may still succeed.
    func check(_ count: Int64, of resource: StoredResource, at address: ResourceAddress) throws {
        let limit = limit(for: resource)
        guard count > limit.bytes else { return }
        if resource.kind == .key {
            throw TransportError(.wrongContent, "a key has 16 bytes, and more came", address: address)
        }
        if let range = resource.byteRange, limit.bytes == range.length {
            throw TransportError(
                .wrongContent,
                "more than the \(range.length) bytes that were asked for came",
                address: address
            )
        }
        throw TransportError(.tooLarge, "the file is larger than \(limit), which is what it may have", address: address)
    }

    /// Counts bytes that are about to be written.
    ///
    /// - Throws: ``DownloadError`` or `StorageError`, which end the download.
    func spend(_ count: Int64) throws {
        try checkAsset(count)
        let checksSpace = state.withLock { state in
            state.stored +|= count
            state.untilCheck -|= count
            guard state.untilCheck <= 0 else { return false }
            state.untilCheck = Self.spaceCheckInterval
            return true
        }
        if checksSpace { try checkSpace(for: count) }
    }

    /// Takes back what was counted for a file that was given up.
    func refund(_ count: Int64) { state.withLock { $0.stored = max(0, $0.stored -| count) } }

    private func checkAsset(_ count: Int64) throws {
        guard state.withLock({ $0.stored }) +| count > assetSize else { return }
        throw DownloadError(
            .tooLarge,
            "the download is larger than \(ByteCount(assetSize)), which is what it may have",
            hint: "--max-size sets another limit"
        )
    }

    private func checkSpace(for count: Int64) throws {
        guard let free = library.freeSpace?.bytes, free < limits.freeSpace.bytes +| count else { return }
        throw StorageError(
            .full,
            "the disk is nearly full: \(ByteCount(free)) are free in \(library.directory.path), of which "
                + "\(limits.freeSpace) are not used"
        )
    }
}
