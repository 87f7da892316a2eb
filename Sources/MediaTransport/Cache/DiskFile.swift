import Foundation
import MediaTiming
import NIOCore
import NIOPosix

/// An open file, closed with the last reference to it.
///
/// All calls block: make them on a thread that may.
final class DiskFile: Sendable {
    /// Writes bytes at an offset, as `pwrite` does; a test puts a full disk in its place.
    typealias Write = @Sendable (CInt, UnsafeRawBufferPointer, Int64) -> Int

    static let systemWrite: Write = { pwrite($0, $1.baseAddress, $1.count, off_t($2)) }

    private let descriptor: CInt
    private let pool: NIOThreadPool
    private let write: Write

    /// Opens a file, never through a symbolic link.
    ///
    /// - Throws: ``OpenFailure``, also for what is no regular file.
    init(_ path: String, flags: CInt, pool: NIOThreadPool, write: @escaping Write = systemWrite) throws(OpenFailure) {
        // O_NONBLOCK: somebody may have put a pipe there, and opening one waits.
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        self.pool = pool
        self.write = write
        guard descriptor >= 0 else { throw OpenFailure(isGone: errno == ENOENT || errno == ELOOP) }
        guard let status, status.st_mode & S_IFMT == S_IFREG else { throw OpenFailure(isGone: true) }
    }

    /// Why a file could not be opened.
    struct OpenFailure: Error {
        /// Whether there is no such file, rather than no way to it now.
        let isGone: Bool
    }

    deinit {
        let descriptor = descriptor
        guard descriptor >= 0 else { return }
        // Closing frees the blocks of a file that was removed meanwhile, which takes time.
        pool.submit { _ in close(descriptor) }
    }

    private var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// How many bytes the file has; `nil` where that cannot be told.
    var size: Int64? { status.map { Int64($0.st_size) } }

    /// When it was last used, in nanoseconds since 1970.
    var lastUse: Int64? {
        status.map { status in
            #if canImport(Darwin)
            let moment = status.st_mtimespec
            #else
            let moment = status.st_mtim
            #endif
            let (nanoseconds, isTooLarge) = Int64(moment.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
            return isTooLarge ? 0 : nanoseconds &+ Int64(moment.tv_nsec)
        }
    }

    /// Notes when it was last used.
    func noteUse(at nanoseconds: Int64) {
        let moment = timespec(
            tv_sec: time_t(nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
        _ = [moment, moment].withUnsafeBufferPointer { futimens(descriptor, $0.baseAddress) }
    }

    /// Reads exactly this many bytes; `nil` where there are fewer.
    func read(at offset: Int64, count: Int) -> ByteBuffer? {
        var buffer = ByteBuffer()
        while buffer.readableBytes < count {
            let rest = count - buffer.readableBytes
            let position = off_t(offset) + off_t(buffer.readableBytes)
            let readCount = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: rest) { space in
                max(0, pread(descriptor, space.baseAddress, rest, position))
            }
            guard readCount > 0 else { return nil }
        }
        return buffer
    }

    /// Writes all bytes; `false` where the disk has no room for them or fails.
    func write(_ bytes: ByteBuffer, at offset: Int64) -> Bool {
        bytes.withUnsafeReadableBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = write(descriptor, rest, offset +| Int64(written))
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }

    /// Ends the file at this many bytes.
    func truncate(to size: Int64) -> Bool { ftruncate(descriptor, off_t(size)) == 0 }
}
