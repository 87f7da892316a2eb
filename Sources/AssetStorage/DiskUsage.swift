package import Foundation
public import MediaTiming

/// The disk space of a directory and its content.
public struct DiskUsage: Sendable, Hashable {
    /// The number of bytes in allocated blocks, as `du` counts them: each file once, directories included.
    public let occupiedBytes: ByteCount
    /// The number of bytes that the deletion of the directory frees: all but files that have a name elsewhere.
    public let freeableBytes: ByteCount
    /// The files that have a name elsewhere, which the deletion of the directory alone does not free.
    let sharedFiles: [FileIdentity: SharedFile]

    /// A file that has names in the directory and elsewhere.
    struct SharedFile: Sendable, Hashable {
        /// The size in allocated blocks.
        let bytes: ByteCount
        /// The number of names in the directory.
        let names: UInt64
        /// The number of all names.
        let links: UInt64
    }

    /// Creates the measurement of a directory; a missing directory occupies no space.
    ///
    /// Symbolic links are not followed.
    package init(of directory: URL) { self.init(of: [directory]) }

    /// Creates the measurement of several directories together.
    init(of directories: [URL]) {
        var files: [FileIdentity: (bytes: Int64, links: UInt64, names: UInt64)] = [:]
        var pending = directories.map(\.path)
        while let path = pending.popLast() {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            let identity = FileIdentity(status)
            // The name of a directory in its parent and its own entries are no further names of its content.
            let links = isDirectory ? 1 : UInt64(truncatingIfNeeded: status.st_nlink)
            let names = files[identity]?.names ?? 0
            let bytes = Int64(clamping: status.st_blocks) *| Self.blockSize
            files[identity] = (bytes, links, names &+ 1)
            guard isDirectory else { continue }
            let children = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            pending += children.map { "\(path)/\($0)" }
        }
        occupiedBytes = ByteCount(files.values.reduce(0) { $0 +| $1.bytes })
        freeableBytes = ByteCount(files.values.reduce(0) { $1.names >= $1.links ? $0 +| $1.bytes : $0 })
        sharedFiles = files.filter { $0.value.names < $0.value.links }
            .mapValues { SharedFile(bytes: ByteCount($0.bytes), names: $0.names, links: $0.links) }
    }

    /// The unit of `st_blocks` in bytes, on every platform (stat(2)).
    private static let blockSize: Int64 = 512

}

/// The identity of a file, which is the same for all its names.
package struct FileIdentity: Sendable, Hashable {
    /// The number of the device.
    let device: UInt64
    /// The number of the file on the device.
    let number: UInt64

    init(device: UInt64, number: UInt64) {
        self.device = device
        self.number = number
    }

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

extension DiskUsage {
    /// Creates the usage of a directory whose only files are the given shared ones.
    ///
    /// - Parameters:
    ///   - freeableBytes: The number of bytes that the deletion of the directory frees.
    ///   - shared: The number, the size, the number of names in the directory, and that of all names of each shared file.
    package init(freeableBytes: ByteCount, shared: [(number: UInt64, bytes: ByteCount, names: UInt64, links: UInt64)]) {
        self.freeableBytes = freeableBytes
        occupiedBytes = shared.reduce(freeableBytes) { $0 + $1.bytes }
        sharedFiles = Dictionary(
            shared.map { file in
                (
                    FileIdentity(device: 0, number: file.number),
                    SharedFile(bytes: file.bytes, names: file.names, links: file.links)
                )
            },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

extension AssetLibrary {
    /// The disk space of the library, with its catalog.
    public var diskUsage: DiskUsage { DiskUsage(of: directory) }

    /// Returns the disk space of the package of an asset.
    ///
    /// - Throws: ``StorageError/Code/notFound``.
    public func diskUsage(_ id: String) throws -> DiskUsage {
        try catalog.read { _ = try Self.record(id, $0) }
        return DiskUsage(of: packageDirectory(id))
    }
}
