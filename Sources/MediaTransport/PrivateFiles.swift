import Foundation

/// Files and folders that only their owner can read.
///
/// Everything that is stored may contain signed addresses, keys, or cookies. Files are created with their final mode; the mode
/// of a file is never widened for a moment and narrowed afterwards. All calls block.
package enum PrivateFiles {
    /// The mode of a file: only the owner reads and writes it.
    private static let fileMode: mode_t = 0o600
    /// The mode of a folder: only the owner lists, enters, and changes it.
    private static let folderMode: mode_t = 0o700

    /// Creates a folder, and the missing folders above it, with the mode 0700.
    ///
    /// A folder that exists keeps its mode; see ``restrictFolder(_:)``.
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
        // Another process may have created it meanwhile; a symbolic link to a folder is a folder.
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw failure(code == EEXIST ? ENOTDIR : code)
        }
    }

    /// Creates a file and opens it for writing.
    ///
    /// A file that an interrupted run left under this name is removed first. A symbolic link is never followed.
    ///
    /// - Returns: The descriptor, which the caller closes.
    /// - Throws: `POSIXError`.
    package static func create(_ path: String) throws -> CInt {
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw failure(errno) }
        return descriptor
    }

    /// Creates an empty file where there is none, without opening the one that is there.
    ///
    /// A database must not be opened beside its library: closing the descriptor would give up the locks of the process.
    ///
    /// - Throws: `POSIXError`.
    package static func createIfMissing(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) != 0 else { return }
        let partial = partialPath(path)
        close(try create(partial))
        defer { unlink(partial) }
        guard link(partial, path) != 0, errno != EEXIST else { return }
        // A file system without hard links.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fileMode)
        guard descriptor >= 0 || errno == EEXIST else { throw failure(errno) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Replaces a file as a whole: readers see the former content or the new one.
    ///
    /// - Throws: `POSIXError`; the former content stays.
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

    /// Opens a file that the user named for a report, and empties it.
    ///
    /// A new file has the mode 0600, and so has a regular file that was there, before anything is written to it. Links,
    /// pipes, and devices that the user names are written to as they are.
    ///
    /// - Returns: The descriptor, which the caller closes.
    /// - Throws: `POSIXError`.
    package static func openReport(_ path: String) throws -> CInt {
        var descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fileMode)
        if descriptor >= 0 { return descriptor }
        guard errno == EEXIST else { throw failure(errno) }
        // With O_CREAT for a link whose target does not exist yet.
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw failure(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return descriptor }
        // A file of another user keeps its mode: that user decides who reads it.
        _ = fchmod(descriptor, fileMode)
        guard ftruncate(descriptor, 0) == 0 else {
            let code = errno
            close(descriptor)
            throw failure(code)
        }
        return descriptor
    }

    /// Takes the access of others from a folder.
    ///
    /// Folders of other users and folders that are shared by design, with the sticky bit, stay as they are.
    ///
    /// - Returns: A Boolean value that indicates whether others had access.
    @discardableResult
    package static func restrictFolder(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o077 != 0,
            status.st_mode & 0o1000 == 0, status.st_uid == geteuid()
        else { return false }
        return chmod(path, folderMode) == 0
    }

    /// Takes the access of others from a regular file of this user; links are not followed.
    ///
    /// The file is not opened: a database would lose its locks.
    package static func restrictFile(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0,
            status.st_uid == geteuid()
        else { return }
        _ = chmod(path, fileMode)
    }

    /// A Boolean value that indicates whether others have access to a folder.
    package static func isOpenToOthers(_ folder: String) -> Bool {
        var status = stat()
        return stat(folder, &status) == 0 && status.st_mode & 0o077 != 0
    }

    /// Takes the access of others from everything below a folder, and last from the folder itself.
    ///
    /// An interrupted call is found by the mode of the folder. Links are not followed.
    package static func restrictTree(_ folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { restrictTree(path) } else { restrictFile(path) }
        }
        restrictFolder(folder)
    }

    /// A name beside a file that cannot be guessed.
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
