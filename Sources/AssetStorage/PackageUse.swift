package import Foundation
import Synchronization

/// A mark on a package that excludes it from eviction, across processes, until it is deallocated or the process ends.
///
/// Any number of players can use a package at the same time. The mark is a shared lock on the directory of the package,
/// which requires no write access.
package final class PackageUse: Sendable {
    private let descriptor: CInt

    /// Creates a mark on the package in a directory; `nil` if there is no such directory or it is being evicted.
    package convenience init?(_ package: URL) { self.init(package, operation: LOCK_SH) }

    /// Creates a mark that excludes all others; `nil` if the package is in use.
    static func exclusive(_ package: URL) -> PackageUse? { PackageUse(package, operation: LOCK_EX) }

    private init?(_ package: URL, operation: CInt) {
        let descriptor = open(package.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, operation | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    /// Returns a Boolean value that indicates whether a package is being played or evicted by any process.
    ///
    /// For a moment, no player can mark the package; it repeats the attempt (``RepeatedPackageUse``).
    static func isMarked(_ package: URL) -> Bool { exclusive(package) == nil }

    deinit {
        // A process that is started at this moment has a copy of the descriptor until it executes its program; only an
        // explicit unlock releases the lock in spite of it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// The mark of a player on its package, which is set later if it cannot be set at first.
///
/// Another process that looks whether the package is in use excludes all marks for a moment.
final class RepeatedPackageUse: Sendable {
    private let package: URL
    private let use: Mutex<PackageUse?>

    /// Creates the mark on the package in a directory.
    ///
    /// - Parameters:
    ///   - package: The directory.
    ///   - isDeferred: A Boolean value that indicates whether the package is marked by ``repeatIfNeeded()`` only.
    init(_ package: URL, isDeferred: Bool = false) {
        self.package = package
        use = Mutex(isDeferred ? nil : PackageUse(package))
    }

    /// Marks the package unless it is marked already.
    func repeatIfNeeded() {
        use.withLock { use in
            if use == nil { use = PackageUse(package) }
        }
    }
}
