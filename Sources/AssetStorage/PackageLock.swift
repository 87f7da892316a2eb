package import Foundation

/// A lock that reserves a package for one writer, across processes, until it is deallocated or the process ends.
package final class PackageLock: Sendable {
    private let descriptor: CInt

    /// The name of the lock file in the package.
    static let fileName = ".lock"

    /// Creates a lock on the package in a directory.
    ///
    /// - Throws: ``StorageError/Code/busy`` if another writer holds the lock, ``StorageError/Code/notFound`` if there
    ///   is no such directory.
    package init(_ package: URL) throws(StorageError) {
        let path = package.appendingPathComponent(Self.fileName).path
        // The property is set last: if the initializer threw after that, `deinit` would close the descriptor a second
        // time.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw StorageError(.notFound, "there is no package \(package.path)") }
            throw StorageError(FileFailure(errno), writing: package.path)
        }
        // The system releases the lock when the process ends, even after a crash.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw StorageError(
                .busy,
                "the asset \(package.lastPathComponent) is being downloaded, verified, or deleted by another task"
            )
        }
        // The previous holder may have deleted the package; the lock then belongs to a deleted file.
        var (own, current) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(path, &current) == 0, own.st_ino == current.st_ino else {
            close(descriptor)
            throw StorageError(.notFound, "the package \(package.path) was deleted")
        }
        self.descriptor = descriptor
    }

    deinit {
        // A process that is started at this moment has a copy of the descriptor until it executes its program; only an
        // explicit unlock releases the lock in spite of it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

extension PackageLock {
    /// Returns a Boolean value that indicates whether a writer holds the lock of a package, without creating the lock
    /// file.
    package static func isHeld(_ package: URL) -> Bool {
        let descriptor = open(package.appendingPathComponent(fileName).path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return true }
        flock(descriptor, LOCK_UN)
        return false
    }
}
