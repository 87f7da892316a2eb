package import Foundation
public import MediaTiming

/// The disk space of a directory and its content.
public struct DiskUsage: Sendable, Hashable {
    /// The number of bytes in allocated blocks, as `du` counts them: each file once, directories included.
    public let occupiedBytes: ByteCount
    /// The number of bytes that the deletion of the directory frees: all but files that have a name elsewhere.
    public let freeableBytes: ByteCount

    /// Measures a directory; a missing directory occupies no space.
    ///
    /// Symbolic links are not followed.
    package init(of directory: URL) {
        var files: [FileIdentity: (bytes: Int64, links: UInt64, names: UInt64)] = [:]
        var pending = [directory.path]
        while let path = pending.popLast() {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            let identity = FileIdentity(
                device: UInt64(truncatingIfNeeded: status.st_dev),
                number: UInt64(truncatingIfNeeded: status.st_ino)
            )
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
    }

    /// The unit of `st_blocks` in bytes, on every platform (stat(2)).
    private static let blockSize: Int64 = 512

    private struct FileIdentity: Hashable {
        let device: UInt64
        let number: UInt64
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
