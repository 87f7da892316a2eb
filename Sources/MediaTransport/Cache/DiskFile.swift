import Foundation
import MediaTiming
import NIOCore
import NIOPosix

/// An open file, which is closed with the last reference to it.
///
/// All methods block and must be called on a thread that may block.
final class DiskFile: Sendable {
    /// Writes bytes at an offset as `pwrite` does; tests replace it to simulate a full disk.
    typealias Write = @Sendable (CInt, UnsafeRawBufferPointer, Int64) -> Int

    static let systemWrite: Write = { pwrite($0, $1.baseAddress, $1.count, off_t($2)) }

    private let descriptor: CInt
    private let pool: NIOThreadPool
    private let write: Write

    /// Creates an instance that opens a file; symbolic links are not followed.
    ///
    /// - Throws: ``OpenFailure``, also if the file is not a regular file.
    init(_ path: String, flags: CInt, pool: NIOThreadPool, write: @escaping Write = systemWrite) throws(OpenFailure) {
        // O_NONBLOCK, because opening a named pipe would block.
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        self.pool = pool
        self.write = write
        guard descriptor >= 0 else { throw OpenFailure(isMissing: errno == ENOENT || errno == ELOOP) }
        guard let status, status.st_mode & S_IFMT == S_IFREG else { throw OpenFailure(isMissing: true) }
    }

    /// The error of an attempt to open a file.
    struct OpenFailure: Error {
        /// A Boolean value that indicates whether the file does not exist, as opposed to being temporarily
        /// inaccessible.
        let isMissing: Bool
    }

    deinit {
        let descriptor = descriptor
        guard descriptor >= 0 else { return }
        // Closing frees the blocks of a file that was removed in the meantime, which takes time.
        pool.submit { _ in close(descriptor) }
    }

    private var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// The size of the file in bytes; `nil` if it cannot be determined.
    var size: Int64? { status.map { Int64($0.st_size) } }

    /// The time of the last use, in nanoseconds since 1970-01-01T00:00:00Z; stored as the modification time.
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

    /// Stores the time of the last use as the modification time of the file.
    func setLastUse(_ nanoseconds: Int64) {
        let moment = timespec(
            tv_sec: time_t(nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
        _ = [moment, moment].withUnsafeBufferPointer { futimens(descriptor, $0.baseAddress) }
    }

    /// Reads the given number of bytes; `nil` if the file has fewer.
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

    /// Writes all bytes.
    ///
    /// - Returns: A Boolean value that indicates whether the write succeeded; `false` if the disk is full or fails.
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

    /// Truncates the file to the given size, and returns a Boolean value that indicates success.
    func truncate(to size: Int64) -> Bool { ftruncate(descriptor, off_t(size)) == 0 }
}
