import Foundation

extension CookieJar {
    /// The maximum size of a cookie file in bytes, about twice as large as the largest file that a jar writes (18 MB).
    private static let maximumFileSize = 32 << 20

    /// Adds the cookies of a file in the Netscape format, as written by curl and yt-dlp.
    ///
    /// They replace existing cookies with the same identity. If the file does not exist, no cookies are added. Invalid
    /// lines and expired cookies are skipped. This method blocks; call it on a thread that may block.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which can be a pipe.
    ///   - now: The current time.
    /// - Throws: ``TransportError/Code/fileFailed`` if the file cannot be read or is not a cookie file, which saving
    ///   the cookies would overwrite.
    public func load(from path: String, now: UnixSeconds) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw CookieFile.failure("read", path, errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let bytes: Data
        do {
            bytes = try handle.read(upToCount: Self.maximumFileSize + 1) ?? Data()
        } catch {
            throw CookieFile.failure("read", path, errno)
        }
        guard bytes.count <= Self.maximumFileSize else {
            throw TransportError(.fileFailed, "\(path) is too large for a cookie file; choose another file")
        }
        let file = NetscapeCookieFile(bytes)
        guard !file.isOtherFormat else {
            throw TransportError(
                .fileFailed,
                "\(path) is not a cookie file in the Netscape format; choose another file"
            )
        }
        add(file, now: now)
    }

    /// Writes all cookies to a file that curl and yt-dlp can read.
    ///
    /// The file is replaced atomically, and only its owner can read it. If the path is a symbolic link, its target is
    /// replaced. If it is not a regular file, for example `/dev/stdout`, the cookies are written to it. This method
    /// blocks; call it on a thread that may block.
    ///
    /// - Parameters:
    ///   - path: The path of the file; its directory must exist.
    ///   - now: The current time; expired cookies are not written.
    /// - Throws: ``TransportError/Code/fileFailed``; an existing file is not changed then.
    public func save(to path: String, now: UnixSeconds) throws {
        let text = Data(netscapeText(now: now).utf8)
        let target = CookieFile.resolved(path)
        var status = stat()
        if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            try CookieFile.write(text, to: target, flags: O_WRONLY, named: path)
            return
        }
        // The random name cannot be guessed, so that another user cannot create a link with it; O_EXCL refuses existing
        // files.
        let partial = target + "." + String(UInt64.random(in: .min ... .max), radix: 36) + ".part"
        do {
            try CookieFile.write(
                text,
                to: partial,
                flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                named: path
            )
            guard rename(partial, target) == 0 else { throw CookieFile.failure("written", path, errno) }
        } catch {
            unlink(partial)
            throw error
        }
    }
}

/// The system calls for cookie files.
private enum CookieFile {
    static func failure(_ what: String, _ path: String, _ code: CInt) -> TransportError {
        let reason = String(cString: strerror(code))
        return TransportError(
            .fileFailed,
            "the cookie file \(path) cannot be \(what) (\(reason))",
            cause: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        )
    }

    /// Returns a path with all symbolic links resolved; the path itself if the file does not exist.
    static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Writes a file that errors call by another name, since a user does not know that of a partial file.
    static func write(_ bytes: Data, to path: String, flags: CInt, named name: String) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", name, errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: bytes)
            // A pipe cannot be synchronized.
            guard flags & O_CREAT == 0 || fsync(descriptor) == 0 else { throw failure("written", name, errno) }
            try handle.close()
        } catch let error as TransportError {
            throw error
        } catch {
            throw failure("written", name, errno)
        }
    }
}
