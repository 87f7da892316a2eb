import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// A budget that counts the bytes of a download and ends it before an origin fills the disk.
final class DownloadBudget: Sendable {
    /// The bit rate that is assumed if a playlist does not specify one: twice the highest bit rate in common use.
    private static let assumedRate = BitRate(bitsPerSecond: 200_000_000)
    /// The factor by which the size of media may exceed the product of its bit rate and duration.
    private static let sizeTolerance = 4.0
    /// The size that a segment, an initialization section, or a subtitle file may always have.
    static let guaranteedFileSize = ByteCount(64 << 20)
    /// The size that an asset may always have.
    private static let guaranteedAssetSize = ByteCount(1 << 30)
    /// The number of bytes for which space is made available in advance, if the size of a file is not known.
    private static let reservedSize: Int64 = 1 << 20
    /// The size of a block of common file systems, of which a file occupies whole ones.
    private static let blockSize: Int64 = 4 << 10
    /// The number of bytes after which the free space of the disk is checked again.
    private static let spaceCheckInterval: Int64 = 16 << 20

    private struct State {
        var stored: Int64
        var untilCheck: Int64 = 0
    }

    private let limits: DownloadLimits
    private let library: AssetLibrary
    private let rates: [String: BitRate]
    private let assetSize: Int64
    /// A Boolean value that indicates whether the asset is a media file, whose size does not follow from a playlist.
    private let isMediaFile: Bool
    private let isRecording: Bool
    private let state: Mutex<State>

    /// Creates the budget of a download.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - library: The library with the asset.
    ///   - limits: The limits.
    ///   - isRecording: A Boolean value that indicates whether the asset is a recording, whose duration is not known in advance.
    ///   - playlistSize: The number of bytes of the playlists of a recording so far, which grow without bound like its media.
    init(
        _ asset: StoredAsset,
        in library: AssetLibrary,
        _ limits: DownloadLimits,
        isRecording: Bool = false,
        playlistSize: Int64 = 0
    ) {
        self.limits = limits
        self.library = library
        let rates = Dictionary(
            uniqueKeysWithValues: asset.renditions.map { ($0.folder, $0.bandwidth ?? Self.assumedRate) }
        )
        self.rates = rates
        let expected = asset.renditions.reduce(ByteCount.zero) { sum, rendition in
            sum + Self.expectedSize(rendition.duration, rates[rendition.folder] ?? Self.assumedRate)
        }
        isMediaFile = asset.isMediaFile
        self.isRecording = isRecording
        assetSize =
            isRecording || isMediaFile
            ? limits.assetSize.bytes : min(limits.assetSize, max(Self.guaranteedAssetSize, expected)).bytes
        state = Mutex(State(stored: asset.bytes.bytes +| playlistSize))
    }

    /// Returns the maximum size of media with the given duration and bit rate, including the tolerance factor.
    static func expectedSize(_ duration: MediaTime, _ rate: BitRate) -> ByteCount {
        // Both numbers come from a playlist, so their product may be too large for an integer.
        ByteCount(Int64(saturating: max(0, duration.seconds) * Double(rate.bitsPerSecond) / 8 * sizeTolerance))
    }

    /// Returns the maximum size of a file.
    func limit(for resource: StoredResource) -> ByteCount {
        if let size = resource.kind.keySize { return ByteCount(size) }
        if isMediaFile { return limits.fileSize }
        if let range = resource.byteRange { return min(ByteCount(range.length), limits.fileSize) }
        let expected =
            resource.kind == .segment
            ? Self.expectedSize(resource.timeRange.duration, rates[resource.folder] ?? Self.assumedRate) : .zero
        return min(limits.fileSize, max(Self.guaranteedFileSize, expected))
    }

    /// Checks a file before its first byte is written.
    ///
    /// - Parameters:
    ///   - resource: The file.
    ///   - announced: The size that the server announced; `nil` if it did not.
    ///   - address: The URL of the file after all redirects.
    /// - Throws: The errors of ``check(_:of:at:)`` and ``addBytes(_:)``.
    func checkBeforeWriting(_ resource: StoredResource, announced: Int64?, at address: ResourceAddress) throws {
        guard let announced else { return try checkSpace(for: 0) }
        try checkSize(announced, of: resource, at: address)
        try checkSpace(for: announced)
    }

    /// Checks the announced size of a file against the limits of the file and of the asset, but not against the free space.
    ///
    /// - Throws: The errors of ``check(_:of:at:)`` and ``addBytes(_:)``.
    func checkSize(_ announced: Int64, of resource: StoredResource, at address: ResourceAddress) throws {
        try check(announced, of: resource, at: address)
        try checkAssetSize(adding: announced)
    }

    /// Checks the size of the asset with a number of additional bytes, without counting these.
    ///
    /// - Throws: ``DownloadError``, which ends the download.
    func checkAssetSize(adding count: Int64) throws {
        guard !exceedsAssetSize(count) else { throw tooLarge }
    }

    /// The space within the limits of the library that is reserved for a file that is received.
    struct Reservation: Sendable {
        /// The number of bytes that are reserved and not received; `nil` if the library has no limits.
        fileprivate var remaining: Int64?
    }

    /// Reserves space for a file before its first byte is written, within the limits that are stored in the library, and deletes
    /// other assets where these limits require that.
    ///
    /// - Parameter announced: The size that the server announced, without the bytes that are stored; `nil` if it did not.
    /// - Returns: The reservation, which ``endReservation(_:)`` ends.
    /// - Throws: `StorageError`, which ends the download.
    func reserveSpace(for announced: Int64?) async throws -> Reservation {
        guard try library.hasStorageLimits() else { return Reservation(remaining: nil) }
        let size = (announced ?? Self.reservedSize) +| Self.blockSize
        try await reserve(size)
        return Reservation(remaining: size)
    }

    /// Counts bytes that were received, and reserves more space if the file is larger than announced.
    func useSpace(_ count: Int64, of reservation: inout Reservation) async throws {
        guard var remaining = reservation.remaining else { return }
        if count > remaining {
            let more = max(Self.reservedSize, count -| remaining)
            try await reserve(more)
            remaining +|= more
            reservation.remaining = remaining
        }
        library.releaseSpace(ByteCount(count), stored: ByteCount(count))
        remaining -|= count
        reservation.remaining = remaining
    }

    /// Releases the space that was reserved and not used.
    func endReservation(_ reservation: Reservation) {
        if let remaining = reservation.remaining { library.releaseSpace(ByteCount(remaining), stored: .zero) }
    }

    private func reserve(_ count: Int64) async throws {
        // The catalog has what other processes have stored.
        try await BlockingOperation.run { [library] in
            guard !library.reserveSpace(for: ByteCount(count)) else { return }
            try library.makeSpace(for: ByteCount(count))
        }
    }

    /// Checks the size of a file.
    ///
    /// - Throws: `TransportError`, after which the rest of the download continues.
    func check(_ count: Int64, of resource: StoredResource, at address: ResourceAddress) throws {
        let limit = limit(for: resource)
        guard count > limit.bytes else { return }
        if let size = resource.kind.keySize {
            throw TransportError(.wrongContent, "the key is longer than \(size) bytes", address: address)
        }
        if let range = resource.byteRange, limit.bytes == range.length {
            throw TransportError(
                .wrongContent,
                "the server sent more than the requested \(range.length) bytes",
                address: address
            )
        }
        throw TransportError(.tooLarge, "the file exceeds its size limit of \(limit)", address: address)
    }

    /// Counts bytes that are about to be written.
    ///
    /// If an error is thrown, the bytes are not counted.
    ///
    /// - Throws: ``DownloadError`` or `StorageError`, which end the download.
    func addBytes(_ count: Int64) throws {
        let checksSpace: Bool? = state.withLock { state in
            // Transfers run concurrently, so the check and the addition are one step.
            guard state.stored +| count <= assetSize else { return nil }
            state.stored +|= count
            state.untilCheck -|= count
            guard state.untilCheck <= 0 else { return false }
            state.untilCheck = Self.spaceCheckInterval
            return true
        }
        guard let checksSpace else { throw tooLarge }
        guard checksSpace else { return }
        do {
            try checkSpace(for: count)
        } catch {
            subtractBytes(count)
            throw error
        }
    }

    /// Subtracts the bytes that were counted for a file that is abandoned.
    func subtractBytes(_ count: Int64) { state.withLock { $0.stored = max(0, $0.stored -| count) } }

    private func exceedsAssetSize(_ count: Int64) -> Bool {
        state.withLock { $0.stored } +| count > assetSize
    }

    private var tooLarge: DownloadError {
        DownloadError(
            .tooLarge,
            isRecording
                ? "the recording has reached its size limit of \(ByteCount(assetSize)); it is stored up to there"
                : "the download exceeds its size limit of \(ByteCount(assetSize))",
            hint: DownloadError.sizeLimitHint
        )
    }

    private func checkSpace(for count: Int64) throws {
        guard let free = library.freeSpace?.bytes, free < limits.freeSpace.bytes +| count else { return }
        throw StorageError(
            .full,
            "the disk is nearly full: \(ByteCount(free)) are free in \(library.directory.path), and "
                + (limits.freeSpace.bytes > 0
                    ? "\(limits.freeSpace) must stay free" : "the next file has \(ByteCount(count))")
        )
    }
}
