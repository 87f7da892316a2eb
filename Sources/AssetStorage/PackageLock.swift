public import Foundation

/// Holds a package for one writer, across processes, until it is given up or the process ends.
public final class PackageLock: Sendable {
    private let descriptor: Int32

    /// Takes the package of an asset.
    ///
    /// - Throws: ``StorageError/Code/busy`` where somebody else has it.
    public init(_ package: URL) throws {
        let path = package.appendingPathComponent(".lock").path
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StorageError(
                .disk,
                "the package \(package.path) cannot be written (\(String(cString: strerror(errno))))"
            )
        }
        // The system gives the lock up when the process ends, however it ends.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw StorageError(.busy, "another process is downloading this asset")
        }
    }

    deinit { close(descriptor) }
}
