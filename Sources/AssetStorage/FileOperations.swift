import Foundation
import MediaTiming
import MediaTransport

#if canImport(Glibc)
import Glibc
#endif

/// The file system operations that change a package.
///
/// Tests replace them to record operations and to let each of them fail. All operations block.
package protocol FileOperations: Sendable {
    /// Creates a directory in an existing directory; an existing directory is kept.
    func makeFolder(_ path: String) throws(FileFailure)
    /// Creates an empty file that only its owner can read, or truncates an existing file.
    ///
    /// - Returns: The descriptor to write with.
    func createFile(_ path: String) throws(FileFailure) -> CInt
    /// Opens an existing file for reading and writing at its beginning, and shortens it to a length.
    ///
    /// - Throws: `EIO` if the file is shorter.
    func openFile(_ path: String, truncatedTo length: Int64) throws(FileFailure) -> CInt
    /// Appends all bytes to an open file.
    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) throws(FileFailure)
    /// Waits until the content of an open file is on the disk.
    func synchronizeFile(_ descriptor: CInt) throws(FileFailure)
    /// Closes an open file.
    func closeFile(_ descriptor: CInt)
    /// Renames a file and replaces any file with the new name.
    func rename(_ path: String, to newPath: String) throws(FileFailure)
    /// Gives a file a further name, which must not exist.
    func link(_ path: String, to newPath: String) throws(FileFailure)
    /// Removes a file; a missing file is not an error.
    func removeFile(_ path: String) throws(FileFailure)
    /// Removes an empty directory; a missing directory is not an error.
    func removeFolder(_ path: String) throws(FileFailure)
    /// Waits until the entries of a directory are on the disk.
    func synchronizeFolder(_ path: String) throws(FileFailure)
    /// Returns the number of free bytes on the volume of a path; `nil` if the system does not report it.
    func freeSpace(at path: String) -> Int64?
    /// Waits for a short time before another attempt to acquire a lock.
    func waitForLock()
    /// An identifier of the run of the system, which changes when the machine restarts; `nil` if there is none.
    var bootIdentifier: String? { get }
    /// Receives a notification after each catalog transaction, when the transaction is on the disk.
    func catalogDidCommit()
}

/// The system error of a failed file operation.
package struct FileFailure: Error, Sendable, Hashable {
    /// The error number (`errno`).
    package let number: CInt

    /// Creates a failure from an error number.
    package init(_ number: CInt) { self.number = number }

    /// A Boolean value that indicates whether the disk or the quota of the user is full.
    var isFull: Bool { FileErrorText.isFull(errorNumber: number) }

    /// The system's description of the error.
    var reason: String { String(cString: strerror(number)) }
}

/// The file operations of the local system.
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

    package func openFile(_ path: String, truncatedTo length: Int64) throws(FileFailure) -> CInt {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int64(status.st_size) >= length,
            ftruncate(descriptor, off_t(length)) == 0
        else {
            close(descriptor)
            throw FileFailure(EIO)
        }
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
        // On Darwin, fsync leaves the bytes in the cache of the drive (fsync(2)).
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

    package func link(_ path: String, to newPath: String) throws(FileFailure) {
        #if canImport(Darwin)
        let result = Darwin.link(path, newPath)
        #else
        let result = Glibc.link(path, newPath)
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
        // Some file systems cannot synchronize directories, and write their entries in order without it.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw FileFailure(errno) }
    }

    package func freeSpace(at path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int64(clamping: status.f_bavail) *| Int64(clamping: status.f_frsize)
    }

    /// The time between two attempts to acquire a lock, in microseconds; another process may release it soon.
    private static let lockDelay: UInt32 = 20_000

    package func waitForLock() { usleep(Self.lockDelay) }

    package func catalogDidCommit() {}

    package var bootIdentifier: String? { Self.boot }

    private static let boot: String? = {
        #if os(Linux)
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines)
        #else
        var size = 64
        var text = [CChar](repeating: 0, count: size)
        guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #endif
    }()
}

extension FileOperations {
    /// Removes a directory and its content, the entry `last` after all others; entries that are already gone are not
    /// errors.
    ///
    /// A player may store a file while its directory is being removed; the removal is then repeated.
    func removeTree(_ path: String, last: String? = nil) throws(FileFailure) {
        for _ in 1..<removalAttempts {
            do {
                return try removeTreeOnce(path, last: last)
            } catch  where error.number != ENOTEMPTY && error.number != EEXIST {
                throw error
            } catch {}
        }
        try removeTreeOnce(path, last: last)
    }

    private var removalAttempts: Int { 4 }

    private func removeTreeOnce(_ path: String, last: String?) throws(FileFailure) {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0 != last }
        for name in names + (last.map { [$0] } ?? []) {
            let child = "\(path)/\(name)"
            if FileInspection.isFolder(child) { try removeTree(child) } else { try removeFile(child) }
        }
        try removeFolder(path)
    }
}
