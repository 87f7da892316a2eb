import Foundation

extension CookieJar {
    /// A jar writes 18 MB at most; what is larger than this, in bytes, is no cookie file.
    private static let longestFile = 32 << 20

    /// Adds the cookies of a file, as curl and yt-dlp write it.
    ///
    /// They replace those that are there already. Where there is no file, there are no cookies. Lines that cannot be read
    /// are left out. This blocks: call it on a thread that may.
    ///
    /// - Parameters:
    ///   - path: Where the file is; a pipe will do.
    ///   - now: The time; cookies that are over are left out.
    /// - Throws: ``TransportError/Code/fileFailed`` where the file cannot be read, or is one of another kind: saving would
    ///   destroy it.
    public func load(from path: String, now: UnixSeconds) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw CookieFile.failure("read", path, errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let bytes: Data
        do {
            bytes = try handle.read(upToCount: Self.longestFile + 1) ?? Data()
        } catch {
            throw CookieFile.failure("read", path, errno)
        }
        guard bytes.count <= Self.longestFile else {
            throw TransportError(.fileFailed, "\(path) is too large for a cookie file; name another one")
        }
        let file = NetscapeCookieFile(bytes)
        guard !file.isForeign else {
            throw TransportError(.fileFailed, "\(path) is not a cookie file in the Netscape format; name another one")
        }
        add(file, now: now)
    }

    /// Writes all cookies to a file that curl and yt-dlp read.
    ///
    /// The file appears whole or not at all, and only its owner can read it. A symbolic link to a file stays one, and
    /// what is no file, as `/dev/stdout`, is written to. This blocks: call it on a thread that may.
    ///
    /// - Parameters:
    ///   - path: Where the file shall be; its folder has to be there.
    ///   - now: The time; cookies that are over are left out.
    /// - Throws: ``TransportError/Code/fileFailed``; a file that was there before stays as it was.
    public func save(to path: String, now: UnixSeconds) throws {
        let text = Data(netscapeText(now: now).utf8)
        let target = CookieFile.resolved(path)
        var status = stat()
        if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            try CookieFile.write(text, to: target, flags: O_WRONLY)
            return
        }
        // Nobody can have put a link under a name that nobody can guess, and O_EXCL refuses it all the same.
        let partial = target + "." + String(UInt64.random(in: .min ... .max), radix: 36) + ".part"
        do {
            try CookieFile.write(text, to: partial, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            guard rename(partial, target) == 0 else { throw CookieFile.failure("written", path, errno) }
        } catch {
            unlink(partial)
            throw error
        }
    }
}

/// The system calls behind a cookie file.
private enum CookieFile {
    static func failure(_ what: String, _ path: String, _ code: CInt) -> TransportError {
        let reason = String(cString: strerror(code))
        return TransportError(.fileFailed, "the cookie file \(path) cannot be \(what) (\(reason))")
    }

    /// Where a path leads behind all symbolic links; the path itself where there is nothing yet.
    static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    static func write(_ bytes: Data, to path: String, flags: CInt) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", path, errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: bytes)
            // A pipe cannot be synchronised, and need not be.
            guard flags & O_CREAT == 0 || fsync(descriptor) == 0 else { throw failure("written", path, errno) }
            try handle.close()
        } catch let error as TransportError {
            throw error
        } catch {
            throw failure("written", path, errno)
        }
    }
}
