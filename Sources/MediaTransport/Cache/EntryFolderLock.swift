import Foundation

/// The lock by which the processes that use a cache directory know of each other.
///
/// Every process holds a shared lock while it uses the directory. A process that finds no other one holds the lock
/// exclusively while it removes what a crash left behind; with others, their incomplete files must stay.
///
/// The lock is advisory (`flock`). The kernel releases it when the process ends.
final class EntryFolderLock: Sendable {
    /// The name of the file of the lock, which stays in the directory.
    static let fileName = "millstream-cache.lock"

    private let descriptor: Int32

    /// Creates the lock, and waits while another process holds it exclusively; `nil` if the directory is read-only.
    ///
    /// - Parameters:
    ///   - path: The path of the directory.
    ///   - whileExclusive: Called if no other process uses the directory.
    init?(_ path: String, whileExclusive: () -> Void) {
        descriptor = open("\(path)/\(Self.fileName)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { whileExclusive() }
        while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
