import Foundation
import MediaTiming

/// Locks on bytes of a file, which conflict with the locks of other objects and other processes.
///
/// They are open file description locks (fcntl(2)): the system releases them when the process ends.
final class ByteLocks: Sendable {
    /// The effect of a lock on the locks of other objects.
    enum Mode {
        /// The byte cannot be locked by another object.
        case exclusive
        /// Other objects can have shared locks on the byte; the file need only be open for reading.
        case shared
    }

    private let descriptor: CInt

    /// Creates the locks of a file, which is opened; `nil` if that is not possible.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - flags: The flags of open(2) for the access, and for the creation of the file with the mode 0600.
    init?(_ path: String, flags: CInt) {
        let descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Locks bytes.
    ///
    /// - Returns: A Boolean value that indicates whether no lock of another object prevents it; `true` if the file system has
    ///   no locks.
    func acquire(_ mode: Mode, at position: Int64, count: Int64 = 1) -> Bool {
        let type =
            switch mode {
            case .exclusive: CInt(F_WRLCK)
            case .shared: CInt(F_RDLCK)
            }
        var lock = lock(type, at: position, count: count)
        return fcntl(descriptor, Self.setCommand, &lock) == 0 || (errno != EAGAIN && errno != EACCES)
    }

    /// Unlocks bytes.
    func release(at position: Int64, count: Int64 = 1) {
        var lock = lock(CInt(F_UNLCK), at: position, count: count)
        _ = fcntl(descriptor, Self.setCommand, &lock)
    }

    /// Returns the position of a lock of another object, without taking one.
    ///
    /// - Parameters:
    ///   - position: The first byte.
    ///   - count: The number of bytes; 0 for all that follow.
    /// - Returns: The first byte of such a lock; `nil` if there is none.
    func positionOfOther(at position: Int64, count: Int64 = 1) -> Int64? {
        var lock = lock(CInt(F_WRLCK), at: position, count: count)
        guard fcntl(descriptor, Self.getCommand, &lock) == 0, lock.l_type != Int16(truncatingIfNeeded: F_UNLCK) else {
            return nil
        }
        return Int64(lock.l_start)
    }

    #if canImport(Darwin)
    private static let setCommand = F_OFD_SETLK
    private static let getCommand = F_OFD_GETLK
    #else
    // The module map of the C library does not have them (linux/fcntl.h).
    private static let setCommand: CInt = 37
    private static let getCommand: CInt = 36
    #endif

    private func lock(_ type: CInt, at position: Int64, count: Int64) -> flock {
        var lock = flock()
        lock.l_type = Int16(truncatingIfNeeded: type)
        lock.l_whence = Int16(truncatingIfNeeded: SEEK_SET)
        lock.l_start = off_t(position)
        lock.l_len = off_t(count)
        return lock
    }
}
