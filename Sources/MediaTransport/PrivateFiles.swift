import Foundation

/// A namespace for operations on files and directories that only their owner can read.
///
/// All stored data may contain signed URLs, keys, or cookies. Files are created with their final mode, so that they are
/// never readable by others, even briefly. All calls block.
package enum PrivateFiles {
    /// The mode of a file: readable and writable by the owner only.
    private static let fileMode: mode_t = 0o600
    /// The mode of a directory: accessible by the owner only.
    private static let folderMode: mode_t = 0o700

    /// Creates a directory and its missing parent directories with the mode 0700.
    ///
    /// An existing directory keeps its mode; see ``restrictFolder(_:)``.
    ///
    /// - Throws: `POSIXError`.
    package static func createFolder(_ path: String) throws {
        guard mkdir(path, folderMode) != 0 else { return }
        var code = errno
        if code == ENOENT {
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw failure(code) }
            try createFolder(parent)
            guard mkdir(path, folderMode) != 0 else { return }
            code = errno
        }
        // Another process may have created the directory in the meantime; a symbolic link to a directory is accepted.
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw failure(code == EEXIST ? ENOTDIR : code)
        }
    }

    /// Creates a file and opens it for writing.
    ///
    /// An existing file, for example of an interrupted process, is removed first. Symbolic links are not followed.
    ///
    /// - Returns: The descriptor, which the caller must close.
    /// - Throws: `POSIXError`.
    package static func create(_ path: String) throws -> CInt {
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw failure(errno) }
        return descriptor
    }

    /// Creates an empty file if there is none, without opening an existing file.
    ///
    /// An SQLite database must not be opened by other code: closing the descriptor would release the locks of the
    /// process.
    ///
    /// - Throws: `POSIXError`.
    package static func createIfMissing(_ path: String) throws {
        try createIfMissing(path) { link($0, $1) }
    }

    /// Creates an empty file if there is none, with a replaceable function that creates a hard link, so that tests can
    /// simulate a file system that does not support them.
    static func createIfMissing(_ path: String, linking: (_ existing: String, _ new: String) -> CInt) throws {
        var status = stat()
        guard lstat(path, &status) != 0 else { return }
        let partial = partialPath(path)
        close(try create(partial))
        defer { unlink(partial) }
        guard linking(partial, path) != 0, errno != EEXIST else { return }
        // The file system does not support hard links.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fileMode)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw failure(errno)
        }
    }

    /// Replaces a file atomically, so that readers see either the old or the new content.
    ///
    /// - Throws: `POSIXError`; the file is not changed then.
    package static func write(_ bytes: [UInt8], to path: String) throws {
        let partial = partialPath(path)
        let descriptor = try create(partial)
        do {
            do {
                defer { close(descriptor) }
                try write(bytes, to: descriptor)
            }
            guard rename(partial, path) == 0 else { throw failure(errno) }
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// Opens and truncates a file at a path that the user chose for a report.
    ///
    /// A new file has the mode 0600, and an existing regular file of this user gets it before anything is written.
    /// Links are followed, and pipes and devices are written to as they are.
    ///
    /// - Returns: The descriptor, which the caller must close.
    /// - Throws: `POSIXError`.
    package static func openReport(_ path: String) throws -> CInt {
        var descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fileMode)
        if descriptor >= 0 { return descriptor }
        // The file exists, or this call fails as well. O_CREAT, for a link whose target does not exist yet.
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw failure(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return descriptor }
        // The file of another user keeps its mode, because that user decides who can read it.
        _ = fchmod(descriptor, fileMode)
        guard ftruncate(descriptor, 0) == 0 else {
            let code = errno
            close(descriptor)
            throw failure(code)
        }
        return descriptor
    }

    /// Removes the access of other users from a directory.
    ///
    /// Directories of other users, and shared directories with the sticky bit, are not changed.
    ///
    /// - Returns: A Boolean value that indicates whether the mode was changed.
    @discardableResult
    package static func restrictFolder(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o077 != 0,
            status.st_mode & 0o1000 == 0, status.st_uid == geteuid()
        else { return false }
        return chmod(path, folderMode) == 0
    }

    /// Removes the access of other users from a regular file of this user; links are not followed.
    ///
    /// The file is not opened, because closing an SQLite database file would release its locks.
    package static func restrictFile(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0,
            status.st_uid == geteuid()
        else { return }
        _ = chmod(path, fileMode)
    }

    /// Returns a Boolean value that indicates whether other users have access to a directory.
    package static func isOpenToOthers(_ folder: String) -> Bool {
        var status = stat()
        return stat(folder, &status) == 0 && status.st_mode & 0o077 != 0
    }

    /// Removes the access of other users from the content of a directory, and last from the directory itself.
    ///
    /// An interrupted call can therefore be detected by the mode of the directory. Links are not followed.
    package static func restrictTree(_ folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { restrictTree(path) } else { restrictFile(path) }
        }
        restrictFolder(folder)
    }

    /// Returns an unpredictable temporary path in the same directory.
    private static func partialPath(_ path: String) -> String {
        path + "." + String(UInt64.random(in: .min ... .max), radix: 36) + ".part"
    }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 else {
                    if errno == EINTR { continue }
                    throw failure(errno)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    private static func failure(_ code: CInt) -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
}
