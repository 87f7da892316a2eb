import Foundation
import MediaTiming

#if canImport(Glibc)
import Glibc
#endif

/// The operations by which a package changes on the disk.
///
/// Tests replace them to record what was done and to let each operation fail. All of them block.
package protocol FileOperations: Sendable {
    /// Creates a folder in a folder that exists; one that is there already is kept.
    func makeFolder(_ path: String) throws(FileFailure)
    /// Creates an empty file, or empties the one that is there, for its owner only.
    ///
    /// - Returns: The descriptor to write with.
    func createFile(_ path: String) throws(FileFailure) -> CInt
    /// Appends all bytes to an open file.
    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) throws(FileFailure)
    /// Waits until the content of an open file is on the disk.
    func synchronizeFile(_ descriptor: CInt) throws(FileFailure)
    /// Closes an open file.
    func closeFile(_ descriptor: CInt)
    /// Gives a file another name, in place of any file of that name.
    func rename(_ path: String, to newPath: String) throws(FileFailure)
    /// Removes a file; one that is not there is no failure.
    func removeFile(_ path: String) throws(FileFailure)
    /// Removes an empty folder; one that is not there is no failure.
    func removeFolder(_ path: String) throws(FileFailure)
    /// Waits until the names in a folder are on the disk.
    func synchronizeFolder(_ path: String) throws(FileFailure)
    /// Returns the number of bytes that may still be stored beside a path; `nil` if the system does not say.
    func freeSpace(at path: String) -> Int64?
    /// Waits a moment before a lock that another task has is tried again.
    func waitForLock()
    /// Called after each transaction of the catalog, which is on the disk by then.
    func catalogDidCommit()
}

/// The reason that the system gave for an operation that failed.
package struct FileFailure: Error, Sendable, Hashable {
    /// The error number (`errno`).
    package let number: CInt

    /// Creates a failure from an error number.
    package init(_ number: CInt) { self.number = number }

    /// A Boolean value that indicates whether the disk or the user's quota is full.
    var isFull: Bool { number == ENOSPC || number == EDQUOT }

    /// The system's description of the failure.
    var reason: String { String(cString: strerror(number)) }
}

/// The operations of this machine's file systems.
package struct SystemFileOperations: FileOperations {
    /// Creates the operations.
    package init() {}

    package func makeFolder(_ path: String) throws(FileFailure) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw FileFailure(errno)
    }

    package func createFile(_ path: String) throws(FileFailure) -> CInt {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        return descriptor
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) throws(FileFailure) {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Darwin)
            let written = Darwin.write(descriptor, rest.baseAddress, rest.count)
            #else
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            #endif
            guard written > 0 else {
                if written < 0, errno == EINTR { continue }
                throw FileFailure(written < 0 ? errno : ENOSPC)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    package func synchronizeFile(_ descriptor: CInt) throws(FileFailure) {
        #if canImport(Darwin)
        // fsync leaves the bytes in the drive's cache there (fsync(2)).
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        let result = fsync(descriptor)
        #else
        let result = fdatasync(descriptor)
        #endif
        guard result == 0 else { throw FileFailure(errno) }
    }

    package func closeFile(_ descriptor: CInt) { close(descriptor) }

    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        #if canImport(Darwin)
        let result = Darwin.rename(path, newPath)
        #else
        let result = Glibc.rename(path, newPath)
        #endif
        guard result == 0 else { throw FileFailure(errno) }
    }

    package func removeFile(_ path: String) throws(FileFailure) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw FileFailure(errno)
    }

    package func removeFolder(_ path: String) throws(FileFailure) {
        guard rmdir(path) != 0, errno != ENOENT else { return }
        throw FileFailure(errno)
    }

    package func synchronizeFolder(_ path: String) throws(FileFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        defer { close(descriptor) }
        // Some file systems cannot synchronize folders and write them in order anyway.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw FileFailure(errno) }
    }

    package func freeSpace(at path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int64(clamping: status.f_bavail) *| Int64(clamping: status.f_frsize)
    }

    /// The time between two attempts, in microseconds: a check of another process may be over soon.
    private static let lockDelay: UInt32 = 20_000

    package func waitForLock() { usleep(Self.lockDelay) }

    package func catalogDidCommit() {}
}

extension FileOperations {
    /// Removes a folder with all that is in it, `last` after everything else; what vanishes meanwhile is no failure.
    func removeTree(_ path: String, last: String? = nil) throws(FileFailure) {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0 != last }
        for name in names + (last.map { [$0] } ?? []) {
            let child = "\(path)/\(name)"
            if PackageFile.isFolder(child) { try removeTree(child) } else { try removeFile(child) }
        }
        try removeFolder(path)
    }
}
